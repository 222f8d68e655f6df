import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import type { Command } from "commander";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { flagOf, inFlags, noteSources } from "../../cli/describe-failure.ts";
import { createProgram } from "../../cli/program.ts";
import { createSandbox } from "../../sandbox/create-sandbox.ts";
import { faultFlags } from "../../sandbox/faults/fault-request.ts";
import { flaggedOptions, sandboxOptions } from "../../sandbox/options/options.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { runCli } from "./run-cli.ts";

// A command of another test in this process may have noted how its options were set.
beforeEach(() => noteSources(new Map(), new Map()));

/** The flags of a command and of the commands below it. */
function flagsOf(command: Command): string[] {
  return [...command.options.flatMap(({ long }) => long ?? []), ...command.commands.flatMap(flagsOf)];
}

/** The options of createSandbox by the names that messages have. */
const options = [
  ...Object.keys(sandboxOptions.shape),
  ...flaggedOptions.map(({ name }) => name),
  "contracts.registrar",
  ...Object.keys(sandboxOptions.shape.network.unwrap().shape).map((field) => `network.${field}`),
];
/** The options of joinSandbox, of `explore`, of `explain`, of faults, of checkClient and of a listener that createSandbox does not have. */
const otherOptions = [
  ...["apiPort", "scenario", "port", "call", "typed_data", "decision", "signature"],
  ...["subject_id", "program", "point", "count", "run", "only", "jobs", "given"],
];

/** The lines of the library's source that are no comments. */
const lines = execFileSync(
  "git",
  [
    "ls-files",
    "--",
    "protocol",
    "relayer",
    "server",
    "sandbox",
    "testkit",
    "check-client",
    "check-contract",
    "hardhat-plugin",
  ],
  { encoding: "utf8" },
)
  .split("\n")
  .filter((file) => file.endsWith(".ts"))
  .flatMap((file) => readFileSync(file, "utf8").split("\n"))
  .filter((line) => !/^\s*(?:\/?\*|\/\/)/.test(line));

test("a message of the library names flags only in a command to run", () => {
  const flags = new Set(flagsOf(createProgram(process)));
  const fields = [...flaggedOptions, ...faultFlags.match, ...faultFlags.details];
  const declared = fields.flatMap(({ flag, description }) => [flag, description]);
  const messages = lines.filter((line) => !declared.some((text) => line.includes(text)));
  const named = messages.flatMap((line) => {
    // The flags of a command belong to it.
    const own = line.replaceAll(/(?:routing-sandbox|npm start --)[^.`"]*/g, "");
    return [...own.matchAll(/(?<=[\s(`"'])--[a-z-]+/g)].filter(([flag]) => flags.has(flag)).map(() => line);
  });
  expect(named).toEqual([]);
});

test("each option that a message of the library names exists", () => {
  const named = lines.flatMap((line) =>
    [...line.matchAll(/\b[Tt]he option ([A-Za-z._]*[A-Za-z])/g)].map(([, name]) => name),
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((name = "") => ![...options, ...otherOptions].includes(name))).toEqual([]);
});

test("each flag that replaces an option exists, and every option of start has a flag", () => {
  const known = flagsOf(createProgram(process));
  const replaced = [...options, ...otherOptions].flatMap((name) => flagOf(name) ?? []);
  expect(replaced.filter((flag) => !known.includes(flag))).toEqual([]);
  // The others are about the process of the command, which the library does not start.
  const start = createProgram(process).commands.find((command) => command.name() === "start");
  expect(
    start?.options.map(({ long }) => long).filter((flag = "") => !replaced.includes(flag ?? "")),
  ).toEqual(["--log-level", "--log-format", "--watch", "--detach", "--log-file", "--detached", "--json"]);
});

test.each([
  ["Name it with the option store.", "Name it with --store."],
  ["The option ports.api must be a number.", "--api-port must be a number."],
  ["Start with the option fresh, or (the option dataDirectory).", "Start with --fresh, or (--data-dir)."],
  ["The option parts[0].name must be a string.", "The option parts[0].name must be a string."],
  [
    "it holds cart, which the option parts does not name.",
    "it holds cart, which the option parts does not name.",
  ],
  ['The option allowHosts[0] is "x:y".', '--allow-host is "x:y".'],
  ["The option parts[0].name is missing.", "The option parts[0].name is missing."],
  ["The option storefront is another word.", "The option storefront is another word."],
])("the command line shows %j as %j", (message, shown) => {
  expect(inFlags(message)).toBe(shown);
});

test("start and listen name the flag of a port that is in use", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void other.close());
  await new Promise((resolve) => other.once("listening", resolve));
  const address = other.address();
  const port = String(typeof address === "object" ? address?.port : "");
  const dataDirectory = await temporaryFolder();
  const zero = ["--docs-port", "0", "--control-port", "0", "--rpc-port", "0"];
  await expect(
    runCli("start", "--data-dir", dataDirectory, "--api-port", port, ...zero),
  ).rejects.toMatchObject({
    code: 1,
    stderr: `Port ${port} on 127.0.0.1 is in use. Choose another port with --api-port, or 0 for any free port.\n`,
  });
  await expect(runCli("listen", "--port", port)).rejects.toMatchObject({
    code: 1,
    stderr: `Port ${port} on 127.0.0.1 is in use. Choose another port with --port, or 0 for any free port.\n`,
  });
});

test("start names only the flags that differ from those of the sandbox in the data directory", async () => {
  const dataDirectory = await temporaryFolder();
  await (await createSandbox({ dataDirectory, mode: "deterministic" })).close();
  await expect(runCli("start", "--data-dir", dataDirectory, "--mode", "live")).rejects.toMatchObject({
    code: 1,
    stderr: `${dataDirectory} was made with mode deterministic, not with mode live. Leave out --mode to continue with it, delete it with --fresh, or choose another directory with --data-dir.\n`,
  });
});
