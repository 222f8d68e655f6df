import { encodeFunctionData } from "viem";
import { purchaseRegistrarAbi, testUsdcAbi } from "../../protocol/abi.generated.ts";
import { signDecision } from "../../protocol/signatures/decision.ts";
import { usdc } from "../../protocol/values/amount.ts";
import { hashId } from "../../protocol/values/id.ts";
import { decisionSchema } from "../../server/schemas/refunds.ts";
import { attacksOf, refused } from "../attack.ts";
import type { ContractFixture } from "../fixture/contract-fixture.ts";
import type { FixtureMerchant, FixturePurchase } from "../fixture/fixture-service.ts";

interface Awarded {
  merchant: FixtureMerchant;
  purchase: FixturePurchase;
  decisionId: string;
}

const award = 10n * usdc;

/** Two approved claims of 10 USDC each against one funding of 15. */
async function awardTwice(fixture: ContractFixture): Promise<[Awarded, Awarded]> {
  const merchant = await fixture.enrolledMerchant("other_merchant", 15n * usdc);
  const approve = async (sku: string): Promise<Awarded> => {
    const amount = (12n * usdc).toString();
    const purchase = await fixture.createPurchase({ merchant_id: merchant.id, amount, terms: { sku } });
    await fixture.activate(purchase);
    const claim = await fixture.claimed(purchase);
    const statement = { ...(await fixture.statement(claim, purchase)), award: award.toString() };
    const answer = await fixture.decide(statement, signDecision(fixture.reviewerKey, statement));
    const { id } = decisionSchema.parse(fixture.expectAccepted(answer).body);
    return { merchant, purchase, decisionId: id };
  };
  return [await approve("first"), await approve("second")];
}

/**
 * Checks the state after a refund that lost the race: the award is still due, its reservation is given back, and its
 * key is kept for repeats, because its transaction was mined.
 */
async function expectNothingHalfDone(
  fixture: ContractFixture,
  { merchant, purchase }: Awarded,
  key: string,
): Promise<void> {
  const { store, relayer } = fixture.sandbox;
  const { collected } = await fixture.client.readContract({
    address: fixture.contracts.registrar,
    abi: purchaseRegistrarAbi,
    functionName: "funding",
    args: [hashId(purchase.program), hashId(merchant.id)],
  });
  const kept = (await store.get("purchases", purchase.id))?.value;
  const refund = (await store.get("refunds", kept?.refund_id ?? ""))?.value;
  const open = (await store.list("idempotency", {})).filter(({ value }) => value.state !== "done");
  const { reserved_wei } = await relayer.budget(purchase.program);
  expectSame(
    "The state afterwards",
    [collected.toString(), kept?.status, refund?.status, open.map((held) => held.key), reserved_wei],
    [award.toString(), "refund_due", "due", [`${purchase.program}\n${key}`], "0"],
  );
}

function expectSame(what: string, actual: readonly unknown[], expected: readonly unknown[]): void {
  const [seen, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (seen !== wanted) throw new Error(`${what}: ${seen}; ${wanted} was expected.`);
}

/** Attacks by the money. */
export const tokenAttacks = attacksOf("token", [
  {
    name: "a payment while the token is paused",
    stopped: refused(422, "transaction_reverted", "status", "log"),
    async run(fixture) {
      const data = encodeFunctionData({ abi: testUsdcAbi, functionName: "pause" });
      await fixture.succeed("deployer", { to: fixture.contracts.token, data });
      return await fixture.reconcile(fixture.purchase, [
        await fixture.send("buyer", fixture.pay(fixture.purchase)),
      ]);
    },
  },
  {
    name: "a payment to a blocked merchant",
    stopped: refused(422, "transaction_reverted", "status", "log"),
    async run(fixture) {
      const data = encodeFunctionData({
        abi: testUsdcAbi,
        functionName: "blacklist",
        args: [fixture.address("merchant")],
      });
      await fixture.succeed("deployer", { to: fixture.contracts.token, data });
      return await fixture.reconcile(fixture.purchase, [
        await fixture.send("buyer", fixture.pay(fixture.purchase)),
      ]);
    },
  },
  {
    name: "an overpayment in two payments",
    stopped: refused(422, "transaction_reverted", "status", "log"),
    async run(fixture) {
      const first = await fixture.succeed("buyer", fixture.pay(fixture.purchase, 20n * usdc));
      const second = await fixture.send("buyer", fixture.pay(fixture.purchase, 6n * usdc));
      return await fixture.reconcile(fixture.purchase, [first, second]);
    },
  },
  {
    name: "a refund with only an allowance for payments",
    stopped: refused(409, "funding_source_insufficient"),
    async run(fixture) {
      const { id } = await fixture.decided();
      await fixture.succeed("merchant", fixture.approve(0n, fixture.contracts.funding_source));
      await fixture.succeed("merchant", fixture.approve(500n * usdc, fixture.contracts.registrar));
      return await fixture.refund(id);
    },
  },
  {
    name: "a refund above the remaining cap",
    stopped: refused(409, "funding_source_insufficient"),
    async run(fixture) {
      const [first, second] = await awardTwice(fixture);
      fixture.expectAccepted(await fixture.refund(first.decisionId, first.purchase));
      return await fixture.refund(second.decisionId, second.purchase);
    },
  },
  {
    name: "two concurrent refunds above one cap: only one is collected",
    stopped: refused(409, "funding_source_insufficient"),
    async run(fixture) {
      const both = await awardTwice(fixture);
      const operator = fixture.address("operator");
      const sent = await fixture.client.getTransactionCount({ address: operator });
      await fixture.client.setAutomine(false);
      const racing = both.map(
        async ({ decisionId, purchase }, index) =>
          await fixture.refund(decisionId, purchase, `racing-refund-${index}`),
      );
      // Both have passed every look at the cap before either of them is mined.
      await fixture.untilPending("operator", sent + 2).finally(async () => {
        // The requests end also when one of them sends nothing: until then, the sandbox cannot be restored.
        await fixture.client.mine({ blocks: 1 });
        await fixture.client.setAutomine(true);
        await Promise.allSettled(racing);
      });
      const answers = await Promise.all(racing);
      expectSame("The responses", answers.map(({ status, code }) => code ?? status).toSorted(), [
        201,
        "funding_source_insufficient",
      ]);
      const index = answers.findIndex(({ status }) => status !== 201);
      const loser = both[index];
      if (loser === undefined) throw new Error("One of the refunds was refused.");
      const key = `racing-refund-${index}`;
      await expectNothingHalfDone(fixture, loser, key);
      return await fixture.refund(loser.decisionId, loser.purchase, key);
    },
  },
  {
    name: "a refund from an empty wallet",
    stopped: refused(409, "funding_source_insufficient"),
    async run(fixture) {
      const { id } = await fixture.decided();
      const balance = await fixture.client.readContract({
        address: fixture.contracts.token,
        abi: testUsdcAbi,
        functionName: "balanceOf",
        args: [fixture.address("merchant")],
      });
      const data = encodeFunctionData({
        abi: testUsdcAbi,
        functionName: "transfer",
        args: [fixture.address("stranger"), balance],
      });
      await fixture.succeed("merchant", { to: fixture.contracts.token, data });
      return await fixture.refund(id);
    },
  },
]);
