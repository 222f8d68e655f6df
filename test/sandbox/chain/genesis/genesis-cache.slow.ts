import { type ChildProcessByStdio, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { promisify } from "node:util";
import { brotliCompressSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { genesisFolder } from "../../../../sandbox/chain/genesis/genesis-cache.ts";
import { genesisKey } from "../../../../sandbox/chain/genesis/genesis-key.ts";
import { copyCheckout } from "../../../setup/copied-checkout.ts";

/** Does what each line that comes in says: looks for the genesis, or starts and stops a chain. */
const ANSWER = `
  import { createInterface } from "node:readline";
  import { findGenesis } from "./sandbox/chain/genesis/genesis-cache.ts";
  import { genesisKey } from "./sandbox/chain/genesis/genesis-key.ts";
  import { startChain } from "./sandbox/chain/start-chain.ts";
  const answers = {
    find: async () => ({ found: (await findGenesis(await genesisKey())) !== undefined }),
    findAtOnce: async () => {
      const key = await genesisKey();
      const all = await Promise.all(Array.from({ length: 32 }, () => findGenesis(key)));
      return { found: all.filter((one) => one !== undefined).length };
    },
    start: async () => {
      await using chain = await startChain({ mode: "deterministic", seed: "checkout" });
      return { epoch: chain.deployment.epoch, key: await genesisKey() };
    },
  };
  for await (const line of createInterface({ input: process.stdin }))
    console.log(JSON.stringify(await answers[line]().catch(({ message }) => ({ message }))));
`;

const started = z.union([
  z.strictObject({ epoch: z.string().regex(/^0x[0-9a-f]{64}$/), key: z.string().regex(/^[0-9a-f]{64}$/) }),
  z.strictObject({ message: z.string() }),
]);

/** The genesis that the set-up has built. */
const prepared = genesisFolder(await genesisKey());

let folder: string;
let checkout: string;
let starter: ChildProcessByStdio<Writable, Readable, null>;
let lines: Interface;
let ended: Promise<undefined>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "routing-sandbox-genesis-"));
  checkout = await copyCheckout(folder);
  starter = spawn(process.execPath, ["--input-type=module-typescript", "--eval", ANSWER], {
    cwd: checkout,
    env: { ...process.env, TMPDIR: folder },
    stdio: ["pipe", "pipe", "inherit"],
  });
  lines = createInterface({ input: starter.stdout });
  ended = once(lines, "close").then(() => undefined);
});

afterAll(async () => {
  starter.stdin.end();
  if (starter.exitCode === null) await once(starter, "exit");
  await rm(folder, { recursive: true, force: true });
});

/** Gives the checkout the genesis that the set-up has built. */
beforeEach(async () => {
  await rm(join(checkout, ".genesis"), { recursive: true, force: true });
  await cp(prepared, join(checkout, ".genesis", basename(prepared)), { recursive: true });
});

/** Asks the checkout. */
async function ask(what: "find" | "findAtOnce" | "start"): Promise<unknown> {
  const line = once(lines, "line");
  starter.stdin.write(`${what}\n`);
  const answer = await Promise.race([line, ended]);
  if (answer === undefined) throw new Error("The checkout's program has ended.");
  return JSON.parse(answer[0]);
}

/** Starts and stops a chain in the checkout; tells which one it was, or why there was none. */
async function start() {
  return started.parse(await ask("start"));
}

async function genesis(): Promise<string> {
  const names = await readdir(join(checkout, ".genesis"));
  expect(names).toHaveLength(1);
  return join(checkout, ".genesis", names.join());
}

test("a torn, edited or incomplete genesis is not used", async () => {
  const built = await genesis();
  const damages: [file: string, damage: (text: string) => string][] = [
    ["state.json", (text) => text.slice(0, 1_000)],
    ["state.json", (text) => text.replace('"nonce":1', '"nonce":2')],
    ["genesis.json", (text) => text.replace(/"key": "[0-9a-f]{8}/, '"key": "00000000')],
    ["genesis.json", (text) => text.slice(0, -10)],
  ];
  for (const [name, damage] of damages) {
    const file = join(built, name);
    const whole = await readFile(file, "utf8");
    const damaged = damage(whole);
    expect(damaged).not.toBe(whole);
    await writeFile(file, damaged);
    expect(await ask("find"), damage.toString()).toEqual({ found: false });
    await writeFile(file, whole);
    expect(await ask("find")).toEqual({ found: true });
  }
  for (const name of ["state.json", "genesis.json"]) {
    await rename(join(built, name), join(built, "away"));
    expect(await ask("find"), name).toEqual({ found: false });
    await rename(join(built, "away"), join(built, name));
  }
});

test("a missing or damaged genesis is rebuilt and gives the same chain", async () => {
  const chain = await start();
  expect(chain).toHaveProperty("epoch");
  const state = join(await genesis(), "state.json");
  const whole = await readFile(state, "utf8");
  await writeFile(state, whole.replace('"nonce":1', '"nonce":2'));
  expect(await start()).toEqual(chain);
  expect(await ask("find")).toEqual({ found: true });
  await rm(join(checkout, ".genesis"), { recursive: true });
  expect(await start()).toEqual(chain);
  expect(await ask("find")).toEqual({ found: true });
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

test("concurrent builds leave one complete genesis and nothing else", async () => {
  await rm(join(checkout, ".genesis"), { recursive: true });
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
    message: expect.stringMatching(/TestUSDC\.json is missing or broken; run node scripts\/setup\.mjs/),
  });
  await rename(`${artifacts}-away`, artifacts);
});

test("a compressed genesis, as a package has it, is decompressed next to it once, and again when it is damaged", async () => {
  const compressed = await compressState();
  expect(await ask("find")).toEqual({ found: true });
  const state = compressed.replace(/\.br$/, "");
  const whole = await readFile(state);
  expect(whole).toEqual(await readFile(join(prepared, "state.json")));
  await writeFile(state, whole.subarray(1));
  expect(await ask("find")).toEqual({ found: true });
  expect(await readFile(state)).toEqual(whole);
  await writeFile(state, "{}");
  await writeFile(compressed, brotliCompressSync("{}"));
  expect(await ask("find")).toEqual({ found: false });
});

test("many starts of one process that decompress a genesis at once all find it whole", async () => {
  await compressState();
  expect(await ask("findAtOnce")).toEqual({ found: 32 });
});

test("a compressed genesis whose folder cannot be written is decompressed into the folder for temporary files", async () => {
  const compressed = await compressState();
  // A directory in the way refuses the file to every user, also to root.
  await mkdir(compressed.replace(/\.br$/, ""));
  expect(await ask("find")).toEqual({ found: true });
  const [made = ""] = (await readdir(folder)).filter((name) => name.startsWith("routing-sandbox-genesis-"));
  const state = await readFile(join(folder, made, "state.json"));
  expect(state).toEqual(await readFile(join(prepared, "state.json")));
  expect(await readdir(join(folder, made))).toEqual(["state.json"]);
});

/** Compresses the state of the checkout's genesis, in place of it. */
async function compressState(): Promise<string> {
  const state = join(checkout, ".genesis", basename(prepared), "state.json");
  await writeFile(`${state}.br`, brotliCompressSync(await readFile(state)));
  await rm(state);
  return `${state}.br`;
}
