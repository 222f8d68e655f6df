import { writeFile } from "node:fs/promises";
import type { Argument, Option } from "commander";
import { afterEach, beforeEach, expect, test } from "vitest";
import { commandsOf, createProgram } from "../../cli/program.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { tryCli } from "./run-cli.ts";

const before = process.cwd();

beforeEach(async () => process.chdir(await temporaryFolder()));
afterEach(() => {
  process.chdir(before);
  delete process.env["ROUTING_SANDBOX_CONFIRMATIONS"];
});

const [port, anyFrom1] = ["0 to 65535", `1 to ${Number.MAX_SAFE_INTEGER}`];

/** The range of each number, by its option, with its command where commands differ. */
const ranges = new Map([
  ["--confirmations", "1 to 1000"],
  ["--start-timeout", "1 to 600000"],
  ["--api-port", port],
  ["--docs-port", port],
  ["--control-port", port],
  ["--rpc-port", port],
  ["--port", port],
  ["--allow-chain-id", anyFrom1],
  ["--repeat", "1 to 1000"],
  ["--jobs", "1 to 64"],
  ["--size", "1 to 32"],
  ["--lease", "1 to 3600"],
  ["--wait", "0 to 300"],
  ["--steps", "1 to 100000"],
  ["--limit", "1 to 200"],
  ["--fail", `0 to ${Number.MAX_SAFE_INTEGER}`],
  ["--status", "300 to 599"],
  ["fault set --delay", "1 to 60000"],
  ["listen --delay", "0 to 60000"],
  ["--occurrence", anyFrom1],
  ["--depth", anyFrom1],
  ["--count", anyFrom1],
  ["blocks", "1 to 9999"],
]);

/** Whether an option or an argument is a whole number, by what it says of another text. */
function isNumber({ parseArg }: Option | Argument): boolean {
  try {
    parseArg?.("abc", undefined);
    return false;
  } catch (error) {
    return String(error).includes("a whole number from");
  }
}

const numbers = commandsOf(createProgram(process)).flatMap(({ path, command }) =>
  [...command.options, ...command.registeredArguments].filter(isNumber).map((taken) => {
    const name = "long" in taken ? (taken.long ?? "") : taken.name();
    return { path, name, taken, range: ranges.get(`${path} ${name}`) ?? ranges.get(name) };
  }),
);

test.each(numbers)("$name of $path is a number from $range", async ({ path, name, taken, range = "" }) => {
  const [least = Number.NaN, most = Number.NaN] = range.split(" to ").map(Number);
  for (const end of [least, most]) expect(taken.parseArg?.(`${end}`, undefined)).toBe(end);
  for (const wrong of [`${least - 1}`, `${most + 1}`, "-1", "1.5", "1e9", "", "abc", "9".repeat(400)]) {
    const words = name.startsWith("--") ? [`${name}=${wrong}`] : ["--", wrong];
    const { code, stderr } = await tryCli([...path.split(" "), ...words]);
    expect(stderr).toMatch(/^error: .* is invalid\. It must be (?:always, or )?a whole number from /);
    expect(stderr.split("\n")[0]).toMatch(new RegExp(`"?'?${wrong}'?"? is invalid\\. .* from ${range}\\.$`));
    expect(code).toBe(["exec", "check-client"].includes(path) ? 125 : 1);
  }
});

test("a wrong number of the environment or of a config file is refused with the same range", async () => {
  for (const wrong of ["0", "-1", "1.5", "1001", "1e9", "", "abc"]) {
    process.env["ROUTING_SANDBOX_CONFIRMATIONS"] = wrong;
    expect((await tryCli(["start"])).stderr).toBe(
      `ROUTING_SANDBOX_CONFIRMATIONS is "${wrong}". It must be a whole number from 1 to 1000.\n`,
    );
  }
  delete process.env["ROUTING_SANDBOX_CONFIRMATIONS"];
  for (const wrong of ["0", "-1", "1.5", "1001", "1000000000", '""', "null", "[0]"]) {
    await writeFile("routing-sandbox.config.json", `{ "confirmations": ${wrong} }`);
    expect((await tryCli(["start"])).stderr).toContain("It must be a whole number from 1 to 1000.\n");
  }
});

test.each(["-1", "1.5", "1e9", "", "abc", `${2n ** 256n}`])(
  "a gas budget of %j is refused",
  async (wrong) => {
    expect((await tryCli(["start", `--gas-budget=${wrong}`])).stderr).toContain(
      "It must be a whole number of wei from 0 to 2^256 - 1.",
    );
  },
);

test.each([
  ["status", "25d", 1],
  ["status", "0s", 1],
  ["stop", "999999999d", 0],
  ["check-client", "0s", 1],
  ["check-client", "25d", 1],
])(
  "%s refuses a timeout of %s, which is too short or which no timer can wait",
  async (command, timeout, least) => {
    expect((await tryCli([command, "--timeout", timeout])).stderr).toContain(
      `argument '${timeout}' is invalid. It must be a duration from ${least}s to 24d.`,
    );
  },
);
