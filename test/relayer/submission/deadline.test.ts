import { describe, expect, test } from "vitest";
import { operationId, type RelayIntent } from "../../../relayer/relayer.ts";
import { Crash, openStages, type Stage } from "../stage.ts";

const openStage = openStages();

/** An offer that is due some minutes from now. */
async function dueOffer(stage: Stage): Promise<{ intent: RelayIntent; deadline: number }> {
  const deadline = (await stage.chain.clock.now()) + 600;
  return { intent: await stage.offer("due", 25_000_000n, BigInt(deadline)), deadline };
}

describe("an offer that only the next block can have", () => {
  test("one second late fails without a nonce", async () => {
    const stage = await openStage();
    const { intent, deadline } = await dueOffer(stage);
    await stage.chain.clock.travelTo(deadline);
    expect(await stage.relayer.submit(intent)).toMatchObject({
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
    expect(await stage.mined()).toEqual([]);
  });

  test("in the last second of its deadline is made", async () => {
    const stage = await openStage();
    const { intent, deadline } = await dueOffer(stage);
    await stage.chain.clock.travelTo(deadline - 1);
    await stage.expectExactlyOnce(await stage.relayer.submit(intent));
  });

  test.each(["after_intent", "nonce"] as const)(
    "too late fails without a nonce also when the process died at %s while it was in time",
    async (point) => {
      const stage = await openStage();
      const { intent, deadline } = await dueOffer(stage);
      stage.relayer.fault({ point, action: "crash" });
      await expect(stage.relayer.submit(intent)).rejects.toThrow(new Crash(point));
      await stage.chain.clock.travelTo(deadline);
      const relayer = await stage.restart();
      await relayer.recover();
      const id = operationId(stage.chain.deployment.epoch, intent);
      expect(await relayer.read(id)).toMatchObject({ status: "failed", nonce: null, reserved_wei: "0" });
      expect(await stage.mined()).toEqual([]);
      await stage.expectBooksToBalance();
    },
  );
});
