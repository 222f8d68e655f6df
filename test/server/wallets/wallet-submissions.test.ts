import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { concat, type Hex, hashMessage, numberToHex, slice } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, test } from "vitest";
import { type Answer, present, problem, type Schema } from "../../kit/answer.ts";
import { resetBeforeEach } from "../../kit/reset-before-each.ts";
import { TestKit } from "../../kit/test-kit.ts";
import { temporaryFolder } from "../../temporary-folder.ts";

type Purchase = Schema<"Purchase">;
type Submission = Schema<"WalletSubmission">;

const reason = "Arrived broken.";
const amount = "10000000";
const hashOfNothing = `0x${"5c".repeat(32)}`;

let kit: TestKit;
let merchant: Schema<"Merchant">;

resetBeforeEach(async () => {
  kit = await TestKit.shared();
  merchant = await kit.enrolledMerchant();
  return kit;
});

async function submit(object: { id: string }, body: object, key?: string, on = kit): Promise<Answer> {
  const type = object.id.startsWith("mer_") ? "merchant" : "purchase";
  const path = `/wallet/${on.program}/${type}/${object.id}`;
  return await on.post(path, body, key === undefined ? {} : { "Idempotency-Key": key });
}

async function accepted(answer: Promise<Answer>): Promise<Schema<"WalletSubmissionResult">> {
  const { status, text } = await answer;
  expect(status, text).toBe(200);
  return JSON.parse(text);
}

async function submissionsOf(object: { id: string }): Promise<Submission[]> {
  const type = object.id.startsWith("mer_") ? "merchant" : "purchase";
  const { text } = await kit.raw(`/wallet/${kit.program}/${type}/${object.id}`);
  return present<Schema<"Wallet">>({ data: JSON.parse(text) }).submissions;
}

async function eventCount(on = kit): Promise<number> {
  return (await on.sandbox.store.list("events", {})).length;
}

/** The claim of a purchase as the wallet route offers it, with its signature; nothing is sent yet. */
async function signedClaim(purchase: Purchase, claimed = { amount, reason }) {
  const { transaction, sign } = await kit.action("purchase", purchase.id, "claim", claimed);
  if (transaction === undefined || sign?.method !== "eth_signTypedData_v4")
    throw new Error("No claim is offered.");
  const wallet = kit.wallet("beneficiary");
  return {
    sign,
    signature: await wallet.signTypedData(sign.typed_data),
    send: async () => (await wallet.send(transaction)).transaction_hash,
  };
}

describe("what a stranger submits again", () => {
  test("does not make the store on disk grow, under any keys and in any order", {
    tags: "thorough",
  }, async () => {
    const dataDirectory = join(await temporaryFolder(), "data");
    await using kept = await TestKit.open({ seed: "kept", dataDirectory });
    const purchase = await kept.activePurchase();
    await kept.act("buyer", "purchase", purchase.id, "approve");
    const hashes = [
      await kept.act("buyer", "purchase", purchase.id, "pay", { amount: "1" }),
      await kept.act("buyer", "purchase", purchase.id, "pay", { amount: "2" }),
    ];
    const pay = async (transaction_hash: Hex | undefined) =>
      await accepted(submit(purchase, { action: "pay", transaction_hash }, undefined, kept));
    const before = await eventCount(kept);
    for (const hash of hashes) await pay(hash);
    const bytes = await storedBytes(join(dataDirectory, "store"));
    const digest = await kept.digest();
    for (let round = 0; round < 100; round += 1) {
      const [first, second] = hashes;
      await Promise.all([pay(first), pay(second), pay(first), pay(second)]);
    }
    expect(await eventCount(kept)).toBe(before + 2);
    expect(await kept.digest()).toBe(digest);
    expect(await storedBytes(join(dataDirectory, "store"))).toBe(bytes);
  });

  test("gets the first answer again, even if a reorg caused the claim to be sent in another transaction", async () => {
    const purchase = await kit.paidPurchase(merchant);
    const { signature, send } = await signedClaim(purchase);
    const submitted: [body: object, answer: Answer][] = [];
    const first = async (body: object) => {
      const answer = await submit(purchase, { action: "claim", ...body });
      expect(answer.status, answer.text).toBe(200);
      expect(answer.headers["idempotent-replayed"]).toBeUndefined();
      submitted.push([body, answer]);
    };
    await first({ signature, amount, reason });
    await first({ transaction_hash: await send() });
    await kit.reorg(1);
    // A new block, so that the second transaction is not the first one once more.
    const beneficiary = kit.wallet("beneficiary");
    await beneficiary.send({ to: beneficiary.address, data: "0x" });
    await first({ transaction_hash: await send() });
    const digest = await kit.digest();
    for (const [body, { text }] of submitted) {
      const again = await submit(purchase, { action: "claim", ...body });
      expect([again.status, again.text]).toEqual([200, text]);
      expect(again.headers["idempotent-replayed"]).toBe("true");
    }
    expect(await kit.digest()).toBe(digest);
  });

  test("gets the first answer byte for byte, under its own key and any other, even if more is known now", async () => {
    const purchase = await kit.paidPurchase(merchant);
    const { signature, send } = await signedClaim(purchase);
    const body = { action: "claim", signature, amount, reason };
    const first = await submit(purchase, body, "first-key");
    const other = await submit(purchase, body, "other-key");
    await accepted(submit(purchase, { action: "claim", transaction_hash: await send() }));
    const digest = await kit.digest();
    const again = [await submit(purchase, body, "first-key"), await submit(purchase, body, "other-key")];
    const capitals = { ...body, signature: `0x${signature.slice(2).toUpperCase()}` };
    for (const { status, text, headers } of [other, ...again, await submit(purchase, capitals)]) {
      expect([status, text]).toEqual([200, first.text]);
      expect(headers["idempotent-replayed"]).toBe("true");
    }
    expect(first.headers["idempotent-replayed"]).toBeUndefined();
    expect(await kit.digest()).toBe(digest);
  });

  test("is recorded once when it is sent twenty times at once, each time under its own key", async () => {
    const purchase = await kit.activePurchase(merchant);
    const transaction_hash = await kit.act("buyer", "purchase", purchase.id, "approve");
    const before = await eventCount();
    const answers = await Promise.all(
      Array.from({ length: 20 }, async () => await submit(purchase, { action: "approve", transaction_hash })),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(await eventCount()).toBe(before + 1);
  });

  test("as a signature in another case, or as another signature of the same bytes, adds nothing", async () => {
    const pending = await kit.createMerchant("1000", "other_merchant");
    const wallet = kit.wallet("other_merchant");
    const signature = await wallet.signMessage(pending.enrollment.message);
    const first = await submit(pending, { action: "enroll", signature });
    const { private_key } = kit.sandbox.description.wallets["other_merchant"] ?? { private_key: "0x" };
    const another = signWithNonce(hashMessage(pending.enrollment.message), private_key, 7n);
    expect(another).not.toBe(signature);
    const digest = await kit.digest();
    for (const same of [`0x${signature.slice(2).toUpperCase()}`, another])
      expect((await submit(pending, { action: "enroll", signature: same })).text).toBe(first.text);
    expect(await kit.digest()).toBe(digest);
  });

  test("stays recorded as it was once the object has reached its next state", async () => {
    const purchase = await kit.createPurchase(merchant);
    const transaction_hash = await kit.act("merchant", "purchase", purchase.id, "register");
    const first = await submit(purchase, { action: "register", transaction_hash });
    const confirmed = await kit.post(kit.path(`/purchases/${purchase.id}/registration`), {});
    expect(confirmed.status, confirmed.text).toBe(200);
    expect((await submit(purchase, { action: "register", transaction_hash })).text).toBe(first.text);
  });
});

/** An ECDSA signature with a nonce of one's choice: as good as any other one of the same key. */
function signWithNonce(digest: Hex, privateKey: Hex, nonce: bigint): Hex {
  const order = secp256k1Order;
  const { publicKey } = privateKeyToAccount(numberToHex(nonce, { size: 32 }));
  const r = BigInt(slice(publicKey, 1, 33)) % order;
  const s = (inverse(nonce, order) * (BigInt(digest) + r * BigInt(privateKey))) % order;
  const isHigh = s > order / 2n;
  const isOdd = BigInt(publicKey) % 2n === 1n;
  const recovery = numberToHex(isOdd === isHigh ? 27 : 28, { size: 1 });
  return concat([numberToHex(r, { size: 32 }), numberToHex(isHigh ? order - s : s, { size: 32 }), recovery]);
}

const secp256k1Order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** The inverse modulo a prime, by Fermat's little theorem. */
function inverse(value: bigint, prime: bigint): bigint {
  let result = 1n;
  for (let base = value % prime, exponent = prime - 2n; exponent > 0n; exponent /= 2n) {
    if (exponent % 2n === 1n) result = (result * base) % prime;
    base = (base * base) % prime;
  }
  return result;
}

/** Returns the total size of the files in a folder, in bytes. */
async function storedBytes(folder: string): Promise<number> {
  const files = await readdir(folder);
  const sizes = await Promise.all(files.map(async (file) => (await stat(join(folder, file))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

describe("a contract that accepts every signature (ERC-1271)", () => {
  /** Answers the magic value to whatever it is called with. */
  const sayYes = "0x631626ba7e60e01b60005260206000f3";

  test("cannot make the store grow: a claim is accepted only once it is on the chain", async () => {
    const purchase = await kit.paidPurchase(merchant);
    await kit.sandbox.chain.client.setCode({ address: purchase.beneficiary, bytecode: sayYes });
    const digest = await kit.digest();
    for (const claimed of ["1", "2"]) {
      const answer = await submit(purchase, { action: "claim", signature: "0x01", amount: claimed, reason });
      expect(answer.status).toBe(422);
      expect(problem(answer)).toMatchObject({
        code: "binding_mismatch",
        detail:
          "The beneficiary has code, and the chain holds no claim of it yet. Submit the signature once it does.",
        binding: { accepted: false, checks: [{ name: "purchase", ok: false, actual: null }] },
      });
    }
    expect(await kit.digest()).toBe(digest);
  });

  test("has one signature recorded for the claim that the chain holds", async () => {
    const purchase = await kit.paidPurchase(merchant);
    const { send } = await signedClaim(purchase);
    await send();
    await kit.sandbox.chain.client.setCode({ address: purchase.beneficiary, bytecode: sayYes });
    const first = await submit(purchase, { action: "claim", signature: "0x01", amount, reason });
    expect(first.status, first.text).toBe(200);
    const digest = await kit.digest();
    const second = await submit(purchase, { action: "claim", signature: "0x02", amount, reason });
    expect([second.status, second.text]).toEqual([200, first.text]);
    const other = await submit(purchase, { action: "claim", signature: "0x03", amount: "7", reason });
    expect(problem(other)).toMatchObject({
      code: "binding_mismatch",
      detail: "The chain holds another claim of this purchase. Submit the amount and the reason of that one.",
    });
    expect(await kit.digest()).toBe(digest);
  });
});

describe("a claim", () => {
  const complete = (evidence: object) => ({ action: "claim", amount, reason, ...evidence });

  test("keeps its amount and reason, shows them, and is filed by POST …/claims with {}", async () => {
    const purchase = await kit.paidPurchase(merchant);
    const { signature, send, sign } = await signedClaim(purchase);
    const transaction_hash = await send();
    const { submission } = await accepted(submit(purchase, complete({ signature, transaction_hash })));
    expect(submission).toMatchObject({ action: "claim", signature, transaction_hash, amount, reason });
    expect(await submissionsOf(purchase)).toEqual([submission]);
    const filed = await kit.post(kit.path(`/purchases/${purchase.id}/claims`), {});
    expect(filed.status, filed.text).toBe(201);
    expect(JSON.parse(filed.text)).toMatchObject({
      requested_amount: amount,
      reason,
      signature,
      transaction_hash,
      claim_hash: sign.digest,
    });
  });

  test.each(["signature first", "transaction first"])(
    "comes in two parts, the %s, and the second keeps what the first gave",
    async (order) => {
      const purchase = await kit.paidPurchase(merchant);
      const { signature, send } = await signedClaim(purchase);
      const transaction_hash = await send();
      const parts = [{ signature }, { transaction_hash }];
      const [first, second] = order === "signature first" ? parts : parts.toReversed();
      await accepted(submit(purchase, complete({ ...first })));
      const { submission } = await accepted(submit(purchase, { action: "claim", ...second }));
      expect(submission).toMatchObject({ signature, transaction_hash, amount, reason });
      expect(await submissionsOf(purchase)).toEqual([submission]);
      expect((await kit.post(kit.path(`/purchases/${purchase.id}/claims`), {})).status).toBe(201);
    },
  );

  test("of another amount or reason keeps nothing of the one before", async () => {
    const purchase = await kit.paidPurchase(merchant);
    const first = await signedClaim(purchase);
    await accepted(submit(purchase, complete({ signature: first.signature })));
    const other = { amount: "7", reason: "Never arrived." };
    const transaction_hash = await (await signedClaim(purchase, other)).send();
    const { submission } = await accepted(submit(purchase, { action: "claim", ...other, transaction_hash }));
    expect(submission).toMatchObject({ ...other, transaction_hash, signature: null });
  });

  test("that is on the chain is filed, even if the wallet has signed another claim before and after", async () => {
    const purchase = await kit.paidPurchase(merchant);
    const other = { amount: "7", reason: "Never arrived." };
    const unused = await signedClaim(purchase, other);
    await accepted(submit(purchase, { action: "claim", ...other, signature: unused.signature }));
    const { signature, send } = await signedClaim(purchase);
    await accepted(submit(purchase, complete({ signature, transaction_hash: await send() })));
    const third = { amount: "8", reason };
    const late = await submit(purchase, { action: "claim", ...third, signature: unused.signature });
    expect(problem(late).code).toBe("binding_mismatch");
    const filed = await kit.post(kit.path(`/purchases/${purchase.id}/claims`), {});
    expect(JSON.parse(filed.text)).toMatchObject({ requested_amount: amount, reason, signature });
  });

  test("that is on the chain is filed, even if it was signed before another claim; until then the newest claim counts", async () => {
    const purchase = await kit.paidPurchase(merchant);
    const older = await signedClaim(purchase);
    const said = { amount: "7", reason: "Never arrived." };
    const newer = await signedClaim(purchase, said);
    await accepted(submit(purchase, complete({ signature: older.signature })));
    const { submission } = await accepted(
      submit(purchase, { action: "claim", ...said, signature: newer.signature }),
    );
    const { private_key } = kit.sandbox.description.wallets["beneficiary"] ?? { private_key: "0x" };
    const another = signWithNonce(newer.sign.digest, private_key, 7n);
    expect((await accepted(submit(purchase, { action: "claim", signature: another }))).submission).toEqual(
      submission,
    );
    const transaction_hash = await older.send();
    const filed = await kit.post(kit.path(`/purchases/${purchase.id}/claims`), { transaction_hash });
    expect(filed.status, filed.text).toBe(201);
    const { signature } = older;
    expect(JSON.parse(filed.text)).toMatchObject({
      requested_amount: amount,
      reason,
      signature,
      transaction_hash,
    });
  });

  test("without amount or reason, here and before, names what is missing", async () => {
    const purchase = await kit.paidPurchase(merchant);
    const { signature } = await signedClaim(purchase);
    const detail = "is missing; send what the signed claim says";
    const answer = await submit(purchase, { action: "claim", signature });
    expect(answer.status).toBe(422);
    expect(problem(answer)).toMatchObject({
      code: "validation_failed",
      errors: ["/amount", "/reason"].map((pointer) => ({ pointer, code: "missing", detail })),
    });
    const nothing = await submit(purchase, { action: "claim", amount, reason });
    expect(problem(nothing).errors).toMatchObject([{ pointer: "/transaction_hash", code: "missing" }]);
    const filed = await kit.post(kit.path(`/purchases/${purchase.id}/claims`), {});
    expect(filed.status).toBe(422);
    expect(problem(filed)).toMatchObject({
      code: "validation_failed",
      errors: ["/requested_amount", "/reason", "/signature", "/transaction_hash"].map((pointer) => ({
        pointer,
        code: "missing",
        detail: "is missing; send it, or submit the action claim over the wallet route",
      })),
    });
  });

  test("of more than is reconciled is refused, here as in POST …/claims, and one of all that is reconciled is taken", async () => {
    const purchase = await kit.activePurchase(merchant);
    await kit.act("buyer", "purchase", purchase.id, "approve");
    await kit.act("buyer", "purchase", purchase.id, "pay", { amount: "9000000" });
    await kit.reconcile(purchase);
    const detail = "must be at most 9000000, which is what is reconciled";
    const answer = await submit(purchase, { ...complete({ signature: "0x00" }), amount: "9000001" });
    expect(problem(answer)).toMatchObject({
      status: 422,
      code: "validation_failed",
      detail: `/amount ${detail}`,
      errors: [{ pointer: "/amount", code: "above_paid", detail }],
    });
    const body = { requested_amount: "9000001", reason, signature: "0x00", transaction_hash: hashOfNothing };
    const filed = await kit.post(kit.path(`/purchases/${purchase.id}/claims`), body);
    expect(problem(filed)).toMatchObject({
      status: 422,
      code: "validation_failed",
      detail: `/requested_amount ${detail}`,
      errors: [{ pointer: "/requested_amount", code: "above_paid", detail }],
    });
    const all = { amount: "9000000", reason };
    const { signature, send } = await signedClaim(purchase, all);
    await accepted(submit(purchase, { action: "claim", ...all, signature }));
    const transaction_hash = await send();
    const claim = await kit.post(kit.path(`/purchases/${purchase.id}/claims`), { transaction_hash });
    expect(claim.status, claim.text).toBe(201);
    expect(JSON.parse(claim.text)).toMatchObject({ requested_amount: "9000000", signature });
  });
});

test("an event of a submission names the object, the action and the transaction", async () => {
  const purchase = await kit.activePurchase(merchant);
  const transaction_hash = await kit.act("buyer", "purchase", purchase.id, "approve");
  const { event_id } = await accepted(submit(purchase, { action: "approve", transaction_hash }));
  const event = (await kit.sandbox.store.get("events", event_id))?.value;
  expect(event?.type).toBe("wallet.submitted");
  expect(JSON.parse(event?.body ?? "{}").data).toEqual({
    subject: { type: "purchase", id: purchase.id },
    action: "approve",
    transaction_hash,
  });
});

test("an enrollment is submitted in two parts, and POST …/enrollment uses both", async () => {
  const pending = await kit.createMerchant("1000", "other_merchant");
  const { body } = await kit.sandbox.wallets.other_merchant.enroll(pending);
  await accepted(submit(pending, { action: "enroll", signature: body.signature }));
  const { submission } = await accepted(
    submit(pending, { action: "enroll", transaction_hash: body.transaction_hash }),
  );
  expect(submission).toMatchObject({ ...body, amount: null, reason: null });
  expect(await submissionsOf(pending)).toEqual([submission]);
  const confirmed = await kit.post(kit.path(`/merchants/${pending.id}/enrollment`), {});
  expect(JSON.parse(confirmed.text)).toMatchObject({ status: "enrolled" });
});

describe("a submission must match the chain", () => {
  /** Evidence of every action of a purchase, with the amount and the reason that it says. */
  async function evidence() {
    const purchase = await kit.paidPurchase(merchant);
    const [approval, payment] = await sentBy("buyer");
    const { signature, send } = await signedClaim(purchase);
    const claim = { signature, transaction_hash: await send(), amount, reason };
    return {
      purchase,
      approve: { transaction_hash: approval, amount: "25000000" },
      pay: { transaction_hash: payment, amount: "25000000" },
      claim,
    };
  }

  /** The newest two transactions of a wallet, the older one first. */
  async function sentBy(name: string): Promise<Hex[]> {
    const { client } = kit.sandbox.chain;
    const from = kit.wallet(name).address.toLowerCase();
    const found: Hex[] = [];
    for (let number = await client.getBlockNumber(); found.length < 2; number -= 1n) {
      const { transactions } = await client.getBlock({ blockNumber: number, includeTransactions: true });
      for (const one of transactions) if (one.from === from) found.unshift(one.hash);
    }
    return found;
  }

  test("to be accepted, with or without the amount", async () => {
    const { purchase, approve, pay } = await evidence();
    for (const [action, { transaction_hash }] of Object.entries({ approve, pay })) {
      const { submission } = await accepted(submit(purchase, { action, transaction_hash }));
      expect(submission).toMatchObject({ action, transaction_hash, amount: "25000000", reason: null });
      await accepted(submit(purchase, { action, transaction_hash, amount: "25000000" }));
    }
  });

  test.each(["approve", "pay", "claim"] as const)("the amount of %s", async (action) => {
    const given = await evidence();
    for (const recorded of [false, true]) {
      if (recorded) await accepted(submit(given.purchase, { action, ...given[action] }));
      const digest = await kit.digest();
      const { signature: _, ...sent } = { signature: null, ...given[action] };
      const answer = await submit(given.purchase, { action, ...sent, amount: "7" });
      expect(answer.status, answer.text).toBe(422);
      const { code, binding } = problem(answer);
      expect(code).toBe("binding_mismatch");
      const failed = binding?.checks.filter(({ ok }) => !ok).map(({ name }) => name);
      expect(failed).toEqual(["calldata", "log"]);
      expect(await kit.digest()).toBe(digest);
    }
  });

  test("the reason of a claim", async () => {
    const { purchase, claim } = await evidence();
    for (const recorded of [false, true]) {
      if (recorded) await accepted(submit(purchase, { action: "claim", ...claim }));
      const digest = await kit.digest();
      const sent = { action: "claim", ...claim, reason: "Never arrived." };
      expect(problem(await submit(purchase, sent)).code).toBe("binding_mismatch");
      const { transaction_hash: _, ...signed } = sent;
      expect(problem(await submit(purchase, signed)).code).toBe("binding_mismatch");
      expect(await kit.digest()).toBe(digest);
    }
  });

  test("a payment of several purchases, by what it pays for this one", async () => {
    const [first, second] = [await kit.activePurchase(merchant), await kit.activePurchase(merchant)];
    const { buyer } = kit.sandbox.wallets;
    await buyer.approve(first, 1000n);
    const { transaction_hash } = await buyer.payBatch([
      { purchase: first, amount: 7n },
      { purchase: second, amount: 11n },
    ]);
    const pay = async (purchase: Purchase, paid: string) =>
      await submit(purchase, { action: "pay", transaction_hash, amount: paid });
    expect(problem(await pay(first, "18")).code).toBe("binding_mismatch");
    expect((await accepted(pay(first, "7"))).submission.amount).toBe("7");
    expect((await accepted(pay(second, "11"))).submission.amount).toBe("11");
  });
});

describe("a field that an action does not use is refused", () => {
  const fields = { transaction_hash: hashOfNothing, signature: "0x00", amount: "7", reason };
  const uses: { readonly [action: string]: string[] } = {
    enroll: ["transaction_hash", "signature"],
    fund: ["transaction_hash"],
    register: ["transaction_hash"],
    approve: ["transaction_hash", "amount"],
    pay: ["transaction_hash", "amount"],
    claim: ["transaction_hash", "signature", "amount", "reason"],
  };

  test.each(Object.entries(uses))("by %s, which uses %j", async (action, used) => {
    const isMerchants = action === "enroll" || action === "fund";
    const object = isMerchants ? merchant : await kit.createPurchase(merchant);
    const { amount: _amount, reason: _reason, ...evidence } = fields;
    const given = isMerchants ? evidence : fields;
    const digest = await kit.digest();
    const answer = await submit(object, { action, ...given });
    const unused = Object.keys(given).filter((field) => !used.includes(field));
    if (unused.length === 0) expect(problem(answer).code).not.toBe("validation_failed");
    else
      expect(problem(answer)).toMatchObject({
        status: 422,
        code: "validation_failed",
        errors: unused.map((field) => ({ pointer: `/${field}`, code: "unknown_field" })),
      });
    expect(await kit.digest()).toBe(digest);
  });

  test("by a merchant's wallet, which has no amount and no reason", async () => {
    const { errors } = problem(await submit(merchant, { action: "enroll", ...fields }));
    expect(errors).toMatchObject([
      { pointer: "/amount", code: "unknown_field" },
      { pointer: "/reason", code: "unknown_field" },
    ]);
  });

  test("as an action of the other route is", async () => {
    const refused = problem(await submit(merchant, { action: "pay", transaction_hash: hashOfNothing }));
    expect(refused.errors).toMatchObject([{ pointer: "/action", code: "invalid_value" }]);
    const purchase = await kit.createPurchase(merchant);
    const other = problem(await submit(purchase, { action: "fund", transaction_hash: hashOfNothing }));
    expect(other.errors).toMatchObject([{ pointer: "/action", code: "invalid_value" }]);
  });

  test.each(["fund", "register", "approve", "pay"])("as %s without a transaction is", async (action) => {
    const object = action === "fund" ? merchant : await kit.createPurchase(merchant);
    const { code, errors } = problem(await submit(object, { action }));
    expect(code).toBe("validation_failed");
    expect(errors).toMatchObject([{ pointer: "/transaction_hash" }]);
  });
});

describe("a wallet route refuses with the code of the program operation", () => {
  test("an enrollment of a merchant that is enrolled", async () => {
    const { transaction_hash } = merchant.enrollment.confirmed ?? {};
    const answer = await submit(merchant, { action: "enroll", transaction_hash });
    expect(problem(answer)).toMatchObject({ code: "state_conflict", current_state: "enrolled", allowed: [] });
  });

  test("a registration of a purchase that is active, or that the relayer has offered", async () => {
    const active = await kit.activePurchase(merchant);
    const body = { action: "register", transaction_hash: hashOfNothing };
    expect(problem(await submit(active, body))).toMatchObject({
      code: "state_conflict",
      current_state: "active",
      allowed: ["reconcile"],
    });
    const offered = await kit.createPurchase(merchant);
    await kit.sandbox.faults.set({ layer: "relayer", point: "after_broadcast", action: "hold" });
    const commitment_hash = offered.commitment.hash;
    await kit.post(kit.path(`/purchases/${offered.id}/activate`), { commitment_hash });
    expect(problem(await submit(offered, body))).toMatchObject({
      code: "state_conflict",
      allowed: ["activate"],
    });
  });

  test("a payment of a purchase whose registration is not confirmed", async () => {
    const purchase = await kit.createPurchase(merchant);
    await kit.act("merchant", "purchase", purchase.id, "register");
    const { buyer } = kit.sandbox.wallets;
    await buyer.approve(purchase);
    const { transaction_hash } = await buyer.pay(purchase);
    expect(problem(await submit(purchase, { action: "pay", transaction_hash }))).toMatchObject({
      code: "state_conflict",
      current_state: "created",
      allowed: ["registration"],
    });
  });

  test("a claim on payments that a reorg has removed", async () => {
    const purchase = await kit.paidPurchase(merchant);
    const { signature } = await signedClaim(purchase);
    await kit.reorg(1);
    expect(problem(await submit(purchase, { action: "claim", signature, amount, reason }))).toMatchObject({
      code: "state_conflict",
      allowed: ["reconcile"],
      reverted: [{ amount: "25000000" }],
    });
  });

  test("a claim before reconciliation, or after a claim", async () => {
    const unreconciled = await kit.activePurchase(merchant);
    await kit.pay(unreconciled);
    const body = { action: "claim", amount, reason, signature: "0x00" };
    expect(problem(await submit(unreconciled, body))).toMatchObject({
      code: "state_conflict",
      allowed: ["reconcile"],
    });
    const claimed = await kit.paidPurchase(merchant);
    await kit.claim(claimed);
    expect(problem(await submit(claimed, body))).toMatchObject({
      code: "state_conflict",
      allowed: ["reconcile", "decisions"],
    });
  });
});

describe("a wallet route refuses and does not store", () => {
  test.each([
    ["a hash of nothing", { transaction_hash: hashOfNothing }, "transaction_not_found"],
    ["a signature of no key", { signature: "0x00", amount, reason }, "signature_invalid"],
    ["no evidence at all", {}, "validation_failed"],
  ])("%s", async (_, evidence, code) => {
    const purchase = await kit.paidPurchase(merchant);
    const digest = await kit.digest();
    const answer = await submit(purchase, { action: "claim", amount, reason, ...evidence });
    expect(problem(answer).code).toBe(code);
    expect(await kit.digest()).toBe(digest);
  });

  test("a signature of another account", async () => {
    const purchase = await kit.paidPurchase(merchant);
    const { sign } = await signedClaim(purchase);
    const signature = await kit.wallet("stranger").signTypedData(sign.typed_data);
    const digest = await kit.digest();
    const answer = await submit(purchase, { action: "claim", amount, reason, signature });
    expect(problem(answer).code).toBe("signer_mismatch");
    expect(await kit.digest()).toBe(digest);
  });

  test("an enrollment's signature of another account", async () => {
    const pending = await kit.createMerchant("1000", "other_merchant");
    const signature = await kit.wallet("stranger").signMessage(pending.enrollment.message);
    const digest = await kit.digest();
    const answer = await submit(pending, { action: "enroll", signature });
    expect(answer.status, answer.text).toBe(422);
    const { wallet } = pending;
    const signer = kit.wallet("stranger").address;
    expect(problem(answer)).toMatchObject({
      code: "signer_mismatch",
      detail: `The signature recovers to ${signer}, not to ${wallet}: another account signed, or the signed data is not that of this step. Sign exactly the data of this step with ${wallet}.`,
      errors: [{ pointer: "/signature", code: "signature", detail: `must be by ${wallet}` }],
      expected_signer: wallet,
      actual_signer: signer,
    });
    expect(await kit.digest()).toBe(digest);
  });

  test("a transaction of another account", async () => {
    const purchase = await kit.activePurchase(merchant);
    const { transaction } = await kit.action("purchase", purchase.id, "approve");
    if (transaction === undefined) throw new Error("An approval must be offered.");
    const { transaction_hash: transactionHash } = await kit.wallet("stranger").send(transaction);
    const digest = await kit.digest();
    const answer = await submit(purchase, { action: "approve", transaction_hash: transactionHash });
    expect(problem(answer).code).toBe("binding_mismatch");
    expect(await kit.digest()).toBe(digest);
  });
});
