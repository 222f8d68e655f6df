import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { freshSandbox } from "../../kit/fresh-sandbox.ts";

const modules = new URL("../../../node_modules", import.meta.url).pathname;

test("the guide's five-minute path works as it is written, any number of times in one sandbox", async () => {
  const sandbox = await freshSandbox();
  const { urls } = sandbox.description;
  const guide = await (await fetch(`${urls.docs}/portal/docs.md`)).text();
  await using folder = await temporaryFolder();
  await symlink(modules, join(folder.path, "node_modules"));
  await mkdir(join(folder.path, ".sandbox"));
  await writeFile(join(folder.path, ".sandbox/sandbox.json"), JSON.stringify(sandbox.description));
  const script: string[] = ["set -eu"];
  for (const { language, name, code } of codeBlocks(guide))
    if (language === "js" && name !== undefined) await writeFile(join(folder.path, name), code);
    else if (language === "sh") script.push(code);

  for (const run of [1, 2, 3]) {
    const { stdout } = await promisify(execFile)("bash", ["-c", script.join("\n")], { cwd: folder.path });
    const lines = stdout.trim().split("\n");
    expect(
      lines.filter((line) => !line.startsWith("0x")),
      `run ${run}`,
    ).toEqual([
      ...(run === 1 ? ["enrolled"] : []),
      "active",
      "paid",
      "collected",
      "delivered",
      String(run),
      expect.stringContaining("available_wei"),
      "refunded",
    ]);
  }
});

function codeBlocks(markdown: string) {
  return [...markdown.matchAll(/^```([a-z]+)(?: (\S+))?\n(.*?)^```$/gms)].map(
    ([, language, name, code = ""]) => ({
      language,
      name,
      code,
    }),
  );
}

async function temporaryFolder() {
  const path = await mkdtemp(join(tmpdir(), "routing-guide-"));
  return { path, [Symbol.asyncDispose]: async () => await rm(path, { recursive: true }) };
}
