import { execFile } from "node:child_process";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { contractArtifactFile } from "../../sandbox/chain/contracts.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { cli } from "./program.ts";

/** Runs the command line as `sandbox` in a shell script, and returns its exit code and what it printed on standard error. */
async function runIn(
  cwd: string,
  script: string,
  env: NodeJS.ProcessEnv = {},
): Promise<{ code: unknown; stderr: string }> {
  const defined = `sandbox() { "$NODE" "$CLI" "$@"; }\n${script}`;
  const environment = { ...process.env, NODE: process.execPath, CLI: cli, ...env };
  return await new Promise((resolve) => {
    execFile("/bin/sh", ["-c", defined], { cwd, env: environment }, (error, _stdout, stderr) =>
      resolve({ code: error === null ? 0 : error.code, stderr }),
    );
  });
}

test("exec and check-client without a folder for temporary files say so, exit with 125 and make none", async () => {
  const folder = await temporaryFolder();
  const [missing, file] = [join(folder, "missing"), join(folder, "file")];
  await writeFile(file, "");
  for (const [command, TMPDIR, reason, otherwise] of [
    ["exec", missing, "there is no such file (ENOENT", ", or choose one with --data-dir."],
    ["exec", file, "a part of the path is a file (ENOTDIR", ", or choose one with --data-dir."],
    ["check-client", missing, "there is no such file (ENOENT", "."],
    // Root may write there, says the system.
    ...(process.platform === "linux"
      ? ([
          ["pool --detach", "/proc", "there is no such file (ENOENT", ", or choose a file with --log-file."],
        ] as const)
      : []),
  ] as const) {
    const words = command === "pool --detach" ? command : `${command} -- true`;
    const { code, stderr } = await runIn(folder, `sandbox ${words}`, { TMPDIR });
    expect(code).toBe(command === "pool --detach" ? 1 : 125);
    expect(stderr).toMatch(/^[^\n]+\n$/);
    expect(stderr).toContain(`The folder for temporary files ${TMPDIR} cannot be used: ${reason}`);
    expect(stderr).toContain(`Set TMPDIR to a folder that you may write to${otherwise}`);
  }
  expect(await readdir(folder)).toEqual(["file"]);
});

test("with too few open files, exec and status say so in a sentence, or work", async () => {
  const folder = await temporaryFolder();
  const seen = new Set<unknown>();
  for (let files = 24; files <= 40; files += 2) {
    const { code, stderr } = await runIn(folder, `ulimit -n ${files}; sandbox exec -- true`);
    seen.add(code);
    if (code === 0) continue;
    expect(code, stderr).toBe(125);
    expect(stderr).toMatch(/^[^\n]*too many open files \(EMFILE[^\n]*ulimit -n[^\n]*\n$/);
  }
  expect([...seen]).toEqual([125, 0]);
});

test("with too few open files, check-contract says so and judges no contract", async () => {
  const folder = await temporaryFolder();
  for (const files of [24, 26, 28, 32]) {
    const command = `sandbox check-contract --artifact ${contractArtifactFile("PurchaseRegistrar")} --only lifecycle`;
    const { code, stderr } = await runIn(folder, `ulimit -n ${files}; ${command}`);
    expect([0, 2], stderr).toContain(code);
    if (code === 2) expect(stderr).toMatch(/too many open files \(EMFILE[^\n]*ulimit -n[^\n]*\n$/);
  }
}, 240_000);

test("commands in a folder that was removed say so", async () => {
  const folder = await temporaryFolder();
  for (const [command, failed] of [
    ["status", 1],
    ["start", 1],
    ["doctor", 1],
    ["exec -- true", 125],
  ] as const) {
    await mkdir(join(folder, "gone"));
    const { code, stderr } = await runIn(join(folder, "gone"), `rmdir ../gone; sandbox ${command}`);
    expect([code, stderr]).toEqual([
      failed,
      "The current folder was removed. Change to another folder, and run the command again.\n",
    ]);
  }
});
