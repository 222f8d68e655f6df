import { concatHex, encodeFunctionData, slice } from "viem";
import { z } from "zod";
import { testUsdcAbi } from "../../protocol/abi.generated.ts";
import type { SignedPermit } from "../../protocol/messages/permit.ts";
import { usdc } from "../../protocol/values/amount.ts";
import { hexSchema } from "../../relayer/node/node-schemas.ts";
import { type Attack, attacksOf, harmless, mismatch, refused } from "../attack.ts";
import type { ContractFixture } from "../fixture/contract-fixture.ts";
import { type FixtureAnswer, parseReconciliation } from "../fixture/fixture-service.ts";

const amount = 10n * usdc;
const rawLog = z.looseObject({ topics: z.array(hexSchema), data: hexSchema });
const rawReceipt = z.looseObject({ logs: z.array(rawLog) });
type RawLog = z.infer<typeof rawLog>;

/** keccak256 of `Approval(address,address,uint256)`. */
const approvalTopic = "0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925";

/** A permit as anyone can submit it to the token. */
function submitPermit(fixture: ContractFixture, value: bigint, { deadline, v, r, s }: SignedPermit) {
  const { registrar, token: to } = fixture.contracts;
  const data = encodeFunctionData({
    abi: testUsdcAbi,
    functionName: "permit",
    args: [fixture.address("buyer"), registrar, value, deadline, v, r, s],
  });
  return { to, data };
}

/** A payment under a permit that the buyer sends without any allowance, and submits. */
async function payWith(fixture: ContractFixture, permit: SignedPermit): Promise<FixtureAnswer> {
  await fixture.succeed("buyer", fixture.approve(0n));
  const hash = await fixture.send("buyer", fixture.payWithPermit(fixture.purchase, amount, permit));
  return await fixture.reconcile(fixture.purchase, [hash]);
}

/** Reconciles a payment whose logs the node changes, in its transaction receipt and in its block alike. */
async function reconcileChangedLogs(
  fixture: ContractFixture,
  call: Parameters<ContractFixture["succeed"]>[1],
  change: (logs: RawLog[]) => RawLog[],
): Promise<FixtureAnswer> {
  const hash = await fixture.succeed("buyer", call);
  fixture.tampered.change("eth_getTransactionReceipt", (answer) => {
    const receipt = rawReceipt.parse(answer);
    return { ...receipt, logs: change(receipt.logs) };
  });
  fixture.tampered.change("eth_getLogs", (answer, parameters) => {
    const listed = JSON.stringify(parameters).includes("blockHash");
    return listed ? change(z.array(rawLog).parse(answer)) : answer;
  });
  return await fixture.reconcile(fixture.purchase, [hash]);
}

function isApproval({ topics }: RawLog): boolean {
  return topics[0] === approvalTopic;
}

/** Attacks by the permit that a payment is made under. */
export const permitAttacks = attacksOf("permit", [
  {
    name: "a front-run permit: the payment is recorded once",
    pays: false,
    stopped: harmless,
    async run(fixture) {
      await fixture.succeed("buyer", fixture.approve(0n));
      const permit = fixture.permit(fixture.purchase, amount);
      await fixture.succeed("stranger", submitPermit(fixture, amount, permit));
      const hash = await fixture.succeed("buyer", fixture.payWithPermit(fixture.purchase, amount, permit));
      const answer = await fixture.reconcile(fixture.purchase, [hash]);
      const { applied } = parseReconciliation(answer);
      if (applied.length !== 1) throw new Error(`${applied.length} payments were applied, not 1.`);
      return answer;
    },
  },
  {
    name: "a permit transaction submitted as the payment",
    pays: false,
    stopped: mismatch("contract", "calldata", "log"),
    async run(fixture) {
      const permit = fixture.permit(fixture.purchase, amount);
      const hash = await fixture.succeed("buyer", submitPermit(fixture, amount, permit));
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    name: "a payment with a permit, submitted with another amount",
    pays: false,
    stopped: mismatch("calldata", "log"),
    async run(fixture) {
      const transaction_hash = await fixture.succeed(
        "buyer",
        fixture.payWithPermit(fixture.purchase, amount),
      );
      const body = { action: "pay", transaction_hash, amount: (amount + 1n).toString() };
      return await fixture.submitToWallet(fixture.purchase, body);
    },
  },
  {
    name: "a permit signed by a stranger",
    pays: false,
    stopped: refused(422, "transaction_reverted", "status", "log"),
    async run(fixture) {
      const deadline = BigInt(fixture.purchase.deadlines.pay_deadline);
      return await payWith(fixture, fixture.signPermit({ value: amount, deadline }, "stranger"));
    },
  },
  {
    name: "a permit for another spender",
    pays: false,
    stopped: refused(422, "transaction_reverted", "status", "log"),
    async run(fixture) {
      const deadline = BigInt(fixture.purchase.deadlines.pay_deadline);
      const spender = fixture.contracts.funding_source;
      return await payWith(fixture, fixture.signPermit({ value: amount, deadline, spender }));
    },
  },
  {
    name: "an expired permit",
    pays: false,
    stopped: refused(422, "transaction_reverted", "status", "log"),
    async run(fixture) {
      const { timestamp } = await fixture.client.getBlock({ blockTag: "latest" });
      return await payWith(fixture, fixture.signPermit({ value: amount, deadline: timestamp }));
    },
  },
  {
    name: "a permit that is used twice",
    pays: false,
    stopped: refused(422, "transaction_reverted", "status", "log"),
    async run(fixture) {
      const permit = fixture.permit(fixture.purchase, amount);
      await fixture.succeed("buyer", fixture.payWithPermit(fixture.purchase, amount, permit));
      return await payWith(fixture, permit);
    },
  },
  {
    name: "a permit for less than the payment",
    pays: false,
    stopped: refused(422, "transaction_reverted", "status", "log"),
    run: async (fixture) => await payWith(fixture, fixture.permit(fixture.purchase, amount - 1n)),
  },
  {
    name: "dirty high bits of the permit's v",
    pays: false,
    stopped: mismatch("status", "calldata", "log"),
    async run(fixture) {
      const { to, data } = fixture.payWithPermit(fixture.purchase, amount);
      const dirty = concatHex([slice(data, 0, 100), "0x01", slice(data, 101)]);
      return await fixture.reconcile(fixture.purchase, [await fixture.send("buyer", { to, data: dirty })]);
    },
  },
  {
    name: "a node that changes the amount of the permit's approval log, in the transaction receipt and the block",
    pays: false,
    stopped: mismatch("log"),
    run: async (fixture) =>
      await reconcileChangedLogs(fixture, fixture.payWithPermit(fixture.purchase, amount), (logs) =>
        logs.map((log) => (isApproval(log) ? { ...log, data: `0x${"00".repeat(31)}01` } : log)),
      ),
  },
  {
    name: "a node that duplicates the permit's approval log, in the transaction receipt and the block",
    pays: false,
    stopped: mismatch("log"),
    run: async (fixture) =>
      await reconcileChangedLogs(fixture, fixture.payWithPermit(fixture.purchase, amount), (logs) =>
        logs.flatMap((log) => (isApproval(log) ? [log, log] : [log])),
      ),
  },
  {
    name: "a node that moves the permit's approval log after the transfer, in the transaction receipt and the block",
    pays: false,
    stopped: mismatch("log"),
    run: async (fixture) =>
      await reconcileChangedLogs(fixture, fixture.payWithPermit(fixture.purchase, amount), (logs) => [
        ...logs.filter((log) => !isApproval(log)),
        ...logs.filter(isApproval),
      ]),
  },
  {
    name: "a node that adds a permit's approval log to a payment without a permit",
    pays: "without a permit",
    stopped: mismatch("log"),
    async run(fixture) {
      const { data, topics } = await approvalOf(fixture);
      return await reconcileChangedLogs(fixture, fixture.pay(fixture.purchase, amount), (logs) =>
        logs.flatMap((log, index) => (index === 1 ? [{ ...log, topics, data }, log] : [log])),
      );
    },
  },
]);

/** The log of an approval of the amount to the registrar. */
async function approvalOf(fixture: ContractFixture): Promise<RawLog> {
  const { logs } = await fixture.receipt(await fixture.succeed("buyer", fixture.approve(amount)));
  return rawLog.parse(logs[0]);
}

/** The same attack with payments under a permit; it must be stopped in the same way. */
export function attackWithPermit(attack: Attack): Attack {
  return {
    ...attack,
    name: `with a permit: ${attack.name}`,
    async run(fixture) {
      fixture.payment = "payWithPermit";
      return await attack.run(fixture);
    },
  };
}
