import { encodeFunctionData } from "viem";
import { testUsdcAbi } from "../../../protocol/abi.generated.ts";
import { signDecision } from "../../../protocol/decision.ts";
import { decisionSchema } from "../../../server/schemas/decision.ts";
import { type Attack, refused } from "../attack.ts";

const usdc = 1_000_000n;

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
      const merchant = await stage.enrolledMerchant("other_merchant", 15n * usdc);
      const [first, second] = await Promise.all(
        ["first", "second"].map(async (sku) => {
          const amount = (12n * usdc).toString();
          return await stage.createPurchase({ merchant_id: merchant.id, amount, terms: { sku } });
        }),
      );
      if (first === undefined || second === undefined) throw new Error("Two purchases were created.");
      const decisions: string[] = [];
      for (const purchase of [first, second]) {
        await stage.activate(purchase);
        const claim = await stage.claimed(purchase);
        const statement = { ...(await stage.statement(claim, purchase)), award: (10n * usdc).toString() };
        const answer = await stage.decide(statement, signDecision(stage.reviewerKey, statement));
        decisions.push(decisionSchema.parse(stage.expectAccepted(answer).body).id);
      }
      stage.expectAccepted(await stage.refund(decisions[0] ?? "", first));
      return await stage.refund(decisions[1] ?? "", second);
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
