import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { createProgram } from "../../cli/program.ts";
import { createSandbox } from "../../sandbox/create-sandbox.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { runCli, tryCli } from "./run-cli.ts";

const before = process.cwd();
let folder: string;

beforeEach(async () => {
  folder = await temporaryFolder();
  process.chdir(folder);
});

afterEach(() => {
  process.chdir(before);
  for (const name of Object.keys(process.env))
    if (name.startsWith("ROUTING_SANDBOX_")) delete process.env[name];
});

/** The description of the sandbox that `exec` starts. */
async function described(...flags: string[]) {
  const file = join(folder, "described.json");
  const copy = `require("fs").copyFileSync(process.env.ROUTING_SANDBOX_FILE, ${JSON.stringify(file)})`;
  await runCli("exec", ...flags, "--", process.execPath, "-e", copy);
  return JSON.parse(await readFile(file, "utf8"));
}

test("a flag wins over the environment, the environment over the config file, and the file over the default", async () => {
  await writeFile(
    "routing-sandbox.config.json",
    '{ "seed": "file", "mode": "live", "program": ["prg_file"] }',
  );
  process.env["ROUTING_SANDBOX_SEED"] = "environment";
  process.env["ROUTING_SANDBOX_MODE"] = "deterministic";
  const sandbox = await described("--seed", "flag");
  expect(sandbox).toMatchObject({ seed: "flag", mode: "deterministic", accounts: [{ program: "prg_file" }] });
});

test("a config file has the names of flags or of createSandbox, also as YAML", async () => {
  await writeFile(
    "routing-sandbox.config.yaml",
    "mode: deterministic\nallow-host: sandbox\nports:\n  api: 0\nprograms:\n  - id: prg_books\n    name: Book store\n",
  );
  expect(await described()).toMatchObject({ mode: "deterministic", accounts: [{ program: "prg_books" }] });
});

test.each([
  [
    "ROUTING_SANDBOX_CONFIRMATION",
    "1",
    "There is no option ROUTING_SANDBOX_CONFIRMATION. Unset it, or use ROUTING_SANDBOX_CONFIRMATIONS.",
  ],
  [
    "ROUTING_SANDBOX_MODE",
    "alive",
    'ROUTING_SANDBOX_MODE is "alive". Allowed choices are live, deterministic.',
  ],
  [
    "ROUTING_SANDBOX_API_PORT",
    "x",
    'ROUTING_SANDBOX_API_PORT is "x". It must be a whole number from 0 to 65535.',
  ],
  ["ROUTING_SANDBOX_RECEIVER_URL", "nourl", "It is the value of ROUTING_SANDBOX_RECEIVER_URL."],
  ["ROUTING_SANDBOX_FROM", "/nope", "It is the value of ROUTING_SANDBOX_FROM."],
  [
    "ROUTING_SANDBOX_ACCOUNT",
    "acct_x=prg_nope",
    "not served. Use prg_demo or prg_other. It is the value of ROUTING_SANDBOX_ACCOUNT.",
  ],
  ["ROUTING_SANDBOX_PROGRAM", "demo", 'ROUTING_SANDBOX_PROGRAM has "demo", which is no program id.'],
  ["ROUTING_SANDBOX_AUTO_DELIVER", "yes", 'ROUTING_SANDBOX_AUTO_DELIVER is "yes". Use true or false.'],
])("%s=%s is refused", async (name, value, complaint) => {
  process.env[name] = value;
  const { code, stderr } = await tryCli(["start", "--data-dir", join(folder, "s")]);
  expect(stderr).toContain(complaint);
  expect(code).toBe(1);
});

test.each([
  ['{ "sede": "x" }', "routing-sandbox.config.json has no option sede. Leave it out, or use seed."],
  ['{ "sede": {} }', "has no option sede. Leave it out, or use seed."],
  ['{ "colour": 1 }', "has no option colour. Leave it out, or see the names in docs/cli.md."],
  [
    '{ "rateLimit": { "requests": 1 } }',
    "config.json has rateLimit, which only createSandbox() takes. Leave it out,",
  ],
  ['{ "constructor": 1 }', "has no option constructor. Leave it out, or see the names in docs/cli.md."],
  ['{ "__proto__": {} }', "has no option __proto__. Leave it out, or see the names in docs/cli.md."],
  [
    '{ "ports": { "web": 1 } }',
    "has no option ports.web. Leave it out, or use ports.api, ports.docs, ports.control or ports.rpc.",
  ],
  ['{ "ports": { "apl": 1 } }', "has no option ports.apl. Leave it out, or use ports.api."],
  ['{ "deliveryTimeoutMs": 5 }', "config.json has deliveryTimeoutMs, which only createSandbox() takes."],
  ['{ "network": { "keys": "a" } }', "which only createSandbox() takes. Leave it out, or use keys."],
  [
    '{ "ports": 5 }',
    "ports in routing-sandbox.config.json is 5. Use an object with api, docs, control or rpc.",
  ],
  [
    '{ "confirmations": {} }',
    "confirmations in routing-sandbox.config.json is {}. It must be a whole number from 1",
  ],
  ['{ "confirmations": [1] }', "confirmations in routing-sandbox.config.json is [1]. Use the number 1."],
  ['{ "confirmations": "1" }', 'is "1". Use the number 1.'],
  ['{ "seed": ["a"] }', 'seed in routing-sandbox.config.json is ["a"]. Use a string, in quotes.'],
  ['{ "seed": 2024 }', "is 2024. Use a string, in quotes."],
  ['{ "from": null }', "is null. Use a string, in quotes."],
  ['{ "allowHosts": [5] }', "is 5. Use a string, in quotes."],
  ['{ "mode": ["live"] }', 'is ["live"]. Use a string, in quotes.'],
  ['{ "fresh": "true" }', 'is "true". Use true or false.'],
  ['{ "listen": "nowhere" }', "listen in routing-sandbox.config.json must be an IP address"],
  ["[]", "routing-sandbox.config.json is not an object of options."],
  ["{", "routing-sandbox.config.json cannot be read:"],
  ['{ "seed": "x", }', "routing-sandbox.config.json cannot be read:"],
  [
    '{ "seed": "x", "seed": "x" }',
    "cannot be read: Map keys must be unique at line 1, column 16. Correct it",
  ],
  [
    '{ "api-port": 0, "apiPort": 0 }',
    "routing-sandbox.config.json sets --api-port as api-port and as apiPort. Leave out one of them.",
  ],
  ['{ "ports": { "api": 0 }, "api-port": 0 }', "sets --api-port as ports.api and as api-port."],
  ['{ "ports": { "api": 0 }, "ports.api": 0 }', "sets --api-port as ports.api and as ports.api."],
  ['{ "dataDir": "a", "dataDirectory": "a" }', "sets --data-dir as dataDir and as dataDirectory."],
  ['{ "allowHosts": ["a"], "allow-host": ["b"] }', "sets --allow-host as allowHosts and as allow-host."],
  ['{ "confirmations": 0.5 }', "confirmations in routing-sandbox.config.json is 0.5."],
])("a config file with %s is refused", async (content, complaint) => {
  await writeFile("routing-sandbox.config.json", content);
  expect((await tryCli(["start", "--data-dir", join(folder, "s")])).stderr).toContain(complaint);
});

test.each(["json", "yaml"])("a config file in %s keeps every digit of an integer", async (ending) => {
  const content = '{ "gasBudgetWei": 1000000000000000001, "registrarInitialize": [9007199254740993, 5] }';
  await writeFile(`routing-sandbox.config.${ending}`, content);
  const { findings } = JSON.parse((await tryCli(["doctor", "--json"])).stdout);
  const { found } = findings.find(({ check }: { check: string }) => check === "configuration");
  const source = `(routing-sandbox.config.${ending})`;
  expect(found).toBe(
    `--registrar-initialize is ["9007199254740993",5] ${source}, --gas-budget is 1000000000000000001 ${source}`,
  );
});

test("a YAML file whose aliases stand for very many values says what to do", async () => {
  const levels = Array.from(
    { length: 9 },
    (_, n) => `k${n}: &a${n} [${`${n === 0 ? "x" : `*a${n - 1}`}, `.repeat(9)}]\n`,
  );
  await writeFile("routing-sandbox.config.yaml", levels.join(""));
  expect((await tryCli(["status"])).stderr).toBe(
    "routing-sandbox.config.yaml cannot be read: its aliases (*name) stand for too many values; write the values out. Correct it, or delete it.\n",
  );
});

test("a YAML file with two names of an option is refused, too, and by every command that reads one of its options", async () => {
  await writeFile("routing-sandbox.config.yaml", "startTimeoutMs: 5\nstart-timeout: 5\n");
  const complaint = "sets --start-timeout as startTimeoutMs and as start-timeout. Leave out one of them.\n";
  for (const command of [["start"], ["pool"], ["doctor"], ["status"], ["exec", "--", "true"]])
    expect((await tryCli(command)).stderr).toBe(`routing-sandbox.config.yaml ${complaint}`);
});

test.each([
  ["a wrong value of a variable", "CONFIRMATIONS", "{}", "ROUTING_SANDBOX_CONFIRMATIONS is"],
  ["an unknown variable", "SEDE", "{}", "There is no option ROUTING_SANDBOX_SEDE."],
  ["a wrong value in the config file", null, '{ "confirmations": 0 }', "confirmations in routing-sandbox"],
  ["an unknown name in the config file", null, '{ "sede": "x" }', "has no option sede."],
  ["a config file that cannot be read", null, "{", "routing-sandbox.config.json cannot be read:"],
])("exec and check-client exit with 125 for %s", async (_, variable, content, complaint) => {
  await writeFile("routing-sandbox.config.json", content);
  if (variable !== null) process.env[`ROUTING_SANDBOX_${variable}`] = "0";
  for (const command of ["exec", "check-client"])
    expect(await tryCli([command, "--", "true"]), command).toEqual({
      code: 125,
      stdout: "",
      stderr: expect.stringContaining(complaint),
    });
});

test("a message about a value names the variable or the key that sets it, and not its flag", async () => {
  await using sandbox = await createSandbox();
  const port = new URL(sandbox.description.urls.control).port;
  process.env["ROUTING_SANDBOX_CONTROL_PORT"] = port;
  const inUse = `Port ${port} on 127.0.0.1 is in use. Choose another port with `;
  const flags = ["--api-port", "0", "--docs-port", "0", "--rpc-port", "0", "--data-dir", join(folder, "s")];
  const { stderr } = await tryCli(["start", ...flags]);
  expect(stderr).toContain(`${inUse}ROUTING_SANDBOX_CONTROL_PORT, or 0`);
  delete process.env["ROUTING_SANDBOX_CONTROL_PORT"];
  await writeFile("routing-sandbox.config.json", `{ "ports": { "control": ${port} } }`);
  const inFile = await tryCli(["start", ...flags]);
  expect(inFile.stderr).toContain(`${inUse}control-port in routing-sandbox.config.json, or 0`);
  const flagged = await tryCli(["start", ...flags, "--control-port", port]);
  expect(flagged.stderr).toContain(`${inUse}--control-port, or 0`);
});

/** Words that users mistype: with a letter too few or too many, and with two letters changed over. */
function misspell(name: string): string[] {
  const at = Math.floor(name.length / 2);
  const [begin, letter, next, end] = [name.slice(0, at), name[at], name[at + 1], name.slice(at + 2)];
  return [
    `${begin}${next}${end}`,
    `${begin}${letter}${letter}${next}${end}`,
    `${begin}${next}${letter}${end}`,
  ];
}

test("a near miss of any option in the config file is refused with that option or with none", async () => {
  for (const name of values.keys())
    for (const mistaken of misspell(name)) {
      if (values.has(mistaken)) continue;
      await writeFile("routing-sandbox.config.json", JSON.stringify({ [mistaken]: 1 }));
      const { stderr } = await tryCli(["doctor"]);
      expect(stderr).toContain(`routing-sandbox.config.json has no option ${mistaken}. Leave it out, or `);
      const used = /or use ([a-z-]+)\./i.exec(stderr)?.[1];
      expect([name, undefined], mistaken).toContain(
        used?.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
      );
    }
});

test("two config files are refused", async () => {
  for (const ending of ["json", "yaml"]) await writeFile(`routing-sandbox.config.${ending}`, "{}");
  expect((await tryCli(["start"])).stderr).toContain("Delete one of them.");
});

test("the data directory of the environment holds for every command, but not for one that exec runs", async () => {
  await using sandbox = await createSandbox({ dataDirectory: join(folder, "named") });
  process.env["ROUTING_SANDBOX_DATA_DIR"] = join(folder, "named");
  expect(JSON.parse(await runCli("status", "--json"))).toMatchObject({ urls: sandbox.description.urls });
  const file = join(folder, "other", "sandbox.json");
  process.env["ROUTING_SANDBOX_FILE"] = file;
  onTestFinished(() => void delete process.env["ROUTING_SANDBOX_FILE"]);
  expect((await tryCli(["status", "--json"])).stderr).toContain(join(folder, "other"));
});

test("deploy takes its node from the environment, so that the key in a URL is on no command line", async () => {
  process.env["ROUTING_SANDBOX_RPC_URL"] = "ftp://a-key";
  const { stderr } = await tryCli(["deploy"]);
  expect(stderr).toContain("ROUTING_SANDBOX_RPC_URL has a URL of another scheme.");
});

test.each([
  ["RPC_URL", "foo", "has an invalid URL"],
  ["RPC_URL", "http://127.0.0.1:9,ftp://127.0.0.1", "has a URL of another scheme"],
  ["RPC_URL", "http://127.0.0.1:9", "There is no file keys.json for ROUTING_SANDBOX_RPC_URL."],
  ["PUBLIC_RPC_URL", "https://rpc.example", "is the URL of a node, and no node is named."],
])("start names the source of a URL that it cannot use: %s of %j", async (name, url, wrong) => {
  const variable = `ROUTING_SANDBOX_${name}`;
  process.env[variable] = url;
  const { code, stderr } = await tryCli(["start", "--data-dir", "named"]);
  expect(code).not.toBe(0);
  expect(stderr).toContain(variable);
  expect(stderr).toContain(wrong);
});

test("an empty list of nodes in the config file is refused, and names no chain of its own", async () => {
  await writeFile("routing-sandbox.config.json", '{ "rpc-url": [] }');
  expect((await tryCli(["start", "--data-dir", "named"])).stderr).toContain(
    "rpc-url in routing-sandbox.config.json has no URL.",
  );
});

test("doctor shows each value that is not a default, and where it came from", async () => {
  await writeFile("routing-sandbox.config.json", '{ "seed": "file" }');
  process.env["ROUTING_SANDBOX_CONFIRMATIONS"] = "3";
  const { stdout } = await tryCli(["doctor", "--data-dir", "named", "--json"]);
  const { findings } = JSON.parse(stdout);
  const { found } = findings.find(({ check }: { check: string }) => check === "configuration");
  expect(found).toBe(
    "--data-dir is named (--data-dir), --seed is file (routing-sandbox.config.json), --confirmations is 3 (ROUTING_SANDBOX_CONFIRMATIONS)",
  );
});

test.each([
  ["ROUTING_SANDBOX_STORE", "postgres://me@127.0.0.1:1/none", "database", "ECONNREFUSED"],
  ["ROUTING_SANDBOX_STORE", "mysql://me@127.0.0.1/none", "database", "must be a URL as in postgres://"],
  ["ROUTING_SANDBOX_RPC_URL", "http://127.0.0.1:1", "chain node", "gives no answer"],
  ["ROUTING_SANDBOX_PUBLIC_RPC_URL", "http://127.0.0.1:1", "chain node", "no node is named"],
  [
    "ROUTING_SANDBOX_PROGRAM",
    "Prg X",
    "options",
    'ROUTING_SANDBOX_PROGRAM has "Prg X", which is no program id',
  ],
  ["ROUTING_SANDBOX_RECEIVER_URL", "localhost:3", "options", "is not an absolute http or https URL"],
  ["ROUTING_SANDBOX_REGISTRAR", "none.json", "options", "The artifact none.json cannot be read"],
  ["ROUTING_SANDBOX_SEED", "", "options", "ROUTING_SANDBOX_SEED is empty"],
])("doctor reaches what %s=%s names", async (name, value, check, found) => {
  process.env[name] = value;
  const { code, stdout } = await tryCli(["doctor", "--json"]);
  const { findings } = JSON.parse(stdout);
  expect(findings.find((one: { check: string }) => one.check === check)).toMatchObject({
    ok: false,
    found: expect.stringContaining(found),
  });
  expect(code).toBe(1);
});

/** A value of each option of the commands that start sandboxes that is not its default, and how doctor shows it if not as it is. */
const values = new Map<string, readonly [value: string, shown?: string]>([
  ["data-dir", ["kept"]],
  ["seed", ["checkout"]],
  ["mode", ["deterministic"]],
  ["listen", ["0.0.0.0"]],
  ["allow-host", ["shop,shop:9000", '["shop","shop:9000"]']],
  ["allow-origin", ["https://shop.example", '["https://shop.example"]']],
  ["confirmations", ["3"]],
  ["program", ["prg_books=Books,prg_x", '[{"id":"prg_books","name":"Books"},"prg_x"]']],
  ["account", ["acct_w=prg_x", '[{"id":"acct_w","program":"prg_x"}]']],
  ["registrar", ["out/Mine.json"]],
  ["registrar-arguments", ["[1]"]],
  ["registrar-proxy", ["uups"]],
  ["registrar-initialize", ["init()", '["init()"]']],
  ["gas-budget", ["123456789012345678901"]],
  ["receiver-url", ["http://127.0.0.1:9/hook"]],
  ["auto-deliver", ["1", "true"]],
  ["store", ["postgres://user:secret@host/shop", "set"]],
  ["fresh", ["true"]],
  ["from", ["paid.snapshot"]],
  ["start-timeout", ["5000"]],
  ["api-port", ["5020"]],
  ["docs-port", ["5021"]],
  ["control-port", ["5022"]],
  ["rpc-port", ["5023"]],
  ["log-level", ["info"]],
  ["log-format", ["text"]],
  ["rpc-url", ["https://sepolia.example/secret", "set"]],
  ["keys", ["other.json"]],
  ["deployment", ["other-deployment.json"]],
  ["allow-chain-id", ["1313161555"]],
  ["public-rpc-url", ["https://sepolia.example/public"]],
  ["watch", ["false"]],
  ["detach", ["0", "false"]],
  ["log-file", ["sandbox.log"]],
  ["json", ["true"]],
  ["repeat", ["5"]],
  ["expect-equal", ["true"]],
  ["size", ["4"]],
  ["port", ["4555"]],
  ["lease", ["9"]],
  ["wait", ["3"]],
  ["only", ["createPurchase"]],
  ["jobs", ["2"]],
  ["timeout", ["1m", "60"]],
  ["strict", ["true"]],
  ["given", ["merchant"]],
  ["traces", ["failed"]],
  ["junit", ["report.xml"]],
]);

test("doctor shows the value and the source of every option of start, exec, pool, join and check-client, and no password or key of a URL", async () => {
  const starting = ["start", "exec", "pool", "join", "check-client"];
  const named = createProgram(process)
    .commands.filter((one) => starting.includes(one.name()))
    .flatMap((one) => one.options.flatMap(({ long, hidden }) => (hidden ? [] : [long?.slice(2)])));
  const options = [...new Set(named)];
  expect(options.toSorted()).toEqual([...values.keys()].toSorted());
  const configured = async () => {
    const { findings } = JSON.parse((await tryCli(["doctor", "--json"])).stdout);
    return findings.find(({ check }: { check: string }) => check === "configuration").found;
  };
  const shown = (sourceOf: (name: string) => string) =>
    options.map((name = "") => {
      const [value, as = value] = values.get(name) ?? [];
      return `--${name} is ${as} (${sourceOf(name)})`;
    });
  const file = "routing-sandbox.config.json";
  const typed = (value: string): unknown =>
    /^(\d{1,15}|true|false|\[.*)$/.test(value) ? JSON.parse(value) : value;
  const content = Object.fromEntries(
    [...values].map(([name, [value, shown]]) => [name, typed(name === "timeout" ? value : (shown ?? value))]),
  );
  await writeFile(file, JSON.stringify(content));
  expect(await configured()).toBe(shown(() => file).join(", "));
  const variableOf = (name: string) => `ROUTING_SANDBOX_${name.replaceAll("-", "_").toUpperCase()}`;
  for (const [name, [value]] of values) process.env[variableOf(name)] = value;
  expect(await configured()).toBe(shown(variableOf).join(", "));
});

test("every option of start, exec and pool has a variable of its own", () => {
  const { commands } = createProgram(process);
  for (const name of ["start", "exec", "pool"]) {
    const longs = commands.find((one) => one.name() === name)?.options.map(({ long }) => long) ?? [];
    expect(new Set(longs).size).toBe(longs.length);
  }
});
