import {
  encodeAbiParameters,
  encodeEventTopics,
  encodeFunctionData,
  type Hex,
  parseAbiParameters,
} from "viem";
import { purchaseRegistrarAbi } from "../../protocol/abi.generated.ts";
import { usdc } from "../../protocol/values/amount.ts";
import { lookalikeAbi } from "../adversary-abi.ts";
import { attacksOf, harmless, mismatch, refused } from "../attack.ts";
import type { ContractFixture } from "../fixture/contract-fixture.ts";
import { type FixtureAnswer, parseReconciliation } from "../fixture/fixture-service.ts";

/** The payment log that the registrar would emit. */
export function paymentLog(
  fixture: ContractFixture,
  amount: bigint,
  paidTotal = amount,
): { topics: Hex[]; data: Hex } {
  const args = {
    id: fixture.purchase.commitment.hash,
    buyer: fixture.address("buyer"),
    merchant: fixture.address("merchant"),
  };
  const topics = encodeEventTopics({ abi: purchaseRegistrarAbi, eventName: "PurchasePaid", args });
  const data = encodeAbiParameters(parseAbiParameters("uint32, uint256, uint256"), [2, amount, paidTotal]);
  return { topics: topics.filter((topic) => typeof topic === "string"), data };
}

/** Has a lookalike emit a log, by a transaction of the buyer's. */
async function emitElsewhere(
  fixture: ContractFixture,
  log: { topics: readonly Hex[]; data: Hex },
): Promise<FixtureAnswer> {
  const lookalike = await fixture.deploy("LookalikeRegistrar");
  const data = encodeFunctionData({
    abi: lookalikeAbi,
    functionName: "emitLog",
    args: [log.topics, log.data],
  });
  return await fixture.reconcile(fixture.purchase, [await fixture.succeed("buyer", { to: lookalike, data })]);
}

/** Attacks by what a transaction left behind. */
export const logAttacks = attacksOf("transaction receipt and logs", [
  {
    name: "a reverted payment",
    stopped: refused(422, "transaction_reverted", "status", "log"),
    async run(fixture) {
      const hash = await fixture.send("buyer", fixture.pay(fixture.purchase, 26n * usdc));
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    name: "a payment that ran out of gas",
    stopped: refused(422, "transaction_reverted", "status", "log"),
    async run(fixture) {
      const hash = await fixture.send("buyer", { ...fixture.pay(fixture.purchase), gas: 60_000n });
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    name: "a lookalike contract that emits the payment log",
    pays: false,
    stopped: mismatch("contract", "calldata", "log"),
    async run(fixture) {
      const lookalike = await fixture.deploy("LookalikeRegistrar");
      const payment = {
        id: fixture.purchase.commitment.hash,
        buyer: fixture.address("buyer"),
        merchant: fixture.address("merchant"),
        sequence: 2,
        amount: 25n * usdc,
        paidTotal: 25n * usdc,
      };
      const data = encodeFunctionData({ abi: lookalikeAbi, functionName: "emitPayment", args: [payment] });
      return await fixture.reconcile(fixture.purchase, [
        await fixture.succeed("buyer", { to: lookalike, data }),
      ]);
    },
  },
  {
    name: "a payment of another program's purchase",
    stopped: mismatch("calldata", "log"),
    async run(fixture) {
      const hash = await fixture.succeed("buyer", fixture.pay(fixture.foreign));
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    name: "a payment log with other indexed arguments",
    pays: false,
    stopped: mismatch("contract", "calldata", "log"),
    async run(fixture) {
      const { topics, data } = paymentLog(fixture, 25n * usdc);
      return await emitElsewhere(fixture, { topics: topics.slice(0, 2), data });
    },
  },
  {
    name: "a payment log with extra data",
    pays: false,
    stopped: mismatch("contract", "calldata", "log"),
    async run(fixture) {
      const { topics, data } = paymentLog(fixture, 25n * usdc);
      return await emitElsewhere(fixture, { topics, data: `${data}00` });
    },
  },
  {
    name: "one transaction with logs of several purchases: each payment is recorded",
    pays: false,
    stopped: harmless,
    async run(fixture) {
      const batch = fixture.payBatch([
        [fixture.purchase, 10n * usdc],
        [fixture.second, 5n * usdc],
      ]);
      const hash = await fixture.succeed("buyer", batch);
      const answer = await fixture.reconcile(fixture.purchase, [hash]);
      const { affected_purchases } = parseReconciliation(answer);
      const again = parseReconciliation(await fixture.reconcile(fixture.second, [hash]));
      if (affected_purchases.length !== 2 || again.applied.length > 0)
        throw new Error("The second purchase was not recorded together with the first.");
      return answer;
    },
  },
  {
    name: "a log that is submitted twice: it is applied once",
    stopped: harmless,
    async run(fixture) {
      const answer = await fixture.reconcile(fixture.purchase, [await fixture.paid()]);
      const { applied, already_reconciled } = parseReconciliation(answer);
      if (applied.length !== 0 || already_reconciled.length !== 1) throw new Error("The log counted twice.");
      return answer;
    },
  },
  {
    name: "a valid payment together with a reverted one: neither is recorded",
    stopped: refused(422, "transaction_reverted", "status", "log"),
    async run(fixture) {
      const good = await fixture.succeed("buyer", fixture.pay(fixture.purchase));
      const bad = await fixture.send("buyer", fixture.pay(fixture.purchase, 99n * usdc));
      return await fixture.reconcile(fixture.purchase, [good, bad]);
    },
  },
]);
