import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { startCommand } from "../../cli/commands/start.ts";
import { resolveOptions } from "../../sandbox/options/settings.ts";

/** The default of each option that docs/options.md lists, by the option's name. */
async function readDefaults(): Promise<Map<string, string>> {
  const page = await readFile("docs/options.md", "utf8");
  const list = page.split("<!-- generated:options -->\n")[1]?.split("\n<!-- /generated -->")[0] ?? "";
  const entries = list.matchAll(/^- `(\w+)`: .*?(?:; (?:by )?default (.*)\))?$/gm);
  return new Map([...entries].map(([, name = "", said = "none"]) => [name, said]));
}

test("docs/options.md has every option with its actual default", async () => {
  const listed = await readDefaults();
  const defaults = resolveOptions({});
  // `from` is read before the defaults are filled in.
  expect([...listed.keys()].toSorted()).toEqual([...Object.keys(defaults), "from"].toSorted());
  for (const [name, value] of Object.entries(defaults)) {
    const said = listed.get(name) ?? "";
    if (typeof value === "number") expect([name, said]).toEqual([name, value.toLocaleString("en-US")]);
    if (typeof value === "boolean") expect([name, said]).toEqual([name, String(value)]);
    if (value === undefined)
      expect([name, said]).toEqual([
        name,
        expect.stringMatching(/^(none|unlimited|the sandbox's own|the test receiver)/),
      ]);
  }
  expect(listed.get("seed")).toBe(`\`${defaults.seed}\``);
  expect(listed.get("mode")).toContain(`\`${defaults.mode}\`; `);
  expect(listed.get("programs")).toBe(defaults.programs.map(({ id }) => `\`${id}\``).join(", "));
  const limits = listed.get("connectionLimits")?.replaceAll(/[`_]/g, "");
  expect(limits).toBe(
    `{ ${Object.entries(defaults.connectionLimits)
      .map(([name, limit]) => `${name}: ${limit}`)
      .join(", ")} }`,
  );
});

test("docs/options.md has the defaults of the ports of start", async () => {
  const said = (await readDefaults()).get("ports");
  const ports = startCommand(process).options.filter(({ long }) => long?.endsWith("-port"));
  expect(ports).toHaveLength(4);
  for (const { long, defaultValue } of ports)
    expect(said).toContain(`${defaultValue} for \`${long?.slice(2, -"-port".length)}\``);
});

/** The classes of errors in the source, each with the comment before it and the class that it extends. */
function readErrorClasses(): { name: string; base: string; comment: string }[] {
  const folders = [
    "protocol",
    "relayer",
    "server",
    "sandbox",
    "testkit",
    "check-contract",
    "cli",
    "hardhat-plugin",
    "portal",
  ];
  const files = execFileSync("git", ["ls-files", "--", ...folders], { encoding: "utf8" }).split("\n");
  return files
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => {
      const text = readFileSync(file, "utf8");
      const classes = text.matchAll(/^(?:export )?(?:abstract )?class (\w+)[^{]*? extends (\w*Error)\b/gm);
      return [...classes].map(({ 1: name = "", 2: base = "", index }) => {
        const before = text.slice(0, index);
        return { name, base, comment: before.slice(before.lastIndexOf("/**")) };
      });
    });
}

test("every error is a CodedError whose codes docs/options.md lists, or its comment says why it is not", async () => {
  const classes = readErrorClasses();
  const bases = new Map(classes.map(({ name, base }) => [name, base]));
  const isCoded = (name: string | undefined): boolean =>
    name !== undefined && (name === "CodedError" || isCoded(bases.get(name)));
  const uncoded = classes.filter(({ name }) => name !== "CodedError" && !isCoded(name));
  expect(
    uncoded.filter(({ comment }) => !comment.includes("Not a CodedError")).map(({ name }) => name),
  ).toEqual([]);

  const page = await readFile("docs/options.md", "utf8");
  const listed = [...page.matchAll(/^- `(\w+Error)`/gm)].map(([, name]) => name);
  const coded = classes.filter(({ base }) => base === "CodedError").map(({ name }) => name);
  // SandboxError has a list of its own. The others reach no program: the API answers a Problem, SharedStore throws a SandboxError for a
  // ClusterMemberError, the command line prints a ControlRefusedError, the control API answers an UnhealthyError, and the pool
  // a PoolError.
  const others = [
    "SandboxError",
    "Problem",
    "ClusterMemberError",
    "ControlRefusedError",
    "UnhealthyError",
    "PoolError",
  ];
  expect(listed.toSorted()).toEqual(coded.filter((name) => !others.includes(name)).toSorted());
});
