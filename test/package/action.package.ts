import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { processesWith } from "../../sandbox/lib/processes/processes.ts";
import { installer, run } from "./run.ts";

const step = z.object({
  name: z.string().optional(),
  if: z.string().optional(),
  uses: z.string().optional(),
  run: z.string().optional(),
  env: z.record(z.string(), z.string()).default({}),
  with: z.record(z.string(), z.string()).default({}),
});
const schema = z.object({
  inputs: z.record(z.string(), z.object({ default: z.string().optional() })),
  runs: z.object({ steps: z.array(step) }),
});
const action = schema.parse(
  parse(await readFile(fileURLToPath(new URL("../../action.yml", import.meta.url)), "utf8")),
);

/** A runner of GitHub, as far as this action needs one: an empty workspace, and the files that steps write to. */
let home: string;
let base: NodeJS.ProcessEnv;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "routing-sandbox-action-"));
  for (const name of ["workspace", "temp"]) await mkdir(join(home, name));
  await copyFile(inject("tarball"), join(home, "workspace", basename(inject("tarball"))));
  base = { ...installer(inject("oldestNode"), home), RUNNER_OF: home };
});
afterAll(async () => await rm(home, { recursive: true, force: true }));

/** Replaces the expressions of a value that a step gets. */
function evaluate(text: string, inputs: { [name: string]: string }): string {
  return text
    .replaceAll(/\$\{\{ inputs\.([\w-]+) \}\}/g, (_, name: string) => inputs[name] ?? "")
    .replaceAll(/\$\{\{ runner\.temp \}\}/g, join(home, "temp"));
}

/** Runs the steps of the action that are commands, in their order; returns those that ran, and what they printed. */
async function play(given: { run: string; options?: string; repeat?: string; "check-client"?: string }) {
  const defaults = Object.entries(action.inputs).map(([name, input]) => [name, input.default ?? ""]);
  const inputs = {
    ...Object.fromEntries(defaults),
    package: basename(inject("tarball")),
    repeat: "",
    ...given,
  };
  const files = { GITHUB_ENV: join(home, "env"), GITHUB_STEP_SUMMARY: join(home, "summary") };
  for (const file of Object.values(files)) await writeFile(file, "");
  const ran: string[] = [];
  let printed = "";
  let failed = false;
  for (const { name = "", if: condition = "", run: script, env } of action.runs.steps) {
    if (script === undefined || (condition === "failure()" ? !failed : failed && condition !== "always()"))
      continue;
    if (condition.startsWith("inputs.check-client") && inputs["check-client"] === "") continue;
    const [, comparison] = /^inputs\.repeat ([!=]=) ''$/.exec(condition) ?? [];
    if (comparison !== undefined && (comparison === "==") !== (inputs.repeat === "")) continue;
    ran.push(name);
    const written = (await readFile(files.GITHUB_ENV, "utf8")).split("\n").filter(Boolean);
    const set = written.map((line) => [line.split("=", 1)[0] ?? "", line.slice(line.indexOf("=") + 1)]);
    const own = Object.entries(env).map(([key, value]) => [key, evaluate(value, inputs)]);
    const all = { ...base, ...files, ...Object.fromEntries([...set, ...own]) };
    // As the runner starts bash.
    const options = ["--noprofile", "--norc", "-eo", "pipefail", "-c", script];
    await run("bash", options, { cwd: join(home, "workspace"), env: all }).then(
      (text) => {
        printed += text;
      },
      (error: Error) => {
        printed += error.message;
        failed = true;
      },
    );
  }
  return { ran, printed, failed, summary: await readFile(files.GITHUB_STEP_SUMMARY, "utf8") };
}

test("the steps of action.yml install the package, start a sandbox for a command and stop it", async () => {
  const command =
    'curl --silent --fail "$ROUTING_API_URL/v1/routing/capabilities" && test -f "$ROUTING_SANDBOX_FILE"';
  const played = await play({ run: command, options: "--mode deterministic --seed action" });
  expect(played, played.printed).toMatchObject({
    failed: false,
    ran: ["Install the sandbox", "Start the sandbox", "Run the tests", "Stop the sandbox"],
  });
  expect(played.printed).toContain('"registrar_offer"');
  expect(await processesWith("RUNNER_OF", home)).toEqual([]);
});

test("after a command that fails, they write a trace to the folder that is uploaded, name it in the summary, and stop the sandbox", async () => {
  const played = await play({ run: "exit 3" });
  expect(played.failed).toBe(true);
  expect(played.ran.slice(-3)).toEqual(["Run the tests", "Write a trace of the sandbox", "Stop the sandbox"]);
  expect(await readdir(join(home, "workspace", "traces"))).toContain("sandbox.trace.html");
  expect(played.summary).toBe("### Traces\n- traces/sandbox.trace.html\n");
  expect(action.runs.steps.find(({ uses }) => uses?.startsWith("actions/upload-artifact"))).toMatchObject({
    if: "failure()",
    with: { path: expect.stringContaining("inputs.traces") },
  });
  expect(await processesWith("RUNNER_OF", home)).toEqual([]);
});

test("with the input check-client, they check a client, and add what is not safe to the summary of the job", async () => {
  const client = `
    const { urls, accounts } = JSON.parse(require("fs").readFileSync(process.env.ROUTING_SANDBOX_FILE, "utf8"));
    const headers = { "content-type": "application/json", authorization: "Bearer " + accounts[0].key };
    fetch(urls.api + "/v1/routing/access", { method: "POST", headers, body: "{}" }).then((response) => response.json());`;
  await writeFile(join(home, "workspace", "client.cjs"), client);
  const played = await play({ run: "true", "check-client": "node client.cjs" });
  expect(played.failed, played.printed).toBe(false);
  expect(played.ran).toContain("Check the client");
  expect(played.summary).toContain("| write 1: issueAccess | answer-lost | stopped | it exited with 1");
  expect(await processesWith("RUNNER_OF", home)).toEqual([]);
});

test("with the input repeat, they run the command several times with a sandbox of its own, and fail if two runs differ", async () => {
  const file = join(home, "temp", "runs");
  const post = `curl --silent --fail -H 'Content-Type: application/json' "$ROUTING_CONTROL_URL/given"`;
  const played = await play({
    run: `echo run >> ${file}; ${post} -d "{\\"merchant\\":{\\"state\\":\\"pending\\",\\"name\\":\\"$(wc -l < ${file})\\"}}"`,
    repeat: "3",
  });
  expect(await readFile(file, "utf8")).toBe("run\nrun\n");
  expect(played.printed).toMatch(
    /Run 2 differs from run 1 first in request \d+, .*body\.name is "2" instead of "1"\./,
  );
  expect(played.failed).toBe(true);
  expect(played.ran).toEqual([
    "Install the sandbox",
    "Run the tests several times",
    "Write a trace of the sandbox",
    "Stop the sandbox",
  ]);
});
