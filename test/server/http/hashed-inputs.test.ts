import { createHash } from "node:crypto";
import { id as keccakOfText, TypedDataEncoder, Wallet } from "ethers";
import type { Hex } from "viem";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { claimCall } from "../../../protocol/call.ts";
import type { Snapshot } from "../../../sandbox/snapshots/snapshot.ts";
import { type Answer, problem, type Schema } from "../../kit/answer.ts";
import { TestKit } from "../../kit/test-kit.ts";

const claimTypes = {
  Claim: [
    { name: "commitment", type: "bytes32" },
    { name: "beneficiary", type: "address" },
    { name: "requestedAmount", type: "uint256" },
    { name: "reasonHash", type: "bytes32" },
  ],
};
const hex = z.templateLiteral(["0x", z.string()]);

let kit: TestKit;
let snapshot: Snapshot;
let merchant: Schema<"Merchant">;
let purchase: Schema<"Purchase">;
beforeAll(async () => {
  kit = await TestKit.shared();
  merchant = await kit.enrolledMerchant();
  purchase = await kit.paidPurchase(merchant);
  snapshot = await kit.sandbox.snapshot();
});
beforeEach(async () => {
  await snapshot.restore();
  await kit.renew();
});

/** Has the beneficiary sign and send a claim with one reason, and files it with another, all hashed by ethers. */
async function fileClaim(signed: string, sent = signed): Promise<{ answer: Answer; hash: Hex }> {
  const { beneficiary, commitment } = purchase;
  const { domain } = commitment.typed_data;
  const message = {
    commitment: commitment.hash,
    beneficiary,
    requestedAmount: 10_000_000n,
    reasonHash: keccakOfText(signed),
  };
  const signer = new Wallet(kit.sandbox.description.wallets["beneficiary"]?.private_key ?? "");
  const signature = await signer.signTypedData(domain, claimTypes, message);
  const hash = hex.parse(TypedDataEncoder.hash(domain, claimTypes, message));
  const call = claimCall(kit.sandbox.description.contracts.registrar, commitment.hash, hash);
  const { transaction_hash: transactionHash } = await kit.wallet("beneficiary").send(call);
  const answer = await kit.post(kit.path(`/purchases/${purchase.id}/claims`), {
    transaction_hash: transactionHash,
    requested_amount: "10000000",
    reason: sent,
    signature,
  });
  return { answer, hash };
}

describe("a claim's reason is hashed and kept as it was sent,", () => {
  test.each([
    ["with spaces around it", "  arrived broken \n"],
    ["of a space alone", " "],
    ["with characters beyond the basic plane", "\ud83d\ude00 \u{1d4b3}"],
    ["with combining characters", "cafe\u0301 \ufb01le"],
    ["with a byte order mark and a null", "\ufeffa\u0000b"],
  ])("%s", async (_, reason) => {
    const { answer, hash } = await fileClaim(reason);
    expect(answer.status, answer.text).toBe(201);
    expect(JSON.parse(answer.text)).toMatchObject({
      reason,
      reason_hash: keccakOfText(reason),
      claim_hash: hash,
    });
  });

  test.each([
    ["without the spaces around it", " arrived broken ", "arrived broken"],
    ["in another normal form", "cafe\u0301", "caf\u00e9"],
    ["in another case", "Broken", "broken"],
  ])("and one that was signed %s is another", async (_, sent, signed) => {
    const { answer } = await fileClaim(signed, sent);
    expect(answer.status).toBe(422);
    expect(problem(answer)).toMatchObject({
      code: "signer_mismatch",
      errors: [{ pointer: "/signature", code: "signature", detail: `must be by ${purchase.beneficiary}` }],
      expected_signer: purchase.beneficiary,
    });
  });
});

describe("a purchase's terms are hashed in their canonical form,", () => {
  test.each([
    [
      "names sorted by UTF-16 code units",
      '{"b":1,"a":2,"\ufb33":3,"\ud83d\ude00":4,"B":5,"":6}',
      '{"":6,"B":5,"a":2,"b":1,"\ud83d\ude00":4,"\ufb33":3}',
    ],
    [
      "numbers in their shortest form",
      '{"a":1.50,"b":-0.0,"c":1e-7,"d":0.000001,"e":9007199254740991,"f":1E2}',
      '{"a":1.5,"b":0,"c":1e-7,"d":0.000001,"e":9007199254740991,"f":100}',
    ],
    [
      "texts with the escapes that they need",
      '{"a":"\\u0041\\/\\u00e9\\u20ac\\u001f\\b","b":"cafe\u0301 \u2028"}',
      '{"a":"A/\u00e9\u20ac\\u001f\\b","b":"cafe\u0301 \u2028"}',
    ],
    [
      "lists in their order and without white space",
      '{ "a" : [ 3 , 1 , { "z" : null , "y" : [ ] } ] }',
      '{"a":[3,1,{"y":[],"z":null}]}',
    ],
    ["nothing added to none", "{}", "{}"],
  ])("%s", async (_, terms, canonical) => {
    const body = { merchant_id: merchant.id, buyer: kit.wallet("buyer").address, amount: "25000000" };
    const answer = await kit.post(
      kit.path("/purchases"),
      `${JSON.stringify(body).slice(0, -1)},"terms":${terms}}`,
    );
    expect(answer.status, answer.text).toBe(201);
    const created: Schema<"Purchase"> = JSON.parse(answer.text);
    expect(created.commitment.typed_data.message).toMatchObject({
      termsHash: `0x${createHash("sha256").update(canonical).digest("hex")}`,
    });
    expect(created.terms).toEqual(JSON.parse(canonical));
  });
});
