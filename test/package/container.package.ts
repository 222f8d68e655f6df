import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { validate } from "dockerfile-utils";
import { expect, inject, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { installer, run } from "./run.ts";

const examples = fileURLToPath(new URL("../../examples", import.meta.url));
const dockerfile = await readFile(join(examples, "docker", "Dockerfile"), "utf8");

/** Returns the arguments of all instructions of one kind in the Dockerfile, in order. */
function instructions(name: string): string[] {
  return [...dockerfile.matchAll(new RegExp(`^${name} (.*)$`, "gm"))].map(([, rest = ""]) => rest);
}

test("the Dockerfile is well-formed, and uses the tarball that npm pack writes", () => {
  expect(validate(dockerfile)).toEqual([]);
  expect(instructions("COPY")).toEqual([`${basename(inject("tarball"))} ./`]);
});

test("the Dockerfile's commands start a healthy sandbox that saves its chain when it is stopped", async () => {
  const cwd = await mkdtemp(join(tmpdir(), "routing-sandbox-container-"));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  const env = installer(inject("oldestNode"), cwd);
  await copyFile(inject("tarball"), join(cwd, basename(inject("tarball"))));
  const [install = "", folder = ""] = instructions("RUN");
  await run("sh", ["-c", install], { cwd, env });
  await run("sh", ["-c", folder.replace(/ && chown .*/, "")], { cwd, env });
  const [program = "", ...args]: string[] = JSON.parse(instructions("CMD").at(-1) ?? "");
  // Outside of a container the ports may be others'.
  const ports = ["api", "docs", "rpc", "control"].flatMap((name) => [`--${name}-port`, "0"]);
  const sandbox = spawn(program, [...args, ...ports], { cwd, env, stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(sandbox, "exit");
  const lines = createInterface(sandbox.stdout);
  const ready = new Promise<void>((resolve) => {
    lines.on("line", (line) => line.includes("Ctrl-C stops everything") && resolve());
  });
  await Promise.race([ready, exited.then(([code]) => Promise.reject(new Error(`It ended with ${code}.`)))]);
  const [health = ""] = /(?<=CMD )\[.*\]$/.exec(instructions("HEALTHCHECK")[0] ?? "") ?? [];
  const [check = "", option = "", script = ""]: string[] = JSON.parse(health);
  const { urls } = JSON.parse(await readFile(join(cwd, "data", "sandbox.json"), "utf8"));
  // Outside of a container the port of the control API is another one.
  const isHealthy = script.replace("http://127.0.0.1:4022", urls.control);
  expect(isHealthy).not.toBe(script);
  await run(check, [option, isHealthy], { cwd, env });
  sandbox.kill("SIGTERM");
  await exited;
  await expect(run(check, [option, isHealthy], { cwd, env })).rejects.toThrow();
  expect(sandbox.exitCode).toBe(0);
  expect(JSON.parse(await readFile(join(cwd, "data", "store", "chain.json"), "utf8"))).toHaveProperty(
    "block",
  );
});

test("the compose file and the workflow have the expected settings", async () => {
  const { services } = parse(await readFile(join(examples, "docker", "compose.yaml"), "utf8"));
  // The sandbox is reached by the containers of the file, never through a published port.
  expect(services.sandbox).not.toHaveProperty("ports");
  expect(services.sandbox.read_only).toBe(true);
  const [, ...command] = services.sandbox.command;
  const [, ...own] = JSON.parse(instructions("CMD").at(-1) ?? "");
  expect(command).toEqual([...own, "--listen", "0.0.0.0", "--allow-host", "sandbox"]);
  expect(services.tests.command.join(" ")).toContain("http://sandbox:4020/");
  const { jobs } = parse(await readFile(join(examples, "github-actions", "sandbox.yml"), "utf8"));
  const steps: { run?: string }[] = jobs.test.steps;
  expect(steps.flatMap((step) => step.run ?? [])).toEqual([
    "npm ci --ignore-scripts",
    "npx routing-sandbox doctor",
    "npm test",
    expect.stringContaining("GITHUB_STEP_SUMMARY"),
  ]);
  expect(jobs.test.steps.at(-1)).toMatchObject({ if: "failure()", with: { path: "traces/" } });
});
