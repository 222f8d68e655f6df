import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import type { Snapshot } from "../../../sandbox/snapshots/snapshot.ts";
import { TestKit } from "../../kit/test-kit.ts";
import { AnswerCheck } from "./fuzz/answer-check.ts";
import { parseDescription } from "./fuzz/description.ts";
import { type Known, requestArbitrary } from "./fuzz/request-arbitrary.ts";

/** FUZZ_REQUESTS and FUZZ_SEED make a deeper run or repeat one. */
const requests = Number(process.env["FUZZ_REQUESTS"] ?? 200);
const seed = Number(process.env["FUZZ_SEED"] ?? 20_260_101);

let kit: TestKit;
let known: Known;
let snapshot: Snapshot;

beforeAll(async () => {
  kit = await TestKit.shared({ receiptTimeoutMs: 30_000 });
  const pending = await kit.createMerchant();
  const merchant = await kit.enrolledMerchant();
  const created = await kit.createPurchase(merchant);
  const active = await kit.activePurchase(merchant);
  const paid = await kit.paidPurchase(merchant);
  const claimed = await kit.paidPurchase(merchant);
  const body = await kit.claimBody(paid);
  const claim = await kit.claim(claimed);
  const hashes = [created, active, paid, claimed].flatMap(({ commitment, receipts }) => [
    commitment.hash,
    ...receipts.map(({ transaction_hash }) => transaction_hash),
  ]);
  const { addresses, reviewer } = {
    addresses: Object.values(kit.sandbox.description.wallets).map(({ address }) => address),
    reviewer: kit.sandbox.description.reviewer,
  };
  known = {
    program: kit.program,
    credential: kit.credential,
    accountKey: kit.accountKey,
    foreign: (await kit.issue(kit.otherAccountKey)).credential,
    pool: [
      ...[pending, merchant, created, active, paid, claimed, claim].flatMap(({ id, event_id }) => [
        id,
        event_id,
      ]),
      ...hashes,
      ...addresses,
      reviewer.key_id,
      String(body.transaction_hash),
      body.signature,
      "10000000",
      "25000000",
    ],
  };
  snapshot = await kit.sandbox.snapshot();
});

test(`${requests} requests: no 5xx, every answer as described, nothing changed by a refusal`, {
  timeout: 3_600_000,
}, async () => {
  const description = parseDescription((await kit.raw("/v1/routing/openapi.json")).text);
  const check = new AnswerCheck(description);
  const statuses = new Map<number, number>();
  let sent = 0;
  let revoked = false;
  let before = await kit.digest();
  await fc.assert(
    fc.asyncProperty(requestArbitrary(description, known), async (request) => {
      sent += 1;
      // An issued credential has revoked the one that is used.
      if (sent % 200 === 0 || revoked) {
        await snapshot.restore();
        before = await kit.digest();
        revoked = false;
      }
      const headers = { ...request.headers, "Content-Length": String(Buffer.byteLength(request.body)) };
      const answer = await kit.raw(request.path, { ...request, headers });
      const after = await kit.digest();
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      expect(check.fault(request.method, request.path, answer)).toBeNull();
      if (answer.status >= 400) expect(after, `${answer.status} changed something`).toBe(before);
      before = after;
      revoked = answer.status === 201 && answer.text.includes('"credential"');
    }),
    { numRuns: requests, seed, endOnFailure: requests > 5_000 },
  );
  if (process.env["FUZZ_REPORT"]) console.log(Object.fromEntries(statuses));
  // The fuzzer reached behind the checks of form: successes and conflicts were among the answers.
  for (const status of [200, 201, 400, 401, 404, 409, 422]) expect([...statuses.keys()]).toContain(status);
});
