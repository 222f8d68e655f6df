import { Transaction } from "ethers";
import type { EIP1193RequestFn } from "viem";
import { expect, test } from "vitest";
import { z } from "zod";
import { openRelayerKits } from "../../kit/relayer-kit.ts";

const openKit = openRelayerKits();
const rawParams = z.tuple([z.string()]);

/** The lowest fee with which nodes replace a waiting transaction: a tenth more, rounded up. */
function leastReplacement(fee: bigint): bigint {
  return (fee * 110n + 99n) / 100n;
}

test("a raised fee is at least a tenth above both fees of the transaction before it, rounded up", async () => {
  const kit = await openKit({ receiptTimeoutMs: 0 });
  await kit.client.setAutomine(false);
  const sent: Transaction[] = [];
  const forward: EIP1193RequestFn = kit.client.request;
  const request: EIP1193RequestFn = async (args) => {
    if (args.method === "eth_sendRawTransaction")
      sent.push(Transaction.from(rawParams.parse(args.params)[0]));
    return await forward(args);
  };
  for (const [maxFeePerGas, maxPriorityFeePerGas] of [
    [2_000_000_000n, 1_000_000_000n],
    [20_000_000_001n, 1n],
    [20_000_000_003n, 4n],
    [20_000_000_007n, 9n],
    [20_000_000_009n, 10n],
    [20_000_000_011n, 11n],
    [20_000_000_013n, 999n],
  ] as const) {
    const relayer = await kit.restart({
      request,
      fees: async () => ({ maxFeePerGas, maxPriorityFeePerGas }),
    });
    await kit.faults.set({ layer: "relayer", point: "after_broadcast", action: "replace" });
    const { status, status_reason, hashes } = await relayer.submit(
      await kit.offer(`tip-${maxPriorityFeePerGas}`),
    );
    expect({ status, status_reason }).toEqual({ status: "broadcast", status_reason: null });
    expect(hashes.map(({ purpose, outcome }) => [purpose, outcome])).toEqual([
      ["original", "broadcast"],
      ["bump", "broadcast"],
    ]);
    const [first, raised] = sent.splice(0);
    expect([first?.hash, raised?.hash]).toEqual(hashes.map(({ hash }) => hash));
    expect([first?.maxFeePerGas, first?.maxPriorityFeePerGas]).toEqual([maxFeePerGas, maxPriorityFeePerGas]);
    expect(raised?.nonce).toBe(first?.nonce);
    expect(raised?.data).toBe(first?.data);
    expect(raised?.maxFeePerGas, `of ${maxFeePerGas}`).toBeGreaterThanOrEqual(leastReplacement(maxFeePerGas));
    expect(raised?.maxPriorityFeePerGas, `of ${maxPriorityFeePerGas}`).toBeGreaterThanOrEqual(
      leastReplacement(maxPriorityFeePerGas),
    );
  }
});

test("a transaction that has waited for long is sent with the fees that the network asks for now, and is mined once", async () => {
  const asked = { maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };
  const kit = await openKit({ receiptTimeoutMs: 0, raiseAfterSeconds: 60, fees: async () => ({ ...asked }) });
  await kit.client.setAutomine(false);
  const { operation_id, hash } = await kit.relayer.submit(await kit.offer("late"));
  // The network asks for more than the transaction offers.
  const baseFeePerGas = 5_000_000_000n;
  const pass = async (seconds: number) => {
    await kit.client.setNextBlockBaseFeePerGas({ baseFeePerGas });
    await kit.chain.clock.travel(seconds);
    await kit.relayer.follow();
    return (await kit.relayer.read(operation_id))?.hashes.map(({ purpose }) => purpose);
  };
  // Not before the time, and not while the network does not ask for more.
  asked.maxFeePerGas = 12_000_000_000n;
  expect(await pass(30)).toEqual(["original"]);
  asked.maxFeePerGas = 3_000_000_000n;
  expect(await pass(60)).toEqual(["original"]);
  asked.maxFeePerGas = 12_000_000_000n;
  expect(await pass(1)).toEqual(["original", "bump"]);
  // Then after twice the time.
  asked.maxFeePerGas = 20_000_000_000n;
  expect(await pass(10)).toEqual(["original", "bump"]);
  await kit.client.setAutomine(true);
  await kit.client.mine({ blocks: 1 });
  const mined = await kit.relayer.advance(operation_id);
  expect(mined).toMatchObject({ status: "confirmed", max_fee_per_gas: "12000000000" });
  expect(mined.hash).not.toBe(hash);
  await kit.expectExactlyOnce(mined);
});
