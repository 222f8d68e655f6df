import { concatHex, encodeFunctionData, type Hex, slice } from "viem";
import { z } from "zod";
import { testUsdcAbi } from "../../protocol/abi.generated.ts";
import { usdc } from "../../protocol/amount.ts";
import type { SignedPermit } from "../../protocol/permit.ts";
import { type Attack, harmless, mismatch, refused } from "../attack.ts";
import type { Stage } from "../stage/stage.ts";
import { parseReconciliation, type StageAnswer } from "../stage/staged-service.ts";

const amount = 10n * usdc;
const hex = z.custom<Hex>((value) => typeof value === "string" && value.startsWith("0x"));
const rawLog = z.looseObject({ topics: z.array(hex), data: hex });
const rawReceipt = z.looseObject({ logs: z.array(rawLog) });
type RawLog = z.infer<typeof rawLog>;

/** keccak256 of `Approval(address,address,uint256)`. */
const approvalTopic = "0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925";

/** A permit as anybody can submit it to the token. */
export function submission(stage: Stage, value: bigint, { deadline, v, r, s }: SignedPermit) {
  const { registrar, token: to } = stage.contracts;
  const data = encodeFunctionData({
    abi: testUsdcAbi,
    functionName: "permit",
    args: [stage.address("buyer"), registrar, value, deadline, v, r, s],
  });
  return { to, data };
}

/** A payment under a permit that the buyer sends without any allowance, and submits. */
async function payWith(stage: Stage, permit: SignedPermit): Promise<StageAnswer> {
  await stage.succeed("buyer", stage.approve(0n));
  const hash = await stage.send("buyer", stage.payWithPermit(stage.purchase, amount, permit));
  return await stage.reconcile(stage.purchase, [hash]);
}

/** Has the node tell other logs of a payment, in its receipt and in its block alike. */
async function lieAbout(
  stage: Stage,
  call: Parameters<Stage["succeed"]>[1],
  lie: (logs: RawLog[]) => RawLog[],
): Promise<StageAnswer> {
  const hash = await stage.succeed("buyer", call);
  stage.tampered.tell("eth_getTransactionReceipt", (answer) => {
    const receipt = rawReceipt.parse(answer);
    return { ...receipt, logs: lie(receipt.logs) };
  });
  stage.tampered.tell("eth_getLogs", (answer, parameters) => {
    const listed = JSON.stringify(parameters).includes("blockHash");
    return listed ? lie(z.array(rawLog).parse(answer)) : answer;
  });
  return await stage.reconcile(stage.purchase, [hash]);
}

function isApproval({ topics }: RawLog): boolean {
  return topics[0] === approvalTopic;
}

/** Attacks by the permit that a payment is made under. */
export const permitAttacks: readonly Attack[] = [
  {
    family: "permit",
    name: "a permit that a stranger submits first: the payment counts all the same, once",
    pays: false,
    stopped: harmless,
    async run(stage) {
      await stage.succeed("buyer", stage.approve(0n));
      const permit = stage.permit(stage.purchase, amount);
      await stage.succeed("stranger", submission(stage, amount, permit));
      const hash = await stage.succeed("buyer", stage.payWithPermit(stage.purchase, amount, permit));
      const answer = await stage.reconcile(stage.purchase, [hash]);
      const { applied } = parseReconciliation(answer);
      if (applied.length !== 1) throw new Error(`${applied.length} payments were applied, not 1.`);
      return answer;
    },
  },
  {
    family: "permit",
    name: "a permit that is submitted to the token as if it were the payment",
    pays: false,
    stopped: mismatch("contract", "calldata", "log"),
    async run(stage) {
      const permit = stage.permit(stage.purchase, amount);
      const hash = await stage.succeed("buyer", submission(stage, amount, permit));
      return await stage.reconcile(stage.purchase, [hash]);
    },
  },
  {
    family: "permit",
    name: "a payment under a permit, submitted for another amount",
    pays: false,
    stopped: mismatch("calldata", "log"),
    async run(stage) {
      const transaction_hash = await stage.succeed("buyer", stage.payWithPermit(stage.purchase, amount));
      const body = { action: "pay", transaction_hash, amount: (amount + 1n).toString() };
      return await stage.submitToWallet(stage.purchase, body);
    },
  },
  {
    family: "permit",
    name: "a permit that a stranger signed",
    pays: false,
    stopped: refused(422, "transaction_reverted", "status", "log"),
    async run(stage) {
      const deadline = BigInt(stage.purchase.deadlines.pay_deadline);
      return await payWith(stage, stage.signPermit({ value: amount, deadline }, "stranger"));
    },
  },
  {
    family: "permit",
    name: "a permit for another spender",
    pays: false,
    stopped: refused(422, "transaction_reverted", "status", "log"),
    async run(stage) {
      const deadline = BigInt(stage.purchase.deadlines.pay_deadline);
      const spender = stage.contracts.funding_source;
      return await payWith(stage, stage.signPermit({ value: amount, deadline, spender }));
    },
  },
  {
    family: "permit",
    name: "a permit that has expired",
    pays: false,
    stopped: refused(422, "transaction_reverted", "status", "log"),
    async run(stage) {
      const { timestamp } = await stage.client.getBlock({ blockTag: "latest" });
      return await payWith(stage, stage.signPermit({ value: amount, deadline: timestamp }));
    },
  },
  {
    family: "permit",
    name: "a permit that has paid already",
    pays: false,
    stopped: refused(422, "transaction_reverted", "status", "log"),
    async run(stage) {
      const permit = stage.permit(stage.purchase, amount);
      await stage.succeed("buyer", stage.payWithPermit(stage.purchase, amount, permit));
      return await payWith(stage, permit);
    },
  },
  {
    family: "permit",
    name: "a permit of a lower amount than it is to pay",
    pays: false,
    stopped: refused(422, "transaction_reverted", "status", "log"),
    run: async (stage) => await payWith(stage, stage.permit(stage.purchase, amount - 1n)),
  },
  {
    family: "permit",
    name: "dirty bits before the permit's v",
    pays: false,
    stopped: mismatch("status", "calldata", "log"),
    async run(stage) {
      const { to, data } = stage.payWithPermit(stage.purchase, amount);
      const dirty = concatHex([slice(data, 0, 100), "0x01", slice(data, 101)]);
      return await stage.reconcile(stage.purchase, [await stage.send("buyer", { to, data: dirty })]);
    },
  },
  {
    family: "permit",
    name: "a node that tells another amount of the permit's approval, in the receipt and in the block alike",
    pays: false,
    stopped: mismatch("log"),
    run: async (stage) =>
      await lieAbout(stage, stage.payWithPermit(stage.purchase, amount), (logs) =>
        logs.map((log) => (isApproval(log) ? { ...log, data: `0x${"00".repeat(31)}01` } : log)),
      ),
  },
  {
    family: "permit",
    name: "a node that tells the permit's approval twice, in the receipt and in the block alike",
    pays: false,
    stopped: mismatch("log"),
    run: async (stage) =>
      await lieAbout(stage, stage.payWithPermit(stage.purchase, amount), (logs) =>
        logs.flatMap((log) => (isApproval(log) ? [log, log] : [log])),
      ),
  },
  {
    family: "permit",
    name: "a node that tells the permit's approval behind the transfer, in the receipt and in the block alike",
    pays: false,
    stopped: mismatch("log"),
    run: async (stage) =>
      await lieAbout(stage, stage.payWithPermit(stage.purchase, amount), (logs) => [
        ...logs.filter((log) => !isApproval(log)),
        ...logs.filter(isApproval),
      ]),
  },
  {
    family: "permit",
    name: "a payment without a permit, of which the node tells the approval of one",
    pays: "without a permit",
    stopped: mismatch("log"),
    async run(stage) {
      const { data, topics } = await approvalOf(stage);
      return await lieAbout(stage, stage.pay(stage.purchase, amount), (logs) =>
        logs.flatMap((log, index) => (index === 1 ? [{ ...log, topics, data }, log] : [log])),
      );
    },
  },
];

/** The log of an approval of the amount to the registrar. */
async function approvalOf(stage: Stage): Promise<RawLog> {
  const { logs } = await stage.receipt(await stage.succeed("buyer", stage.approve(amount)));
  return rawLog.parse(logs[0]);
}

/** The same attack with payments under a permit; it must be stopped in the same way. */
export function withPermit(attack: Attack): Attack {
  return {
    ...attack,
    name: `with a permit: ${attack.name}`,
    async run(stage) {
      stage.payment = "payWithPermit";
      return await attack.run(stage);
    },
  };
}
