import { execFile } from "node:child_process";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { copyCheckout } from "./copied-checkout.ts";

const run = promisify(execFile);
const START_AND_STOP = `
  import { startChain } from "./sandbox/genesis/start-chain.ts";
  const chain = await startChain({ mode: "deterministic", seed: "checkout" });
  console.log(chain.deployment.epoch);
  await chain.stop();
`;

async function startIn(checkout: string): Promise<string> {
  const { stdout } = await run(
    process.execPath,
    ["--input-type=module-typescript", "--eval", START_AND_STOP],
    {
      cwd: checkout,
    },
  );
  return stdout.trim();
}

async function genesisIn(checkout: string): Promise<string> {
  const names = await readdir(join(checkout, ".genesis"));
  expect(names).toHaveLength(1);
  return join(checkout, ".genesis", names.join());
}

test("a missing, torn or edited genesis is rebuilt and gives the same chain", async () => {
  const checkout = await copyCheckout();
  const epoch = await startIn(checkout);
  expect(epoch).toMatch(/^0x[0-9a-f]{64}$/);

  const folder = await genesisIn(checkout);
  const damages: [file: string, damage: (text: string) => string][] = [
    ["state.json", (text) => text.slice(0, 1_000)],
    ["state.json", (text) => text.replace('"nonce":1', '"nonce":2')],
    ["genesis.json", (text) => text.replace(/"key": "[0-9a-f]{8}/, '"key": "00000000')],
    ["genesis.json", (text) => text.slice(0, -10)],
  ];
  for (const [file, damage] of damages) {
    const damaged = damage(await readFile(join(folder, file), "utf8"));
    await writeFile(join(folder, file), damaged);
    expect(await startIn(checkout)).toBe(epoch);
    expect((await readFile(join(folder, file), "utf8")) === damaged).toBe(false);
  }
  await rm(join(folder, "state.json"));
  expect(await startIn(checkout)).toBe(epoch);
}, 60_000);

test("another bytecode gives another genesis, another test contract does not", async () => {
  const checkout = await copyCheckout();
  const key = async () =>
    (await run(process.execPath, ["scripts/deploy.ts"], { cwd: checkout })).stdout.trim();
  const first = await key();
  await writeFile(join(checkout, "contracts", "Unrelated.sol"), "// SPDX-License-Identifier: MIT\n");
  expect(await key()).toBe(first);
  const file = join(checkout, "artifacts", "contracts", "TestUSDC.sol", "TestUSDC.json");
  const artifact = await readFile(file, "utf8");
  // The bytecode ends with the compiler's version, which the contract never runs.
  await writeFile(
    file,
    artifact.replace(/("bytecode": "0x[0-9a-f]+)0033"/, (_, start: string) => `${start}0133"`),
  );
  expect(await key()).not.toBe(first);
}, 60_000);

test("builders that run at once leave one whole genesis and nothing else", async () => {
  const checkout = await copyCheckout();
  const epochs = await Promise.all([startIn(checkout), startIn(checkout), startIn(checkout)]);
  expect(new Set(epochs).size).toBe(1);
  expect(await genesisIn(checkout)).toMatch(/[0-9a-f]{64}$/);
}, 60_000);

test("without artifacts the start says how to compile", async () => {
  const checkout = await copyCheckout();
  await rm(join(checkout, "artifacts"), { recursive: true });
  await expect(startIn(checkout)).rejects.toThrow(
    /artifact of TestUSDC is missing or broken; run node scripts\/setup\.mjs/,
  );
});
