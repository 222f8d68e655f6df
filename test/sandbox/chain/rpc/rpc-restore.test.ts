import { toHex } from "viem";
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { Sandbox } from "../../../../sandbox/create-sandbox.ts";
import { ask } from "../../../ask.ts";
import { freshSandbox } from "../../../kit/fresh-sandbox.ts";

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await freshSandbox();
});

const response = z.object({
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional(),
});

async function call(method: string, params: readonly unknown[] = []) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const headers = { "Content-Type": "application/json" };
  const { text } = await ask(sandbox.description.urls.rpc, { method: "POST", headers, body });
  return response.parse(JSON.parse(text));
}

/** An account without a known key. */
const keyless = "0x00000000000000000000000000000000000a11ce";
const other = "0x0000000000000000000000000000000000000b0b";

describe("a restore brings back what the node was at the snapshot:", () => {
  test.each([keyless, keyless.toUpperCase().replace("0X", "0x"), keyless.slice(2)])(
    "whom it impersonates, named as %s",
    async (account) => {
      const send = async (from: string) =>
        (await call("eth_sendTransaction", [{ from, to: other, value: "0x0" }])).error;
      await call("anvil_setBalance", [keyless, toHex(10n ** 18n)]);
      await call("anvil_setBalance", [other, toHex(10n ** 18n)]);
      await call("anvil_impersonateAccount", [account]);
      const snapshot = await sandbox.snapshot();
      await call("hardhat_stopImpersonatingAccount", [keyless]);
      await call("hardhat_autoImpersonateAccount", [true]);
      expect(await send(other)).toBeUndefined();
      for (let times = 0; times < 2; times += 1) {
        await snapshot.restore();
        expect(await send(keyless)).toBeUndefined();
        expect(await send(other)).toMatchObject({ message: "No Signer available" });
      }
    },
  );

  test("the gas limit of the next block", async () => {
    const next = async () => (await sandbox.chain.client.getBlock({ blockTag: "pending" })).gasLimit;
    await call("evm_setBlockGasLimit", [toHex(55_000_000)]);
    const snapshot = await sandbox.snapshot();
    await call("evm_setBlockGasLimit", [toHex(16_000_000)]);
    await call("evm_mine");
    await snapshot.restore();
    expect(await next()).toBe(55_000_000n);
  });
});
