import { expect, test } from "vitest";
import { TestKit } from "../../kit/test-kit.ts";
import { Lifecycle } from "./records/lifecycle.ts";
import { deliverAfterCrash, deliverEverything } from "./records/notifications.ts";
import { RecordCheck } from "./records/record-check.ts";
import { openRecordingProxy } from "./records/recording-proxy.ts";
import { RelayOperations } from "./records/relay-operations.ts";

test("every kind of record in every state is as the description says, without a field or a code that it does not name", async () => {
  await using kit = await TestKit.open({ seed: "records", receiptTimeoutMs: 200 });
  const check = new RecordCheck((await kit.raw("/v1/routing/openapi.json")).text);
  const faults: string[] = [];
  const hold = (name: string, look: () => void) => {
    try {
      look();
    } catch (error) {
      faults.push(`${name}: ${error}`);
    }
  };
  await using proxy = await openRecordingProxy(kit.base, ({ method, target, status, text }) =>
    hold(`${method} ${target}`, () => check.answer(method, target, status, text)),
  );
  kit.base = proxy.url;
  await kit.renew();
  const merchant = await kit.enrolledMerchant();
  // Foreign use of a signer shows against a nonce that it has used itself.
  await kit.activePurchase(merchant);
  const start = await kit.sandbox.snapshot();
  const relayed = new RelayOperations(kit, merchant, start);
  await relayed.all();
  await start.restore();
  await kit.renew();
  await new Lifecycle(kit, merchant).all();
  await deliverEverything(kit);
  for (const { body } of kit.sandbox.receiver.deliveries()) hold("an event", () => check.event(body));
  const afterCrash = await deliverAfterCrash();
  hold("after a crash", () => check.answer("POST", kit.path("/notifications"), 200, afterCrash));

  expect(faults).toEqual([]);
  // Only another chain than the sandbox's own has a network.
  expect(check.missing()).toEqual([
    "Chain.network is there",
    "Chain.network.block_explorer_url is not null",
    "Chain.network.block_explorer_url is null",
  ]);
});
