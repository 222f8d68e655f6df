import { expect, test } from "vitest";
import { Stage } from "../stage.ts";
import { Lifecycle } from "./records/lifecycle.ts";
import { deliverAfterCrash, deliverEverything } from "./records/notifications.ts";
import { RecordCheck } from "./records/record-check.ts";
import { openRecordingProxy } from "./records/recording-proxy.ts";
import { RelayOperations } from "./records/relay-operations.ts";

test("every kind of record in every state is as the description says, without a field or a code that it does not name", {
  timeout: 120_000,
}, async () => {
  await using stage = await Stage.open({ seed: "records", receiptTimeoutMs: 200 });
  const check = new RecordCheck((await stage.raw("/v1/routing/openapi.json")).text);
  const faults: string[] = [];
  const hold = (name: string, look: () => void) => {
    try {
      look();
    } catch (error) {
      faults.push(`${name}: ${error}`);
    }
  };
  await using proxy = await openRecordingProxy(stage.base, ({ method, target, status, text }) =>
    hold(`${method} ${target}`, () => check.answer(method, target, status, text)),
  );
  stage.base = proxy.url;
  await stage.renew();
  const merchant = await stage.enrolledMerchant();
  // Foreign use of a signer shows against a nonce that it has used itself.
  await stage.activePurchase(merchant);
  const start = await stage.sandbox.snapshot();
  const relayed = new RelayOperations(stage, merchant, start);
  await relayed.all();
  await start.restore();
  await stage.renew();
  await new Lifecycle(stage, merchant).all();
  await deliverEverything(stage);
  for (const { body } of stage.sandbox.receiver.deliveries()) hold("an event", () => check.event(body));
  const afterCrash = await deliverAfterCrash();
  hold("after a crash", () => check.answer("POST", stage.path("/notifications"), 200, afterCrash));

  expect(faults).toEqual([]);
  expect(check.missing()).toEqual([]);
  const reverts = new Set(
    relayed.read.map(({ status, error }) => `${status} ${error?.revert ? "with" : "without"} revert data`),
  );
  for (const status of ["failed", "reverted"])
    for (const what of ["with", "without"]) expect([...reverts]).toContain(`${status} ${what} revert data`);
});
