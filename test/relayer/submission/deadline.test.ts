import { describe, expect, test } from "vitest";
import { operationId, type RelayIntent } from "../../../relayer/relayer.ts";
import { Crash, openRelayerKits, type RelayerKit } from "../../kit/relayer-kit.ts";

const openKit = openRelayerKits();

/** An offer that is due some minutes from now. */
async function dueOffer(kit: RelayerKit): Promise<{ intent: RelayIntent; deadline: number }> {
  const deadline = (await kit.chain.clock.now()) + 600;
  return { intent: await kit.offer("due", 25_000_000n, BigInt(deadline)), deadline };
}

describe("an offer that only the next block can have", () => {
  test("one second late fails without a nonce", async () => {
    const kit = await openKit();
    const { intent, deadline } = await dueOffer(kit);
    await kit.chain.clock.travelTo(deadline);
    expect(await kit.relayer.submit(intent)).toMatchObject({
      status: "failed",
      nonce: null,
      reserved_wei: "0",
      error: {
        revert: {
          name: "DeadlinePassed",
          args: { timestamp: String(deadline + 1), deadline: String(deadline) },
        },
      },
    });
    expect(await kit.mined()).toEqual([]);
  });

  test("in the last second of its deadline is made", async () => {
    const kit = await openKit();
    const { intent, deadline } = await dueOffer(kit);
    await kit.chain.clock.travelTo(deadline - 1);
    await kit.expectExactlyOnce(await kit.relayer.submit(intent));
  });

  test.each(["after_intent", "nonce"] as const)(
    "too late fails without a nonce also when the process crashed at %s while it was in time",
    async (point) => {
      const kit = await openKit();
      const { intent, deadline } = await dueOffer(kit);
      await kit.faults.set({ layer: "relayer", point, action: "crash" });
      await expect(kit.relayer.submit(intent)).rejects.toThrow(new Crash(point));
      await kit.chain.clock.travelTo(deadline);
      const relayer = await kit.restart();
      await relayer.recover();
      const id = operationId(kit.chain.deployment.epoch, intent);
      expect(await relayer.read(id)).toMatchObject({ status: "failed", nonce: null, reserved_wei: "0" });
      expect(await kit.mined()).toEqual([]);
      await kit.expectBooksToBalance();
    },
  );
});
