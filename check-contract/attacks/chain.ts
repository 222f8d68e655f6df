import type { Hex } from "viem";
import { z } from "zod";
import { usdc } from "../../protocol/values/amount.ts";
import { createSandbox } from "../../sandbox/create-sandbox.ts";
import { attacksOf, harmless, refused, transactionNotFound } from "../attack.ts";
import type { ContractFixture } from "../fixture/contract-fixture.ts";
import { type FixtureAnswer, parseReconciliation } from "../fixture/fixture-service.ts";

const rawObject = z.looseObject({});

/** Replaces the newest blocks by empty ones: their transactions are gone. */
async function reorganize(fixture: ContractFixture, depth: number): Promise<void> {
  await fixture.client.request<{ Method: "anvil_reorg"; Parameters: [number, never[]]; ReturnType: null }>({
    method: "anvil_reorg",
    params: [depth, []],
  });
  await fixture.client.request({ method: "anvil_dropAllTransactions" });
}

/** Reconciles a valid payment while each of the given number of checks finds another newest block. */
async function reconcileUnderReorgs(fixture: ContractFixture, times: number): Promise<FixtureAnswer> {
  let changed = 0;
  const answer = await fixture.reconcileAfter(async () => {
    const head = Number(await fixture.client.getBlockNumber());
    let looks = 0;
    fixture.tampered.change("eth_getBlockByNumber", (answer, parameters) => {
      if (!Array.isArray(parameters) || Number(parameters[0]) !== head) return answer;
      looks += 1;
      // The first look is for the transaction receipt's block, the second one asks whether the head is still the same, and so on.
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
    throw new Error(`${seen.reverted.length} payment receipts were taken back, not ${reverted}.`);
  return answer;
}

/**
 * Has a valid payment reconciled, then mined once more after a reorg has taken it.
 *
 * @param change - done between the two.
 */
async function minedAgain(fixture: ContractFixture, change: () => Promise<void>): Promise<FixtureAnswer> {
  const serializedTransaction = await fixture.sign("buyer", fixture.pay(fixture.purchase));
  const mine = async () => {
    const hash = await fixture.client.sendRawTransaction({ serializedTransaction });
    await fixture.receipt(hash);
    return hash;
  };
  const hash = await mine();
  fixture.expectAccepted(await fixture.reconcile(fixture.purchase, [hash]));
  await reorganize(fixture, 1);
  await change();
  await mine();
  return await fixture.reconcile(fixture.purchase, [hash]);
}

/** Attacks by a chain that changes, or that is another one. */
export const chainAttacks = attacksOf("chain", [
  {
    name: "a reorg during a read: the chain is read again",
    stopped: harmless,
    run: async (fixture) => await reconcileUnderReorgs(fixture, 1),
  },
  {
    name: "a reorg during two reads: the chain is read a third time",
    stopped: harmless,
    run: async (fixture) => await reconcileUnderReorgs(fixture, 2),
  },
  {
    name: "a reorg during three reads",
    stopped: refused(503, "rpc_unavailable"),
    run: async (fixture) => await reconcileUnderReorgs(fixture, 3),
  },
  {
    name: "a reorg during every read",
    stopped: refused(503, "rpc_unavailable"),
    run: async (fixture) => await reconcileUnderReorgs(fixture, Number.POSITIVE_INFINITY),
  },
  {
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
    name: "a node with another chain id and the same first blocks",
    stopped: refused(503, "chain_mismatch"),
    run: async (fixture) =>
      await fixture.reconcileAfter(() => fixture.tampered.change("eth_chainId", () => "0x1")),
  },
  {
    name: "a transaction of another Anvil with the same chain id and addresses",
    pays: false,
    stopped: transactionNotFound,
    async run(fixture) {
      await using other = await createSandbox({ seed: "elsewhere" });
      const { transaction_hash: transactionHash } = await other.wallets.buyer.send(fixture.approve(1n));
      return await fixture.reconcile(fixture.purchase, [transactionHash]);
    },
  },
  {
    name: "a chain reset that removes the transaction",
    stopped: transactionNotFound,
    async run(fixture) {
      const id = await fixture.client.snapshot();
      const hash = await fixture.succeed("buyer", fixture.pay(fixture.purchase));
      await fixture.client.request({ method: "evm_revert", params: [id] });
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    name: "a reorg that removes a reconciled payment: its payment receipt is removed and its hash can be submitted again",
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
    name: "a reorg between an offer's confirmation and its check: the offer is sent and checked again",
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
    name: "a reorg that removes a batch: the payment receipts of all its purchases are removed in one write",
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
    name: "a payment that is mined again in another block: the old payment receipt is removed and a new one is recorded",
    stopped: harmless,
    async run(fixture) {
      const answer = await minedAgain(fixture, async () => {});
      const { applied, reverted, purchase } = parseReconciliation(answer);
      const counts = [applied.length, reverted.length, purchase.figures.reconciled];
      if (JSON.stringify(counts) !== '[1,1,"10000000"]') throw new Error(`Recorded ${counts.join(", ")}.`);
      return answer;
    },
  },
  {
    name: "a payment that is mined again and reverts",
    stopped: refused(422, "transaction_reverted", "status", "log"),
    run: async (fixture) =>
      await minedAgain(fixture, async () => {
        await fixture.client.setBalance({ address: fixture.address("buyer"), value: 10n ** 18n });
        await emptyTokens(fixture);
      }),
  },
  {
    name: "a claim one second after the claim deadline",
    stopped: refused(409, "claim_window_closed", "status", "log", "timely"),
    run: async (fixture) => await claimAt(fixture, 1),
  },
  {
    name: "a claim in the last second of the claim deadline",
    stopped: { status: 201, code: null, failed: [] },
    run: async (fixture) => await claimAt(fixture, 0),
  },
  {
    name: "an approval one second after the pay deadline",
    pays: false,
    stopped: refused(409, "deadline_passed", "timely"),
    run: async (fixture) => await approveAt(fixture, 1),
  },
  {
    name: "an approval in the last second of the pay deadline",
    pays: false,
    stopped: harmless,
    run: async (fixture) => await approveAt(fixture, 0),
  },
]);

/** The owner of the token stops the buyer's transfers, by a block of its own. */
async function emptyTokens(fixture: ContractFixture): Promise<void> {
  const blocklist = "0xf9f92be4";
  const account = fixture.address("buyer").slice(2).toLowerCase().padStart(64, "0");
  await fixture.succeed("deployer", { to: fixture.contracts.token, data: `${blocklist}${account}` });
}

/** Files a claim whose transaction is mined the given number of seconds after the deadline. */
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
