import { encodeFunctionData } from "viem";
import { purchaseRegistrarAbi, testUsdcAbi } from "../../protocol/abi.generated.ts";
import { usdc } from "../../protocol/amount.ts";
import { signDecision } from "../../protocol/decision.ts";
import { hashId } from "../../protocol/id.ts";
import { decisionSchema } from "../../server/schemas/decision.ts";
import { type Attack, refused } from "../attack.ts";
import type { Stage } from "../stage/stage.ts";
import type { StagedMerchant, StagedPurchase } from "../stage/staged-service.ts";

interface Awarded {
  merchant: StagedMerchant;
  purchase: StagedPurchase;
  decisionId: string;
}

const award = 10n * usdc;

/** Two approved claims of 10 USDC each against one funding of 15. */
async function awardTwice(stage: Stage): Promise<[Awarded, Awarded]> {
  const merchant = await stage.enrolledMerchant("other_merchant", 15n * usdc);
  const approve = async (sku: string): Promise<Awarded> => {
    const amount = (12n * usdc).toString();
    const purchase = await stage.createPurchase({ merchant_id: merchant.id, amount, terms: { sku } });
    await stage.activate(purchase);
    const claim = await stage.claimed(purchase);
    const statement = { ...(await stage.statement(claim, purchase)), award: award.toString() };
    const answer = await stage.decide(statement, signDecision(stage.reviewerKey, statement));
    const { id } = decisionSchema.parse(stage.expectAccepted(answer).body);
    return { merchant, purchase, decisionId: id };
  };
  return [await approve("first"), await approve("second")];
}

/**
 * What a refund that lost the race leaves behind: its purchase as it was, its reservation given back, and its key for its repeats,
 * because its transaction was mined.
 */
async function expectNothingHalfDone(
  stage: Stage,
  { merchant, purchase }: Awarded,
  key: string,
): Promise<void> {
  const { store, relayer } = stage.sandbox;
  const { collected } = await stage.client.readContract({
    address: stage.contracts.registrar,
    abi: purchaseRegistrarAbi,
    functionName: "funding",
    args: [hashId(purchase.program), hashId(merchant.id)],
  });
  const kept = (await store.get("purchases", purchase.id))?.value;
  const open = (await store.list("idempotency", {})).filter(({ value }) => value.state !== "done");
  const { reserved_wei } = await relayer.budget(purchase.program);
  expectSame(
    "What is left",
    [collected.toString(), kept?.status, kept?.refund_id, open.map((held) => held.key), reserved_wei],
    [award.toString(), "approved", null, [`${purchase.program}\n${key}`], "0"],
  );
}

function expectSame(what: string, actual: readonly unknown[], expected: readonly unknown[]): void {
  const [seen, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (seen !== wanted) throw new Error(`${what}: ${seen}; ${wanted} was expected.`);
}

/** Attacks by the money. */
export const tokenAttacks: readonly Attack[] = [
  {
    family: "token",
    name: "a token that is paused before the payment",
    stopped: refused(422, "transaction_reverted", "status", "log"),
    async run(stage) {
      const data = encodeFunctionData({ abi: testUsdcAbi, functionName: "pause" });
      await stage.succeed("deployer", { to: stage.contracts.token, data });
      return await stage.reconcile(stage.purchase, [await stage.send("buyer", stage.pay(stage.purchase))]);
    },
  },
  {
    family: "token",
    name: "a merchant that is blocked before the payment",
    stopped: refused(422, "transaction_reverted", "status", "log"),
    async run(stage) {
      const data = encodeFunctionData({
        abi: testUsdcAbi,
        functionName: "blacklist",
        args: [stage.address("merchant")],
      });
      await stage.succeed("deployer", { to: stage.contracts.token, data });
      return await stage.reconcile(stage.purchase, [await stage.send("buyer", stage.pay(stage.purchase))]);
    },
  },
  {
    family: "token",
    name: "an overpayment in two parts",
    stopped: refused(422, "transaction_reverted", "status", "log"),
    async run(stage) {
      const first = await stage.succeed("buyer", stage.pay(stage.purchase, 20n * usdc));
      const second = await stage.send("buyer", stage.pay(stage.purchase, 6n * usdc));
      return await stage.reconcile(stage.purchase, [first, second]);
    },
  },
  {
    family: "token",
    name: "a refund from an allowance that was given for paying, not for refunds",
    stopped: refused(409, "funding_source_insufficient"),
    async run(stage) {
      const { id } = await stage.decided();
      await stage.succeed("merchant", stage.approve(0n, stage.contracts.funding_source));
      await stage.succeed("merchant", stage.approve(500n * usdc, stage.contracts.registrar));
      return await stage.refund(id);
    },
  },
  {
    family: "token",
    name: "a cap that another refund has used up",
    stopped: refused(409, "funding_source_insufficient"),
    async run(stage) {
      const [first, second] = await awardTwice(stage);
      stage.expectAccepted(await stage.refund(first.decisionId, first.purchase));
      return await stage.refund(second.decisionId, second.purchase);
    },
  },
  {
    family: "token",
    name: "two refunds that race for one cap: one of them is collected",
    stopped: refused(409, "funding_source_insufficient"),
    async run(stage) {
      const both = await awardTwice(stage);
      const registrar = stage.address("registrar");
      const sent = await stage.client.getTransactionCount({ address: registrar });
      await stage.client.setAutomine(false);
      const racing = both.map(
        async ({ decisionId, purchase }, index) =>
          await stage.refund(decisionId, purchase, `racing-refund-${index}`),
      );
      // Both have passed every look at the cap before either of them is mined.
      await stage.untilPending("registrar", sent + 2);
      await stage.client.mine({ blocks: 1 });
      await stage.client.setAutomine(true);
      const answers = await Promise.all(racing);
      expectSame("The answers", answers.map(({ status, code }) => code ?? status).toSorted(), [
        201,
        "funding_source_insufficient",
      ]);
      const index = answers.findIndex(({ status }) => status !== 201);
      const loser = both[index];
      if (loser === undefined) throw new Error("One of the refunds was refused.");
      const key = `racing-refund-${index}`;
      await expectNothingHalfDone(stage, loser, key);
      return await stage.refund(loser.decisionId, loser.purchase, key);
    },
  },
  {
    family: "token",
    name: "a refund from a wallet that has been emptied",
    stopped: refused(409, "funding_source_insufficient"),
    async run(stage) {
      const { id } = await stage.decided();
      const balance = await stage.client.readContract({
        address: stage.contracts.token,
        abi: testUsdcAbi,
        functionName: "balanceOf",
        args: [stage.address("merchant")],
      });
      const data = encodeFunctionData({
        abi: testUsdcAbi,
        functionName: "transfer",
        args: [stage.address("stranger"), balance],
      });
      await stage.succeed("merchant", { to: stage.contracts.token, data });
      return await stage.refund(id);
    },
  },
];
