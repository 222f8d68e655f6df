import type { Hex } from "viem";
import { z } from "zod";
import { usdc } from "../../protocol/amount.ts";
import { createSandbox } from "../../sandbox/create-sandbox.ts";
import { type Attack, harmless, mismatch, refused, unknownTransaction } from "../attack.ts";
import type { Stage } from "../stage/stage.ts";
import { parseReconciliation, type StageAnswer } from "../stage/staged-service.ts";

const rawLog = z.looseObject({ data: z.string() });
type RawLog = z.infer<typeof rawLog>;

/** A payment log with another sequence number; other logs stay as they are. */
function renumbered(data: string): string {
  return data.length === 2 + 3 * 64 ? `${data.slice(0, 65)}9${data.slice(66)}` : data;
}

const rawObject = z.looseObject({});
/** An honest payment of whose transaction the node then tells something else. */
async function lieAboutFields(stage: Stage, change: { [field: string]: unknown }): Promise<StageAnswer> {
  const hash = await stage.succeed("buyer", stage.pay(stage.purchase));
  stage.tampered.tell("eth_getTransactionByHash", (answer) => ({ ...rawObject.parse(answer), ...change }));
  return await stage.reconcile(stage.purchase, [hash]);
}

/** Replaces the newest blocks by empty ones: their transactions are gone. */
async function reorganise(stage: Stage, depth: number): Promise<void> {
  await stage.client.request<{ Method: "anvil_reorg"; Parameters: [number, never[]]; ReturnType: null }>({
    method: "anvil_reorg",
    params: [depth, []],
  });
  await stage.client.request({ method: "anvil_dropAllTransactions" });
}

/** Has the newest block be another one when it is looked at again, so many times. */
async function reorganiseUnderReads(stage: Stage, times: number): Promise<{ changed: number }> {
  const head = Number(await stage.client.getBlockNumber());
  const reads = { changed: 0 };
  let looks = 0;
  stage.tampered.tell("eth_getBlockByNumber", (answer, parameters) => {
    if (!Array.isArray(parameters) || Number(parameters[0]) !== head) return answer;
    looks += 1;
    // The first look is for the receipt's block, the second one asks whether the head still stands, and so on.
    if (looks % 2 === 1 || reads.changed >= times) return answer;
    reads.changed += 1;
    return { ...rawObject.parse(answer), hash: stage.second.commitment.hash };
  });
  return reads;
}

function expectReverted(answer: StageAnswer, reverted: number): StageAnswer {
  const seen = parseReconciliation(answer);
  if (seen.reverted.length !== reverted || seen.purchase.figures.reconciled !== "0")
    throw new Error(`${seen.reverted.length} receipts were taken back, not ${reverted}.`);
  return answer;
}

/** Attacks by a chain that changes, or by a node that tells of another one. */
export const chainAttacks: readonly Attack[] = [
  {
    family: "chain",
    name: "a node that names another sender",
    stopped: harmless,
    run: async (stage) => await lieAboutFields(stage, { from: stage.address("stranger") }),
  },
  {
    family: "chain",
    name: "a node that gives another wallet's signature",
    stopped: mismatch("canonical", "wallet"),
    async run(stage) {
      const theirs = await stage.send("stranger", stage.pay(stage.purchase));
      const { r, s, yParity } = await stage.client.getTransaction({ hash: theirs });
      return await lieAboutFields(stage, { r, s, yParity: `0x${yParity}`, v: `0x${yParity}` });
    },
  },
  {
    family: "chain",
    name: "a node that gives other calldata for a hash",
    stopped: mismatch("canonical", "wallet", "log"),
    run: async (stage) => await lieAboutFields(stage, { input: stage.pay(stage.purchase, 25n * usdc).data }),
  },
  {
    family: "chain",
    name: "a node that writes the calldata in capitals",
    stopped: harmless,
    async run(stage) {
      const { data } = stage.pay(stage.purchase);
      return await lieAboutFields(stage, { input: `0x${data.slice(2).toUpperCase()}` });
    },
  },
  {
    family: "chain",
    name: "a node that gives another recipient for a hash",
    stopped: mismatch("canonical", "wallet", "contract"),
    run: async (stage) => await lieAboutFields(stage, { to: stage.contracts.token }),
  },
  {
    family: "chain",
    name: "a node that gives fields that make no transaction",
    stopped: mismatch("canonical", "wallet"),
    run: async (stage) => await lieAboutFields(stage, { r: `0x${"00".repeat(32)}` }),
  },
  {
    family: "chain",
    name: "a node that calls a reverted payment a success",
    stopped: mismatch("log"),
    async run(stage) {
      const hash = await stage.send("buyer", stage.pay(stage.purchase, 26n * usdc));
      stage.tampered.tell("eth_getTransactionReceipt", (answer) => ({
        ...rawObject.parse(answer),
        status: "0x1",
      }));
      return await stage.reconcile(stage.purchase, [hash]);
    },
  },
  {
    family: "chain",
    name: "a node that lags behind the transaction's block",
    stopped: refused(409, "transaction_unconfirmed", "confirmations"),
    async run(stage) {
      const { number } = await stage.client.getBlock({ blockTag: "latest" });
      const hash = await stage.succeed("buyer", stage.pay(stage.purchase));
      const before: unknown = await stage.client.request({
        method: "eth_getBlockByNumber",
        params: [`0x${number.toString(16)}`, false],
      });
      stage.tampered.tell("eth_getBlockByNumber", (answer, parameters) =>
        Array.isArray(parameters) && parameters[0] === "latest" ? before : answer,
      );
      return await stage.reconcile(stage.purchase, [hash]);
    },
  },
  {
    family: "chain",
    name: "a node that changes a free field of a log, in the receipt and in the block alike",
    stopped: refused(503, "rpc_unavailable"),
    async run(stage) {
      const hash = await stage.succeed("buyer", stage.pay(stage.purchase));
      const lie = (logs: readonly RawLog[]) => logs.map((log) => ({ ...log, data: renumbered(log.data) }));
      stage.tampered.tell("eth_getTransactionReceipt", (answer) => {
        const receipt = z.looseObject({ logs: z.array(rawLog) }).parse(answer);
        return { ...receipt, logs: lie(receipt.logs) };
      });
      stage.tampered.tell("eth_getLogs", (answer, parameters) =>
        JSON.stringify(parameters).includes("blockHash") ? lie(z.array(rawLog).parse(answer)) : answer,
      );
      return await stage.reconcile(stage.purchase, [hash]);
    },
  },
  {
    family: "chain",
    name: "a node whose logs and figures differ",
    stopped: refused(503, "rpc_unavailable"),
    async run(stage) {
      const hash = await stage.succeed("buyer", stage.pay(stage.purchase));
      stage.tampered.tell("eth_getLogs", () => []);
      return await stage.reconcile(stage.purchase, [hash]);
    },
  },
  {
    family: "chain",
    name: "a chain that reorganises while it is read: it is read again",
    stopped: harmless,
    async run(stage) {
      const hash = await stage.succeed("buyer", stage.pay(stage.purchase));
      const reads = await reorganiseUnderReads(stage, 1);
      const answer = await stage.reconcile(stage.purchase, [hash]);
      if (reads.changed !== 1) throw new Error("The chain did not change under the read.");
      return answer;
    },
  },
  {
    family: "chain",
    name: "a chain that reorganises under two reads: it is read a third time",
    stopped: harmless,
    async run(stage) {
      const hash = await stage.succeed("buyer", stage.pay(stage.purchase));
      const reads = await reorganiseUnderReads(stage, 2);
      const answer = await stage.reconcile(stage.purchase, [hash]);
      if (reads.changed !== 2) throw new Error("The chain did not change under two reads.");
      return answer;
    },
  },
  {
    family: "chain",
    name: "a chain that reorganises under three reads",
    stopped: refused(503, "rpc_unavailable"),
    async run(stage) {
      const hash = await stage.succeed("buyer", stage.pay(stage.purchase));
      await reorganiseUnderReads(stage, 3);
      return await stage.reconcile(stage.purchase, [hash]);
    },
  },
  {
    family: "chain",
    name: "a chain that reorganises under every read",
    stopped: refused(503, "rpc_unavailable"),
    async run(stage) {
      const hash = await stage.succeed("buyer", stage.pay(stage.purchase));
      await reorganiseUnderReads(stage, Number.POSITIVE_INFINITY);
      return await stage.reconcile(stage.purchase, [hash]);
    },
  },
  {
    family: "chain",
    name: "a node of another chain with the same chain id",
    stopped: refused(503, "chain_mismatch"),
    async run(stage) {
      const hash = await stage.succeed("buyer", stage.pay(stage.purchase));
      const { number } = stage.sandbox.chain.deployment.epochBlock;
      stage.tampered.tell("eth_getBlockByNumber", (answer, parameters) =>
        Array.isArray(parameters) && Number(parameters[0]) === number
          ? { ...rawObject.parse(answer), hash: stage.purchase.commitment.hash }
          : answer,
      );
      return await stage.reconcile(stage.purchase, [hash]);
    },
  },
  {
    family: "chain",
    name: "a node of another chain id with the same first blocks",
    stopped: refused(503, "chain_mismatch"),
    async run(stage) {
      const hash = await stage.succeed("buyer", stage.pay(stage.purchase));
      stage.tampered.tell("eth_chainId", () => "0x1");
      return await stage.reconcile(stage.purchase, [hash]);
    },
  },
  {
    family: "chain",
    name: "a transaction of another Anvil with the same chain id and addresses",
    pays: false,
    stopped: unknownTransaction,
    async run(stage) {
      await using other = await createSandbox({ seed: "elsewhere" });
      const { transactionHash } = await other.wallets.buyer.send(stage.approve(1n));
      return await stage.reconcile(stage.purchase, [transactionHash]);
    },
  },
  {
    family: "chain",
    name: "a reset under our feet",
    stopped: unknownTransaction,
    async run(stage) {
      const id = await stage.client.snapshot();
      const hash = await stage.succeed("buyer", stage.pay(stage.purchase));
      await stage.client.request({ method: "evm_revert", params: [id] });
      return await stage.reconcile(stage.purchase, [hash]);
    },
  },
  {
    family: "chain",
    name: "a reorg after acceptance: the receipt is taken back and its transaction is free again",
    stopped: harmless,
    async run(stage) {
      const hash = await stage.paid();
      await reorganise(stage, 1);
      const answer = expectReverted(await stage.reconcile(stage.purchase), 1);
      if ((await stage.sandbox.store.get("used_transactions", hash)) !== undefined)
        throw new Error("The transaction still counts as used.");
      return answer;
    },
  },
  {
    family: "chain",
    name: "a reorg between an offer's confirmation and its check: the offer is sent again, and checked where it is then",
    pays: false,
    stopped: harmless,
    async run(stage) {
      const { id, commitment } = stage.draft;
      let reorgs = 0;
      stage.tampered.tell("eth_getTransactionByHash", async (answer) => {
        if (reorgs > 0) return answer;
        reorgs += 1;
        await reorganise(stage, 1);
        return null;
      });
      const answer = await stage.post(`/purchases/${id}/activate`, { commitment_hash: commitment.hash });
      if (reorgs !== 1) throw new Error("The chain did not change before the check.");
      return answer;
    },
  },
  {
    family: "chain",
    name: "a reorg that takes a batch: the receipts of every purchase are taken back in one write",
    pays: false,
    stopped: harmless,
    async run(stage) {
      const batch = stage.payBatch([
        [stage.purchase, 10n * usdc],
        [stage.second, 5n * usdc],
      ]);
      stage.expectAccepted(await stage.reconcile(stage.purchase, [await stage.succeed("buyer", batch)]));
      await reorganise(stage, 1);
      return expectReverted(await stage.reconcile(stage.purchase), 2);
    },
  },
  {
    family: "chain",
    name: "a payment that was mined again elsewhere: taken back there, recorded here, once",
    stopped: harmless,
    async run(stage) {
      const serializedTransaction = await stage.sign("buyer", stage.pay(stage.purchase));
      const hash = await stage.client.sendRawTransaction({ serializedTransaction });
      await stage.receipt(hash);
      stage.expectAccepted(await stage.reconcile(stage.purchase, [hash]));
      await reorganise(stage, 1);
      await stage.receipt(await stage.client.sendRawTransaction({ serializedTransaction }));
      const answer = await stage.reconcile(stage.purchase, [hash]);
      const { applied, reverted, purchase } = parseReconciliation(answer);
      const counts = [applied.length, reverted.length, purchase.figures.reconciled];
      if (JSON.stringify(counts) !== '[1,1,"10000000"]') throw new Error(`Recorded ${counts.join(", ")}.`);
      return answer;
    },
  },
  {
    family: "chain",
    name: "the same hash mined again with another outcome",
    stopped: refused(422, "transaction_reverted", "status", "log"),
    async run(stage) {
      const serializedTransaction = await stage.sign("buyer", stage.pay(stage.purchase));
      const hash = await stage.client.sendRawTransaction({ serializedTransaction });
      await stage.receipt(hash);
      stage.expectAccepted(await stage.reconcile(stage.purchase, [hash]));
      await reorganise(stage, 1);
      await stage.client.setBalance({ address: stage.address("buyer"), value: 10n ** 18n });
      await emptyTokens(stage);
      await stage.receipt(await stage.client.sendRawTransaction({ serializedTransaction }));
      return await stage.reconcile(stage.purchase, [hash]);
    },
  },
  {
    family: "chain",
    name: "a claim one second after its deadline",
    stopped: refused(409, "claim_window_closed", "status", "log", "timely"),
    run: async (stage) => await claimAt(stage, 1),
  },
  {
    family: "chain",
    name: "a claim in the last second of its deadline is in time",
    stopped: { status: 201, code: null, failed: [] },
    run: async (stage) => await claimAt(stage, 0),
  },
  {
    family: "chain",
    name: "an approval one second after the payment deadline",
    pays: false,
    stopped: refused(409, "deadline_passed", "timely"),
    run: async (stage) => await approveAt(stage, 1),
  },
  {
    family: "chain",
    name: "an approval in the last second of the payment deadline is in time",
    pays: false,
    stopped: harmless,
    run: async (stage) => await approveAt(stage, 0),
  },
];

/** The owner of the token stops the buyer's transfers, by a block of its own. */
async function emptyTokens(stage: Stage): Promise<void> {
  const blocklist = "0xf9f92be4";
  const account = stage.address("buyer").slice(2).toLowerCase().padStart(64, "0");
  await stage.succeed("deployer", { to: stage.contracts.token, data: `${blocklist}${account}` });
}

/** Files a claim whose transaction is mined so many seconds after the deadline. */
async function claimAt(stage: Stage, seconds: number): Promise<StageAnswer> {
  await stage.paid();
  const { claim, call } = stage.claim(stage.purchase);
  const timestamp = BigInt(stage.purchase.deadlines.claim_deadline + seconds);
  await stage.client.setNextBlockTimestamp({ timestamp });
  const hash: Hex = await stage.send("beneficiary", call);
  await stage.issueAccess();
  return await stage.fileClaim(hash, await stage.signClaim(claim));
}

async function approveAt(stage: Stage, seconds: number): Promise<StageAnswer> {
  const timestamp = BigInt(stage.purchase.deadlines.pay_deadline + seconds);
  await stage.client.setNextBlockTimestamp({ timestamp });
  const transaction_hash = await stage.succeed("buyer", stage.approve(25n * usdc));
  return await stage.submitToWallet(stage.purchase, { action: "approve", transaction_hash });
}
