import type { Hex } from "viem";
import { z } from "zod";
import { usdc } from "../../protocol/values/amount.ts";
import { createSandbox } from "../../sandbox/create-sandbox.ts";
import { type Attack, harmless, mismatch, refused, unknownTransaction } from "../attack.ts";
import type { ContractFixture } from "../fixture/contract-fixture.ts";
import { type FixtureAnswer, parseReconciliation } from "../fixture/fixture-service.ts";

const rawLog = z.looseObject({ data: z.string() });
type RawLog = z.infer<typeof rawLog>;

/** A payment log with another sequence number; other logs stay as they are. */
function renumbered(data: string): string {
  return data.length === 2 + 3 * 64 ? `${data.slice(0, 65)}9${data.slice(66)}` : data;
}

const rawObject = z.looseObject({});

/** Reconciles a valid payment, after something was changed behind it. */
async function reconcileAfter(fixture: ContractFixture, change: () => unknown): Promise<FixtureAnswer> {
  const hash = await fixture.succeed("buyer", fixture.pay(fixture.purchase));
  await change();
  return await fixture.reconcile(fixture.purchase, [hash]);
}

/** Reconciles a valid payment whose transaction the node changes. */
async function reconcileChangedTransaction(
  fixture: ContractFixture,
  change: { [field: string]: unknown },
): Promise<FixtureAnswer> {
  return await reconcileAfter(fixture, () =>
    fixture.tampered.change("eth_getTransactionByHash", (answer) => ({
      ...rawObject.parse(answer),
      ...change,
    })),
  );
}

/** Replaces the newest blocks by empty ones: their transactions are gone. */
async function reorganize(fixture: ContractFixture, depth: number): Promise<void> {
  await fixture.client.request<{ Method: "anvil_reorg"; Parameters: [number, never[]]; ReturnType: null }>({
    method: "anvil_reorg",
    params: [depth, []],
  });
  await fixture.client.request({ method: "anvil_dropAllTransactions" });
}

/** Reconciles a valid payment while the newest block is another one when it is looked at again, so many times. */
async function reconcileUnderReorgs(fixture: ContractFixture, times: number): Promise<FixtureAnswer> {
  let changed = 0;
  const answer = await reconcileAfter(fixture, async () => {
    const head = Number(await fixture.client.getBlockNumber());
    let looks = 0;
    fixture.tampered.change("eth_getBlockByNumber", (answer, parameters) => {
      if (!Array.isArray(parameters) || Number(parameters[0]) !== head) return answer;
      looks += 1;
      // The first look is for the receipt's block, the second one asks whether the head is still the same, and so on.
      if (looks % 2 === 1 || changed >= times) return answer;
      changed += 1;
      return { ...rawObject.parse(answer), hash: fixture.second.commitment.hash };
    });
  });
  if (Number.isFinite(times) && changed !== times)
    throw new Error(`The chain changed under ${changed} reads, not ${times}.`);
  return answer;
}

function expectReverted(answer: FixtureAnswer, reverted: number): FixtureAnswer {
  const seen = parseReconciliation(answer);
  if (seen.reverted.length !== reverted || seen.purchase.figures.reconciled !== "0")
    throw new Error(`${seen.reverted.length} receipts were taken back, not ${reverted}.`);
  return answer;
}

/** Attacks by a chain that changes, or by a node that answers for another one. */
export const chainAttacks: readonly Attack[] = [
  {
    family: "chain",
    name: "a node that names another sender",
    stopped: harmless,
    run: async (fixture) => await reconcileChangedTransaction(fixture, { from: fixture.address("stranger") }),
  },
  {
    family: "chain",
    name: "a node that gives another wallet's signature",
    stopped: mismatch("canonical", "wallet"),
    async run(fixture) {
      const theirs = await fixture.send("stranger", fixture.pay(fixture.purchase));
      const { r, s, yParity } = await fixture.client.getTransaction({ hash: theirs });
      return await reconcileChangedTransaction(fixture, { r, s, yParity: `0x${yParity}`, v: `0x${yParity}` });
    },
  },
  {
    family: "chain",
    name: "a node that gives other calldata for a hash",
    stopped: mismatch("canonical", "wallet", "log"),
    run: async (fixture) =>
      await reconcileChangedTransaction(fixture, { input: fixture.pay(fixture.purchase, 25n * usdc).data }),
  },
  {
    family: "chain",
    name: "a node that writes the calldata in capitals",
    stopped: harmless,
    async run(fixture) {
      const { data } = fixture.pay(fixture.purchase);
      return await reconcileChangedTransaction(fixture, { input: `0x${data.slice(2).toUpperCase()}` });
    },
  },
  {
    family: "chain",
    name: "a node that gives another recipient for a hash",
    stopped: mismatch("canonical", "wallet", "contract"),
    run: async (fixture) => await reconcileChangedTransaction(fixture, { to: fixture.contracts.token }),
  },
  {
    family: "chain",
    name: "a node that gives fields that make no transaction",
    stopped: mismatch("canonical", "wallet"),
    run: async (fixture) => await reconcileChangedTransaction(fixture, { r: `0x${"00".repeat(32)}` }),
  },
  {
    family: "chain",
    name: "a node that calls a reverted payment a success",
    stopped: mismatch("log"),
    async run(fixture) {
      const hash = await fixture.send("buyer", fixture.pay(fixture.purchase, 26n * usdc));
      fixture.tampered.change("eth_getTransactionReceipt", (answer) => ({
        ...rawObject.parse(answer),
        status: "0x1",
      }));
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    family: "chain",
    name: "a node that lags behind the transaction's block",
    stopped: refused(409, "transaction_unconfirmed", "confirmations"),
    async run(fixture) {
      const { number } = await fixture.client.getBlock({ blockTag: "latest" });
      const hash = await fixture.succeed("buyer", fixture.pay(fixture.purchase));
      const before: unknown = await fixture.client.request({
        method: "eth_getBlockByNumber",
        params: [`0x${number.toString(16)}`, false],
      });
      fixture.tampered.change("eth_getBlockByNumber", (answer, parameters) =>
        Array.isArray(parameters) && parameters[0] === "latest" ? before : answer,
      );
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    family: "chain",
    name: "a node that changes a free field of a log, in the receipt and in the block alike",
    stopped: refused(503, "rpc_unavailable"),
    async run(fixture) {
      const hash = await fixture.succeed("buyer", fixture.pay(fixture.purchase));
      const change = (logs: readonly RawLog[]) => logs.map((log) => ({ ...log, data: renumbered(log.data) }));
      fixture.tampered.change("eth_getTransactionReceipt", (answer) => {
        const receipt = z.looseObject({ logs: z.array(rawLog) }).parse(answer);
        return { ...receipt, logs: change(receipt.logs) };
      });
      fixture.tampered.change("eth_getLogs", (answer, parameters) =>
        JSON.stringify(parameters).includes("blockHash") ? change(z.array(rawLog).parse(answer)) : answer,
      );
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    family: "chain",
    name: "a node whose logs and figures differ",
    stopped: refused(503, "rpc_unavailable"),
    run: async (fixture) =>
      await reconcileAfter(fixture, () => fixture.tampered.change("eth_getLogs", () => [])),
  },
  {
    family: "chain",
    name: "a chain that reorganizes while it is read: it is read again",
    stopped: harmless,
    run: async (fixture) => await reconcileUnderReorgs(fixture, 1),
  },
  {
    family: "chain",
    name: "a chain that reorganizes under two reads: it is read a third time",
    stopped: harmless,
    run: async (fixture) => await reconcileUnderReorgs(fixture, 2),
  },
  {
    family: "chain",
    name: "a chain that reorganizes under three reads",
    stopped: refused(503, "rpc_unavailable"),
    run: async (fixture) => await reconcileUnderReorgs(fixture, 3),
  },
  {
    family: "chain",
    name: "a chain that reorganizes under every read",
    stopped: refused(503, "rpc_unavailable"),
    run: async (fixture) => await reconcileUnderReorgs(fixture, Number.POSITIVE_INFINITY),
  },
  {
    family: "chain",
    name: "a node of another chain with the same chain id",
    stopped: refused(503, "chain_mismatch"),
    async run(fixture) {
      const hash = await fixture.succeed("buyer", fixture.pay(fixture.purchase));
      const { number } = fixture.sandbox.chain.deployment.epochBlock;
      fixture.tampered.change("eth_getBlockByNumber", (answer, parameters) =>
        Array.isArray(parameters) && Number(parameters[0]) === number
          ? { ...rawObject.parse(answer), hash: fixture.purchase.commitment.hash }
          : answer,
      );
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    family: "chain",
    name: "a node of another chain id with the same first blocks",
    stopped: refused(503, "chain_mismatch"),
    run: async (fixture) =>
      await reconcileAfter(fixture, () => fixture.tampered.change("eth_chainId", () => "0x1")),
  },
  {
    family: "chain",
    name: "a transaction of another Anvil with the same chain id and addresses",
    pays: false,
    stopped: unknownTransaction,
    async run(fixture) {
      await using other = await createSandbox({ seed: "elsewhere" });
      const { transaction_hash: transactionHash } = await other.wallets.buyer.send(fixture.approve(1n));
      return await fixture.reconcile(fixture.purchase, [transactionHash]);
    },
  },
  {
    family: "chain",
    name: "a reset under our feet",
    stopped: unknownTransaction,
    async run(fixture) {
      const id = await fixture.client.snapshot();
      const hash = await fixture.succeed("buyer", fixture.pay(fixture.purchase));
      await fixture.client.request({ method: "evm_revert", params: [id] });
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    family: "chain",
    name: "a reorg after acceptance: the receipt is taken back and its transaction is free again",
    stopped: harmless,
    async run(fixture) {
      const hash = await fixture.paid();
      await reorganize(fixture, 1);
      const answer = expectReverted(await fixture.reconcile(fixture.purchase), 1);
      if ((await fixture.sandbox.store.get("used_transactions", hash)) !== undefined)
        throw new Error("The transaction still counts as used.");
      return answer;
    },
  },
  {
    family: "chain",
    name: "a reorg between an offer's confirmation and its check: the offer is sent again, and checked where it is then",
    pays: false,
    stopped: harmless,
    async run(fixture) {
      const { id, commitment } = fixture.draft;
      let reorgs = 0;
      fixture.tampered.change("eth_getTransactionByHash", async (answer) => {
        if (reorgs > 0) return answer;
        reorgs += 1;
        await reorganize(fixture, 1);
        return null;
      });
      const answer = await fixture.post(`/purchases/${id}/activate`, { commitment_hash: commitment.hash });
      if (reorgs !== 1) throw new Error("The chain did not change before the check.");
      return answer;
    },
  },
  {
    family: "chain",
    name: "a reorg that takes a batch: the receipts of every purchase are taken back in one write",
    pays: false,
    stopped: harmless,
    async run(fixture) {
      const batch = fixture.payBatch([
        [fixture.purchase, 10n * usdc],
        [fixture.second, 5n * usdc],
      ]);
      fixture.expectAccepted(
        await fixture.reconcile(fixture.purchase, [await fixture.succeed("buyer", batch)]),
      );
      await reorganize(fixture, 1);
      return expectReverted(await fixture.reconcile(fixture.purchase), 2);
    },
  },
  {
    family: "chain",
    name: "a payment that was mined again elsewhere: taken back there, recorded here, once",
    stopped: harmless,
    async run(fixture) {
      const serializedTransaction = await fixture.sign("buyer", fixture.pay(fixture.purchase));
      const hash = await fixture.client.sendRawTransaction({ serializedTransaction });
      await fixture.receipt(hash);
      fixture.expectAccepted(await fixture.reconcile(fixture.purchase, [hash]));
      await reorganize(fixture, 1);
      await fixture.receipt(await fixture.client.sendRawTransaction({ serializedTransaction }));
      const answer = await fixture.reconcile(fixture.purchase, [hash]);
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
    async run(fixture) {
      const serializedTransaction = await fixture.sign("buyer", fixture.pay(fixture.purchase));
      const hash = await fixture.client.sendRawTransaction({ serializedTransaction });
      await fixture.receipt(hash);
      fixture.expectAccepted(await fixture.reconcile(fixture.purchase, [hash]));
      await reorganize(fixture, 1);
      await fixture.client.setBalance({ address: fixture.address("buyer"), value: 10n ** 18n });
      await emptyTokens(fixture);
      await fixture.receipt(await fixture.client.sendRawTransaction({ serializedTransaction }));
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    family: "chain",
    name: "a claim one second after its deadline",
    stopped: refused(409, "claim_window_closed", "status", "log", "timely"),
    run: async (fixture) => await claimAt(fixture, 1),
  },
  {
    family: "chain",
    name: "a claim in the last second of its deadline is in time",
    stopped: { status: 201, code: null, failed: [] },
    run: async (fixture) => await claimAt(fixture, 0),
  },
  {
    family: "chain",
    name: "an approval one second after the payment deadline",
    pays: false,
    stopped: refused(409, "deadline_passed", "timely"),
    run: async (fixture) => await approveAt(fixture, 1),
  },
  {
    family: "chain",
    name: "an approval in the last second of the payment deadline is in time",
    pays: false,
    stopped: harmless,
    run: async (fixture) => await approveAt(fixture, 0),
  },
];

/** The owner of the token stops the buyer's transfers, by a block of its own. */
async function emptyTokens(fixture: ContractFixture): Promise<void> {
  const blocklist = "0xf9f92be4";
  const account = fixture.address("buyer").slice(2).toLowerCase().padStart(64, "0");
  await fixture.succeed("deployer", { to: fixture.contracts.token, data: `${blocklist}${account}` });
}

/** Files a claim whose transaction is mined so many seconds after the deadline. */
async function claimAt(fixture: ContractFixture, seconds: number): Promise<FixtureAnswer> {
  await fixture.paid();
  const { claim, call } = fixture.claim(fixture.purchase);
  const timestamp = BigInt(fixture.purchase.deadlines.claim_deadline + seconds);
  await fixture.client.setNextBlockTimestamp({ timestamp });
  const hash: Hex = await fixture.send("beneficiary", call);
  await fixture.issueAccess();
  return await fixture.fileClaim(hash, await fixture.signClaim(claim));
}

async function approveAt(fixture: ContractFixture, seconds: number): Promise<FixtureAnswer> {
  const timestamp = BigInt(fixture.purchase.deadlines.pay_deadline + seconds);
  await fixture.client.setNextBlockTimestamp({ timestamp });
  const transaction_hash = await fixture.succeed("buyer", fixture.approve(25n * usdc));
  return await fixture.submitToWallet(fixture.purchase, { action: "approve", transaction_hash });
}
