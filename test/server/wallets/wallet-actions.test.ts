import { encodeFunctionData } from "viem";
import { describe, expect, test } from "vitest";
import { testUsdcAbi } from "../../../protocol/abi.generated.ts";
import { approveCall } from "../../../protocol/call.ts";
import type { SentTransaction } from "../../../sandbox/wallets/wallet.ts";
import { present, type Schema } from "../../kit/answer.ts";
import { resetBeforeEach } from "../../kit/reset-before-each.ts";
import { TestKit } from "../../kit/test-kit.ts";

type Merchant = Schema<"Merchant">;
type Purchase = Schema<"Purchase">;
type Action = Schema<"Wallet">["actions"][number];

let kit: TestKit;
let merchant: Merchant;

resetBeforeEach(async () => {
  kit = await TestKit.shared();
  merchant = await kit.enrolledMerchant();
  return kit;
});

async function actionsOf(type: "merchant" | "purchase", id: string, query = ""): Promise<Action[]> {
  const answer = await kit.raw(`/wallet/${kit.program}/${type}/${id}${query}`);
  expect(answer.status, answer.text).toBe(200);
  return present<Schema<"Wallet">>({ data: JSON.parse(answer.text) }).actions;
}

async function operate(purchase: Purchase, below: string, body: unknown): Promise<boolean> {
  return (await kit.post(kit.path(`/purchases/${purchase.id}/${below}`), body)).status < 400;
}

async function holdOffer(): Promise<void> {
  await kit.sandbox.faults.set({ layer: "relayer", point: "after_broadcast", action: "hold" });
}

const registered = async () => {
  const purchase = await kit.createPurchase(merchant);
  await kit.act("merchant", "purchase", purchase.id, "register");
  return purchase;
};
const active = async () => await kit.activePurchase(merchant);
const paid = async () => await kit.paidPurchase(merchant);

async function travelled(given: () => Promise<Purchase>, to: (purchase: Purchase) => number) {
  const purchase = await given();
  await kit.sandbox.clock.travelTo(to(purchase));
  return purchase;
}

/** Every state that decides what the wallets of a purchase can do, and which of it they can. */
const states: readonly (readonly [state: string, given: () => Promise<Purchase>, can: Action["name"][]])[] = [
  ["is created", async () => await kit.createPurchase(merchant), ["register"]],
  [
    "is created, and the next block is the last one in time",
    async () =>
      await travelled(
        async () => await kit.createPurchase(merchant),
        (one) => one.deadlines.offer_deadline - 1,
      ),
    ["register"],
  ],
  [
    "is created, and the next block is too late",
    async () =>
      await travelled(
        async () => await kit.createPurchase(merchant),
        (one) => one.deadlines.offer_deadline,
      ),
    [],
  ],
  ["is registered on chain, but not confirmed", registered, ["approve"]],
  [
    "is registered and confirmed",
    async () => {
      const purchase = await kit.createPurchase(merchant);
      const transaction_hash = await kit.act("merchant", "purchase", purchase.id, "register");
      await operate(purchase, "registration", { transaction_hash });
      return purchase;
    },
    ["approve", "pay_with_permit"],
  ],
  [
    "is offered on chain by the relayer, but not confirmed",
    async () => {
      const purchase = await kit.createPurchase(merchant);
      await holdOffer();
      await operate(purchase, "activate", { commitment_hash: purchase.commitment.hash });
      return purchase;
    },
    ["approve"],
  ],
  ["is active", active, ["approve", "pay_with_permit"]],
  [
    "is active and approved",
    async () => {
      const purchase = await active();
      await kit.sandbox.wallets.buyer.approve(purchase);
      return purchase;
    },
    ["pay", "pay_with_permit"],
  ],
  [
    "is active and approved, and the next block is too late to pay",
    async () =>
      await travelled(
        async () => {
          const purchase = await active();
          await kit.sandbox.wallets.buyer.approve(purchase);
          return purchase;
        },
        (one) => one.deadlines.pay_deadline,
      ),
    [],
  ],
  [
    "is approved by a buyer that has spent its tokens",
    async () => {
      const purchase = await active();
      const { buyer } = kit.sandbox.wallets;
      await buyer.approve(purchase);
      const args = [kit.wallet("stranger").address, 1_000_000_000_000n] as const;
      const data = encodeFunctionData({ abi: testUsdcAbi, functionName: "transfer", args });
      await buyer.send({ to: kit.sandbox.description.contracts.token, data });
      return purchase;
    },
    [],
  ],
  [
    "is approved in a program that is paused",
    async () => {
      const purchase = await active();
      await kit.sandbox.wallets.buyer.approve(purchase);
      await kit.sandbox.wallets.deployer.setPaused(kit.program, true);
      return purchase;
    },
    [],
  ],
  [
    "is paid, but not reconciled",
    async () => {
      const purchase = await active();
      await kit.pay(purchase);
      return purchase;
    },
    [],
  ],
  ["is paid and reconciled", paid, ["claim"]],
  [
    "is paid, and the next block is the last one to claim in",
    async () => await travelled(paid, (one) => one.deadlines.claim_deadline - 1),
    ["claim"],
  ],
  [
    "is paid, and the next block is too late to claim",
    async () => await travelled(paid, (one) => one.deadlines.claim_deadline),
    [],
  ],
  [
    "is paid twice and reconciled, and a reorg has removed one payment",
    async () => {
      const purchase = await active();
      const { buyer } = kit.sandbox.wallets;
      await buyer.approve(purchase);
      await buyer.pay(purchase, 10_000_000n);
      await buyer.pay(purchase, 15_000_000n);
      await kit.reconcile(purchase);
      await kit.reorg(1);
      return purchase;
    },
    ["pay", "pay_with_permit"],
  ],
  [
    "is claimed on chain, but not filed",
    async () => {
      const purchase = await paid();
      await kit.claimBody(purchase);
      return purchase;
    },
    [],
  ],
  [
    "is claimed",
    async () => {
      const purchase = await paid();
      await kit.claim(purchase);
      return purchase;
    },
    [],
  ],
  ["is paid in part and refunded", async () => await refunded(), []],
];

/** Paid in part, with the rest approved; its refund is collected. */
async function refunded(): Promise<Purchase> {
  const purchase = await active();
  const { buyer, merchant: seller } = kit.sandbox.wallets;
  await seller.fund(merchant);
  await buyer.approve(purchase);
  await buyer.pay(purchase, 10_000_000n);
  const { purchase: paidInPart } = await kit.reconcile(purchase);
  const decision = await kit.decide(paidInPart, await kit.claim(purchase));
  expect(await operate(purchase, "refunds", { decision_id: decision.id })).toBe(true);
  return purchase;
}

/** Performs an action regardless of `allowed`, and returns whether the transaction and the API operation succeed. */
const attempts: { readonly [name: string]: (purchase: Purchase) => Promise<boolean> } = {
  async register(purchase) {
    const sent = await kit.sandbox.wallets.merchant.register(purchase);
    const { transaction_hash } = sent;
    return succeeded(sent) && (await operate(purchase, "registration", { transaction_hash }));
  },
  async pay(purchase) {
    const now = await kit.readPurchase(purchase);
    // Without an amount the wallet sends nothing for a purchase that is paid.
    const sent = await kit.sandbox.wallets.buyer.pay(now, BigInt(now.figures.outstanding));
    const { transaction_hash } = sent;
    return (
      succeeded(sent) && (await operate(purchase, "reconcile", { transaction_hashes: [transaction_hash] }))
    );
  },
  async pay_with_permit(purchase) {
    const now = await kit.readPurchase(purchase);
    const amount = BigInt(now.figures.outstanding);
    const sent = await kit.sandbox.wallets.buyer.pay(now, { amount, permit: true });
    const { transaction_hash } = sent;
    return (
      succeeded(sent) && (await operate(purchase, "reconcile", { transaction_hashes: [transaction_hash] }))
    );
  },
  async claim(purchase) {
    const claim = { amount: 10_000_000n, reason: "Arrived broken." };
    const sent = await kit.sandbox.wallets.beneficiary.claim(purchase, claim);
    return succeeded(sent) && (await operate(purchase, "claims", sent.body));
  },
};

function succeeded({ receipt }: SentTransaction): boolean {
  return receipt.status === "success";
}

describe.each(states)("when a purchase %s", (_, given, can) => {
  test("the wallet route allows exactly what can be done", async () => {
    const purchase = await given();
    const actions = await actionsOf("purchase", purchase.id);
    expect(actions.filter(({ allowed }) => allowed).map(({ name }) => name)).toEqual(can);
    for (const { name, allowed, why_not, transaction, sign } of actions) {
      expect(why_not === null).toBe(allowed);
      // A payment with a permit needs the signature of the permit first.
      const shown = name === "pay_with_permit" ? sign : transaction;
      expect(shown !== undefined).toBe(allowed);
    }
  });

  test("an action that is allowed succeeds on chain and in its operation; one that is not fails in one of them", {
    tags: "thorough",
  }, async () => {
    const purchase = await given();
    await kit.renew();
    const now = await kit.sandbox.snapshot();
    for (const [name, attempt] of Object.entries(attempts)) {
      await now.restore();
      await kit.renew();
      const [{ allowed } = { allowed: null }] = (await actionsOf("purchase", purchase.id)).filter(
        (one) => one.name === name,
      );
      expect(await attempt(purchase), name).toBe(allowed);
    }
  });
});

describe("why_not says what fails", () => {
  async function whyNot(purchase: { id: string }, name: string, query = ""): Promise<string | null> {
    const actions = await actionsOf("purchase", purchase.id, query);
    return actions.find((action) => action.name === name)?.why_not ?? null;
  }

  test("in the operation", async () => {
    const purchase = await active();
    await kit.pay(purchase);
    expect(await whyNot(purchase, "claim")).toBe(
      "POST …/claims would refuse it: A claim needs a reconciled payment. Reconcile it with POST …/reconcile.",
    );
    await kit.reconcile(purchase);
    expect(await whyNot(purchase, "claim", "?amount=25000001&reason=late")).toBe(
      "POST …/claims would refuse it: Only 25000000 base units are reconciled.",
    );
    const unconfirmed = await registered();
    await kit.sandbox.wallets.buyer.approve(unconfirmed);
    expect(await whyNot(unconfirmed, "pay")).toBe(
      "POST …/reconcile would refuse it: The program has not confirmed this purchase yet.",
    );
  });

  test("on chain", async () => {
    const purchase = await active();
    expect(await whyNot(purchase, "pay")).toBe(
      "The transaction would revert: Nothing is approved to the registrar contract yet. Let the buyer approve the payment.",
    );
    await kit.sandbox.wallets.buyer.approve(purchase, 5n);
    expect(await whyNot(purchase, "pay", "?amount=7")).toBe(
      "The transaction would revert: Only 5 base units are approved to the registrar contract. Let the buyer approve the payment.",
    );
    expect(await whyNot(purchase, "pay", "?amount=25000001")).toBe(
      "The transaction would revert: Only 25000000 base units are outstanding.",
    );
    const unconfirmed = await kit.createPurchase(merchant);
    await holdOffer();
    await operate(unconfirmed, "activate", { commitment_hash: unconfirmed.commitment.hash });
    expect(await whyNot(unconfirmed, "register")).toBe(
      "The transaction would revert: The purchase is on chain already.",
    );
    const filed = await paid();
    await kit.claimBody(filed);
    expect(await whyNot(filed, "claim")).toBe(
      "The transaction would revert: The purchase is claimed already.",
    );
  });

  test("of an approval, which is of what is outstanding at most and not approved yet", async () => {
    const purchase = await active();
    const approval = async (amount: string) =>
      await whyNot(purchase, "approve", amount && `?amount=${amount}`);
    expect(await approval("25000000")).toBeNull();
    expect(await approval("25000001")).toBe("Only 25000000 base units are outstanding.");
    const { buyer } = kit.sandbox.wallets;
    await buyer.approve(purchase, 10_000_000n);
    expect(await approval("10000000")).toBe("10000000 base units are approved already.");
    expect(await approval("10000001")).toBeNull();
    await buyer.approve(purchase);
    expect(await approval("")).toBe("The outstanding amount is approved already.");
    await buyer.pay(purchase);
    expect(await approval("")).toBe("The purchase is fully paid.");
  });

  test("of an approval that the next block would have after the pay deadline", async () => {
    const purchase = await active();
    const { pay_deadline } = purchase.deadlines;
    await kit.sandbox.clock.travelTo(pay_deadline - 1);
    expect(await whyNot(purchase, "approve")).toBeNull();
    await kit.sandbox.clock.travelTo(pay_deadline);
    expect(await whyNot(purchase, "approve")).toBe("The pay deadline has passed.");
  });

  test("after the refund, which ends the payments", async () => {
    const purchase = await refunded();
    expect(await whyNot(purchase, "approve", "?amount=15000001")).toBe(
      "The purchase is refunded: it takes no more payments.",
    );
    const { decision } = await kit.readPurchase(purchase);
    const collected = `A refund of this purchase was collected already, under the decision hash ${decision?.decision_hash}.`;
    expect(await whyNot(purchase, "pay")).toBe(`The transaction would revert: ${collected}`);
    expect(await whyNot(purchase, "claim")).toBe(
      `The transaction would revert: ${collected} ` +
        "POST …/claims would refuse it: A purchase that is refunded does not allow claims.",
    );
  });

  test("in both", async () => {
    const purchase = await active();
    expect(await whyNot(purchase, "register")).toBe(
      "The transaction would revert: The purchase is on chain already. " +
        "POST …/registration would refuse it: A purchase that is active does not allow registration.",
    );
    const created = await kit.createPurchase(merchant);
    expect(await whyNot(created, "pay")).toBe(
      "The transaction would revert: No purchase with this id is on chain. Let the relayer offer it (POST …/activate) or its merchant register it. " +
        "POST …/reconcile would refuse it: The program has not confirmed this purchase yet.",
    );
  });
});

describe("an action without an amount is of all that can be done now:", () => {
  async function amountOf(purchase: Purchase, name: string): Promise<string | undefined> {
    return (await actionsOf("purchase", purchase.id)).find((action) => action.name === name)?.amount;
  }

  test("a payment of what is approved of what is outstanding", async () => {
    const purchase = await active();
    const { buyer } = kit.sandbox.wallets;
    await buyer.approve(purchase, 24_999_999n);
    expect(await amountOf(purchase, "pay")).toBe("24999999");
    await buyer.approve(purchase, 25_000_001n);
    expect(await amountOf(purchase, "pay")).toBe("25000000");
    await buyer.pay(purchase, 10_000_000n);
    expect(await amountOf(purchase, "pay")).toBe("15000000");
  });

  test("a claim of what is reconciled", async () => {
    const purchase = await active();
    const { buyer } = kit.sandbox.wallets;
    await buyer.approve(purchase);
    await buyer.pay(purchase, 10_000_000n);
    await kit.reconcile(purchase);
    await buyer.pay(purchase, 5_000_000n);
    const claim = (await actionsOf("purchase", purchase.id)).find(({ name }) => name === "claim");
    expect(claim).toMatchObject({ allowed: true, amount: "10000000" });
  });
});

describe("a merchant's wallet", () => {
  test("may fund until the funding source may draw what is left of the cap", async () => {
    const fund = async () => (await actionsOf("merchant", merchant.id)).find(({ name }) => name === "fund");
    const whole = {
      allowed: false,
      why_not: "The funding source may draw all that remains under the cap already.",
    };
    const { token, fundingSource } = kit.sandbox.chain.deployment;
    const allow = async (amount: bigint) =>
      await kit.wallet("merchant").send(approveCall(token.address, fundingSource.address, amount));
    const cap = BigInt(merchant.funding.cap);
    expect(await fund()).toMatchObject({ allowed: true, why_not: null });
    await allow(cap - 1n);
    expect(await fund()).toMatchObject({ allowed: true, why_not: null });
    await allow(cap);
    expect(await fund()).toMatchObject(whole);
    await refunded();
    expect(await fund()).toMatchObject(whole);
    await allow(cap - 10_000_001n);
    expect(await fund()).toMatchObject({ allowed: true, why_not: null });
  });

  async function enrollOf({ id }: Merchant): Promise<Action | undefined> {
    return (await actionsOf("merchant", id)).find(({ name }) => name === "enroll");
  }

  test("may enroll once, even before POST …/enrollment has confirmed it", async () => {
    const pending = await kit.createMerchant("1000", "other_merchant");
    expect(await enrollOf(pending)).toMatchObject({ allowed: true, why_not: null });
    const { body } = await kit.sandbox.wallets.other_merchant.enroll(pending);
    expect(await enrollOf(pending)).toMatchObject({
      allowed: false,
      why_not: "The transaction would revert: The merchant has enrolled before, and can only once.",
    });
    await kit.post(kit.path(`/merchants/${pending.id}/enrollment`), body);
    expect(await enrollOf(pending)).toMatchObject({
      allowed: false,
      why_not:
        "The transaction would revert: The merchant has enrolled before, and can only once. " +
        "POST …/enrollment would refuse it: The merchant is enrolled already.",
    });
  });

  test("that is enrolled as another merchant of the program may not enroll again", async () => {
    const first = await kit.createMerchant("1000", "other_merchant");
    const second = await kit.createMerchant("1000", "other_merchant");
    await kit.sandbox.wallets.other_merchant.enroll(first);
    expect(await enrollOf(second)).toMatchObject({
      allowed: false,
      why_not:
        "The transaction would revert: The wallet is enrolled in the program already. Let the wallet revoke that enrollment.",
    });
    await kit.sandbox.wallets.other_merchant.revokeFunding(first);
    expect(await enrollOf(second)).toMatchObject({ allowed: true });
  });

  test("may not enroll once its funding authorization has ended", async () => {
    const now = await kit.sandbox.clock.now();
    const pending = present(
      await kit.api.POST("/v1/routing/programs/{program}/merchants", {
        params: kit.write(),
        body: {
          wallet: kit.wallet("other_merchant").address,
          name: "Night Market",
          funding_cap: "1000",
          funding_valid_until: now + 100,
        },
      }),
    );
    await kit.sandbox.clock.travelTo(now + 99);
    expect(await enrollOf(pending)).toMatchObject({ allowed: true });
    await kit.sandbox.clock.travelTo(now + 100);
    expect(await enrollOf(pending)).toMatchObject({ allowed: false });
  });
});

test("with a clock that runs, too, an action is allowed until the next block is too late", async () => {
  await using live = await TestKit.open({ seed: "live wallet actions", mode: "live" });
  const purchase = await live.createPurchase(await live.enrolledMerchant());
  await live.sandbox.clock.travelTo(purchase.deadlines.offer_deadline - 3600);
  expect(await live.action("purchase", purchase.id, "register")).toMatchObject({ allowed: true });
  await live.sandbox.clock.travelTo(purchase.deadlines.offer_deadline + 1);
  expect(await live.action("purchase", purchase.id, "register")).toMatchObject({ allowed: false });
});

test("a wallet with code is offered nothing, because no operation accepts what it does", async () => {
  const purchase = await kit.createPurchase(merchant);
  await kit.sandbox.chain.client.setCode({ address: merchant.wallet, bytecode: "0x00" });
  const [register] = await actionsOf("purchase", purchase.id);
  expect(register).toMatchObject({
    name: "register",
    allowed: false,
    why_not:
      "POST …/registration would refuse it: The bound wallet is a contract. Only an account with a key of its own can send the transaction.",
  });
});

test("an action names the amount and the reason that its bytes say", async () => {
  const purchase = await paid();
  const [claim] = (await actionsOf("purchase", purchase.id)).filter(({ name }) => name === "claim");
  expect(claim).toMatchObject({ amount: "25000000", reason: "No reason given." });
  const query = "?amount=10000000&reason=Arrived%20broken.";
  const [chosen] = (await actionsOf("purchase", purchase.id, query)).filter(({ name }) => name === "claim");
  expect(chosen).toMatchObject({ amount: "10000000", reason: "Arrived broken." });
  if (claim?.transaction === undefined || claim.sign?.method !== "eth_signTypedData_v4")
    throw new Error("A claim must be offered.");
  const wallet = kit.wallet("beneficiary");
  const filed = await kit.post(kit.path(`/purchases/${purchase.id}/claims`), {
    transaction_hash: (await wallet.send(claim.transaction)).transaction_hash,
    signature: await wallet.signTypedData(claim.sign.typed_data),
    requested_amount: claim.amount,
    reason: claim.reason,
  });
  expect(filed.status, filed.text).toBe(201);
});
