import { execFileSync } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "../temporary-folder.ts";
import { tryCli } from "./run-cli.ts";

const project = process.cwd();
beforeEach(async () => process.chdir(await temporaryFolder()));
afterEach(() => process.chdir(project));

/** A device that never ends. */
const endless = "/dev/zero";
const node = ["--rpc-url", "http://127.0.0.1:9"];
const snapshot = `${endless} cannot be read: it has more than 128 MiB. Name a snapshot file.`;
const artifact = `The artifact ${endless} cannot be read: it has more than 16 MiB. Compile the contract and name its JSON file.`;
const ofNetwork =
  "cannot be read: it has more than 8 MiB. Name the file that routing-sandbox deploy has written.";
const signed = "cannot be read: it has more than 1 MiB. Name a file, or - for standard input.";

test.each<[what: string, command: string[], complaint: string]>([
  ["a snapshot file", ["start", "--from", endless], snapshot],
  ["a snapshot file to load", ["snapshot", "load", endless], snapshot],
  [
    "a scenario",
    ["scenario", "play", endless],
    `${endless} cannot be read: it has more than 1 MiB. Name a scenario file.`,
  ],
  ["the artifact of a registrar contract", ["start", "--registrar", endless], artifact],
  ["the artifact of a contract to check", ["check-contract", "--artifact", endless], artifact],
  [
    "the programs of a deployment",
    ["deploy", ...node, "--programs", endless],
    `--programs ${endless} cannot be read: it has more than 1 MiB. Name a JSON file of programs.`,
  ],
  ["a deployment", ["start", ...node, "--deployment", endless, "--keys", "keys.json"], ofNetwork],
  ["typed data", ["explain", "--typed-data", endless], `--typed-data ${endless} ${signed}`],
  ["a decision", ["explain", "--decision", endless], `--decision ${endless} ${signed}`],
])("%s that never ends is refused with the file, its limit and what to do", async (_, command, complaint) => {
  const { code, stderr } = await tryCli(command);
  expect(stderr).toContain(complaint);
  expect(stderr).toContain(endless);
  expect(code).toBe(1);
});

test.each<[what: string, file: string, command: string[], complaint: string]>([
  [
    "baseline of gas",
    "gas.json",
    ["check-contract", "--artifact", "A.json", "--gas-baseline", "gas.json"],
    "The baseline gas.json cannot be read: it has more than 1 MiB. Delete it, and check-contract writes it again.",
  ],
  [
    "config file",
    "routing-sandbox.config.yaml",
    ["start"],
    "routing-sandbox.config.yaml cannot be read: it has more than 1 MiB. Correct it, or delete it.",
  ],
])(
  "a %s of over 1 MiB is refused with the file, its limit and what to do",
  async (_, file, command, complaint) => {
    await writeFile(file, " ".repeat(2 ** 20 + 1));
    expect(await tryCli(command)).toMatchObject({ code: 1, stderr: expect.stringContaining(complaint) });
  },
);

test.each(["[],", "{},", "1,", "[", "- 1\n"])(
  "a config file with very many of %j is refused before it is parsed",
  async (value) => {
    await writeFile("routing-sandbox.config.yaml", value.repeat(10_001));
    expect((await tryCli(["start"])).stderr).toContain(
      "routing-sandbox.config.yaml cannot be read: it has more than 10000 values. Correct it, or delete it.",
    );
  },
);

test.skipIf(process.platform === "win32").each([
  ["a snapshot file", ["start", "--from", "pipe"]],
  ["a snapshot file to load", ["snapshot", "load", "pipe"]],
  ["a scenario", ["scenario", "play", "pipe"]],
  ["the artifact of a registrar contract", ["start", "--registrar", "pipe"]],
  ["the artifact of a contract to check", ["check-contract", "--artifact", "pipe"]],
  ["a deployment", ["start", ...node, "--deployment", "pipe", "--keys", "keys.json"]],
  ["typed data", ["explain", "--typed-data", "pipe"]],
  ["the config file", ["doctor"]],
])("%s that is a named pipe is refused, since its reader may wait without end", async (what, command) => {
  const name = what === "the config file" ? "routing-sandbox.config.yaml" : "pipe";
  execFileSync("mkfifo", [name]);
  expect(await tryCli(command)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(
      "cannot be read: it is a named pipe, whose reader waits until a program writes to it. ",
    ),
  });
});

test.skipIf(process.platform === "win32").each([
  ["pipe", "mkfifo"],
  ["folder", "mkdir"],
])("open refuses a %s", async (name, make) => {
  execFileSync(make, [name]);
  expect(await tryCli(["open", name])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`${name} is not a file. Name a file that ends in .trace.html.`),
  });
});

test.each(["nowhere", "routing-sandbox.config.json"])(
  "a config file that is a link to %s is not ignored",
  async (target) => {
    await symlink(target, "routing-sandbox.config.json");
    expect(await tryCli(["doctor"])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^routing-sandbox\.config\.json cannot be read: /),
    });
  },
);

test("a byte order mark before a config file is not part of it", async () => {
  await writeFile("routing-sandbox.config.json", '\uFEFF{"sede":"checkout"}');
  expect((await tryCli(["start"])).stderr).toContain("routing-sandbox.config.json has no option sede.");
});

test.each(["nowhere", "lock.json"])("stop names a lock that is a link to %s", async (target) => {
  await mkdir(".sandbox");
  await symlink(target, join(".sandbox", "lock.json"));
  const { code, stderr } = await tryCli(["stop"]);
  expect(stderr).toContain("lock.json is not a file. ");
  expect(code).toBe(1);
});
