import { type ChildProcessByStdio, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { copyCheckout } from "./copied-checkout.ts";

/** Starts and stops a chain for each line that comes in. */
const START_AND_STOP = `
  import { createInterface } from "node:readline";
  import { genesisKey } from "./sandbox/genesis/genesis-key.ts";
  import { startChain } from "./sandbox/genesis/start-chain.ts";
  const start = async () => {
    await using chain = await startChain({ mode: "deterministic", seed: "checkout" });
    return { epoch: chain.deployment.epoch, key: await genesisKey() };
  };
  for await (const _ of createInterface({ input: process.stdin }))
    console.log(JSON.stringify(await start().catch(({ message }) => ({ message }))));
`;

const started = z.union([
  z.strictObject({ epoch: z.string().regex(/^0x[0-9a-f]{64}$/), key: z.string().regex(/^[0-9a-f]{64}$/) }),
  z.strictObject({ message: z.string() }),
]);

let folder: string;
let checkout: string;
let starter: ChildProcessByStdio<Writable, Readable, null>;
let lines: Interface;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "routing-sandbox-genesis-"));
  checkout = await copyCheckout(folder);
  starter = spawn(process.execPath, ["--input-type=module-typescript", "--eval", START_AND_STOP], {
    cwd: checkout,
    stdio: ["pipe", "pipe", "inherit"],
  });
  lines = createInterface({ input: starter.stdout });
});

afterAll(async () => {
  const exited = once(starter, "exit");
  starter.stdin.end();
  await exited;
  await rm(folder, { recursive: true, force: true });
});

beforeEach(async () => {
  await rm(join(checkout, ".genesis"), { recursive: true, force: true });
});

/** Starts and stops a chain in the checkout; tells which one it was, or why there was none. */
async function start() {
  const line = once(lines, "line");
  starter.stdin.write("\n");
  return started.parse(JSON.parse((await line)[0]));
}

async function genesis(): Promise<string> {
  const names = await readdir(join(checkout, ".genesis"));
  expect(names).toHaveLength(1);
  return join(checkout, ".genesis", names.join());
}

test("a missing, torn or edited genesis is rebuilt and gives the same chain", async () => {
  const chain = await start();
  expect(chain).toHaveProperty("epoch");

  const built = await genesis();
  const damages: [file: string, damage: (text: string) => string][] = [
    ["state.json", (text) => text.slice(0, 1_000)],
    ["state.json", (text) => text.replace('"nonce":1', '"nonce":2')],
    ["genesis.json", (text) => text.replace(/"key": "[0-9a-f]{8}/, '"key": "00000000')],
    ["genesis.json", (text) => text.slice(0, -10)],
  ];
  for (const [file, damage] of damages) {
    const damaged = damage(await readFile(join(built, file), "utf8"));
    await writeFile(join(built, file), damaged);
    expect(await start()).toEqual(chain);
    expect((await readFile(join(built, file), "utf8")) === damaged).toBe(false);
  }
  await rm(join(built, "state.json"));
  expect(await start()).toEqual(chain);
});

test("another bytecode gives another genesis, another test contract does not", async () => {
  const first = await start();
  await writeFile(join(checkout, "contracts", "Unrelated.sol"), "// SPDX-License-Identifier: MIT\n");
  expect(await start()).toEqual(first);
  const file = join(checkout, "artifacts", "contracts", "TestUSDC.sol", "TestUSDC.json");
  await cp(file, `${file}.whole`);
  const artifact = await readFile(file, "utf8");
  // The bytecode ends with the compiler's version, which the contract never runs.
  await writeFile(
    file,
    artifact.replace(/("bytecode": "0x[0-9a-f]+)0033"/, (_, begin: string) => `${begin}0133"`),
  );
  const { key, epoch } = z.object({ key: z.string(), epoch: z.string() }).parse(await start());
  await rename(`${file}.whole`, file);
  expect(first).not.toHaveProperty("key", key);
  expect(first).not.toHaveProperty("epoch", epoch);
});

test("builders that run at once leave one whole genesis and nothing else", async () => {
  const build = async () =>
    (await promisify(execFile)(process.execPath, ["scripts/deploy.ts"], { cwd: checkout })).stdout.trim();
  const keys = await Promise.all([build(), build(), build()]);
  const built = await genesis();
  const { mtimeMs } = await stat(join(built, "state.json"));
  expect(keys).toEqual(keys.map(() => built.slice(-64)));
  // A start would replace what is not whole.
  expect(await start()).toHaveProperty("key", keys[0]);
  expect((await stat(join(built, "state.json"))).mtimeMs).toBe(mtimeMs);
});

test("without artifacts the start says how to compile", async () => {
  const artifacts = join(checkout, "artifacts");
  await rename(artifacts, `${artifacts}-away`);
  expect(await start()).toEqual({
    message: expect.stringMatching(/artifact of TestUSDC is missing or broken; run node scripts\/setup\.mjs/),
  });
  await rename(`${artifacts}-away`, artifacts);
});
