import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Consumer, installInto } from "./consumer.ts";
import { run } from "./run.ts";

let project: Consumer;
/** The size of each package's files in MB before the first use, by its name. */
let installed: ReadonlyMap<string, number>;

beforeAll(async () => {
  project = await installInto();
  installed = await installedSizes();
});

afterAll(async () => {
  await project[Symbol.asyncDispose]();
});

/** Runs a program and returns the files below node_modules that it has loaded at the end. */
async function loadedBy(program: string): Promise<string[]> {
  // The oldest Node that runs the package has no registerHooks.
  const printed = await run(
    process.execPath,
    [
      ...["--input-type=module", "--eval"],
      `import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
    ${program}
    console.log(JSON.stringify(loaded));`,
    ],
    { cwd: project.folder, env: project.env },
  );
  const urls: string[] = JSON.parse(printed);
  return urls
    .filter((url) => url.includes("/node_modules/"))
    .map((url) => url.replace(/^.*\/node_modules\//, ""));
}

test("an import of the package loads a few files of its own and no other package", async () => {
  const loaded = await loadedBy(`await import("routing-sandbox");`);
  expect(loaded.filter((file) => !file.startsWith("routing-sandbox/"))).toEqual([]);
  expect(loaded.length).toBeGreaterThan(1);
  expect(loaded.length).toBeLessThan(30);
});

test("errors that the package throws are the classes that it exports, before and after its code is loaded", async () => {
  const printed = await project.run(
    "node",
    ...["--input-type=module", "--eval"],
    `import { createSandbox, GivenInvalidError, playScenario, readScenario, SandboxError, ScenarioDifferenceError } from "routing-sandbox";
    const thrown = async (work) => await work().then(() => "nothing", (error) => error);
    const option = await thrown(async () => await createSandbox({ ports: 1 }));
    const sandbox = await createSandbox({ seed: "errors" });
    const given = await thrown(async () => await sandbox.given.purchase({ state: "eaten" }));
    const file = await thrown(async () => await readScenario("none.yaml"));
    const scenario = await readScenario("node_modules/routing-sandbox/scenarios/refund.yaml");
    scenario.steps.find((step) => step.answer !== undefined).answer.status = 499;
    const played = await thrown(async () => await playScenario(scenario));
    await sandbox.close();
    console.log(option instanceof SandboxError, given instanceof GivenInvalidError, file instanceof SandboxError, played instanceof ScenarioDifferenceError);`,
  );
  expect(printed.trim()).toBe("true true true true");
});

test("with --enable-source-maps, a stack names lines of the sources in the repository", async () => {
  const stack = await project.run(
    "node",
    ...["--enable-source-maps", "--input-type=module", "--eval"],
    `import { createSandbox } from "routing-sandbox";
    await createSandbox({ seed: 1 }).catch((error) => console.log(error.stack));`,
  );
  const places = [
    ...stack.matchAll(/node_modules\/routing-sandbox\/((?:sandbox|testkit)\/[\w/.-]+\.ts):(\d+)/g),
  ];
  expect(places.length).toBeGreaterThan(2);
  const [[, thrower = "", line = ""] = []] = places;
  const source = await readFile(join(import.meta.dirname, "../..", thrower), "utf8");
  expect(source.split("\n")[Number(line) - 1]).toMatch(/new SandboxError|wrong/);
});

async function installedSizes(): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  const folder = join(project.folder, "node_modules");
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const [first = "", second = ""] = file.slice(folder.length + 1).split("/");
    const name = first.startsWith("@") ? `${first}/${second}` : first;
    sizes.set(name, (sizes.get(name) ?? 0) + (await lstat(file)).size / 1e6);
  }
  return sizes;
}

test("docs/performance.md gives the size of each installed package above 1 MB, and the sum", async () => {
  const page = await readFile(join(import.meta.dirname, "../../docs/performance.md"), "utf8");
  const [, section = ""] = page.split("## Size of an installation");
  const rows = [...section.matchAll(/`([^`]+)` ([\d.]+)/g)];
  const documented = new Map(rows.map(([, name = "", size]) => [name, Number(size)]));
  const large = [...installed].filter(([, size]) => size > 1).map(([name]) => name);
  expect([...documented.keys()].toSorted()).toEqual(large.toSorted());
  for (const [name, size] of documented) expect(installed.get(name), name).toBeCloseTo(size, 0);
  const sum = [...installed.values()].reduce((all, size) => all + size, 0);
  expect(sum).toBeLessThan(Number(/(\d+) MB of files/.exec(section)?.[1]) + 2);
  expect(sum).toBeLessThan(145);
});
