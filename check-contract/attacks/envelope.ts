import { usdc } from "../../protocol/amount.ts";
import { type Attack, harmless, mismatch, refused, unknownTransaction } from "../attack.ts";
import { parseReconciliation } from "../stage/staged-service.ts";

/** Attacks by who sent a transaction, when, and what became of it. */
export const envelopeAttacks: readonly Attack[] = [
  {
    family: "envelope",
    name: "another wallet's hash: an honest payment of somebody else's purchase",
    stopped: mismatch("wallet", "calldata", "log"),
    async run(stage) {
      const theirs = await stage.createPurchase({ buyer: stage.address("other_buyer") });
      await stage.activate(theirs);
      await stage.succeed("other_buyer", stage.approve(10n * usdc));
      const hash = await stage.succeed("other_buyer", stage.pay(theirs));
      return await stage.reconcile(stage.purchase, [hash]);
    },
  },
  {
    family: "envelope",
    name: "a stranger sends the buyer's own calldata",
    stopped: mismatch("status", "wallet", "log"),
    async run(stage) {
      const hash = await stage.send("stranger", stage.pay(stage.purchase));
      return await stage.reconcile(stage.purchase, [hash]);
    },
  },
  {
    family: "envelope",
    name: "a pending hash",
    stopped: refused(
      409,
      "transaction_unconfirmed",
      "mined",
      "confirmations",
      "canonical",
      "status",
      "contract",
      "log",
      "timely",
    ),
    async run(stage) {
      await stage.client.setAutomine(false);
      const hash = await stage.submit("buyer", stage.pay(stage.purchase));
      return await stage.reconcile(stage.purchase, [hash]);
    },
  },
  {
    family: "envelope",
    name: "a dropped hash",
    stopped: unknownTransaction,
    async run(stage) {
      await stage.client.setAutomine(false);
      const hash = await stage.submit("buyer", stage.pay(stage.purchase));
      await stage.client.dropTransaction({ hash });
      return await stage.reconcile(stage.purchase, [hash]);
    },
  },
  {
    family: "envelope",
    name: "a hash that was replaced by another transaction with its nonce",
    stopped: unknownTransaction,
    async run(stage) {
      const nonce = await stage.client.getTransactionCount({ address: stage.address("buyer") });
      await stage.client.setAutomine(false);
      const hash = await stage.submit("buyer", { ...stage.pay(stage.purchase), nonce });
      await stage.submit("buyer", { ...stage.approve(0n), nonce, maxFeePerGas: 9_000_000_000n });
      await stage.client.mine({ blocks: 1 });
      return await stage.reconcile(stage.purchase, [hash]);
    },
  },
  {
    family: "envelope",
    name: "a sped-up payment: the hash that was mined counts, once",
    stopped: harmless,
    async run(stage) {
      const nonce = await stage.client.getTransactionCount({ address: stage.address("buyer") });
      await stage.client.setAutomine(false);
      await stage.submit("buyer", { ...stage.pay(stage.purchase), nonce });
      const faster = { ...stage.pay(stage.purchase), nonce, maxFeePerGas: 9_000_000_000n };
      const hash = await stage.submit("buyer", faster);
      await stage.client.mine({ blocks: 1 });
      const answer = await stage.reconcile(stage.purchase, [hash]);
      const { applied } = parseReconciliation(answer);
      if (applied.length !== 1) throw new Error(`${applied.length} payments were applied, not 1.`);
      return answer;
    },
  },
  {
    family: "envelope",
    name: "a contract creation with a payment's calldata as its code",
    stopped: mismatch("status", "contract", "log"),
    async run(stage) {
      const { data } = stage.pay(stage.purchase);
      return await stage.reconcile(stage.purchase, [await stage.send("buyer", { to: null, data })]);
    },
  },
  {
    family: "envelope",
    name: "ETH sent along",
    stopped: mismatch("status", "value", "log"),
    async run(stage) {
      const hash = await stage.send("buyer", { ...stage.pay(stage.purchase), value: 1n });
      return await stage.reconcile(stage.purchase, [hash]);
    },
  },
  {
    family: "envelope",
    name: "a transaction older than the purchase",
    pays: false,
    stopped: mismatch("timely"),
    async run(stage) {
      const hash = await stage.succeed("buyer", stage.approve(25n * usdc));
      await stage.client.mine({ blocks: 3 });
      const purchase = await stage.createPurchase({});
      return await stage.submitToWallet(purchase, { action: "approve", transaction_hash: hash });
    },
  },
  {
    family: "envelope",
    name: "one hash for two purchases",
    stopped: mismatch("calldata", "log"),
    async run(stage) {
      const hash = await stage.paid();
      return await stage.reconcile(stage.second, [hash]);
    },
  },
  {
    family: "envelope",
    name: "one hash for two stages: a payment's hash as the registration",
    stopped: mismatch("wallet", "calldata", "purchase", "log"),
    async run(stage) {
      return await stage.register(stage.draft, await stage.succeed("buyer", stage.pay(stage.purchase)));
    },
  },
  {
    family: "envelope",
    name: "one hash for two stages: a used payment's hash as the claim",
    stopped: mismatch("wallet", "calldata", "log", "unused"),
    async run(stage) {
      const { signature } = await stage.paidAndClaimed();
      const [receipt] = (await stage.sandbox.store.list("purchases", { program: "prg_demo" })).flatMap(
        ({ value }) => value.receipts,
      );
      if (receipt === undefined) throw new Error("A payment was reconciled.");
      return await stage.fileClaim(receipt.transaction_hash, signature);
    },
  },
  {
    family: "envelope",
    name: "a hash in another case",
    stopped: refused(422, "validation_failed"),
    async run(stage) {
      const hash = await stage.succeed("buyer", stage.pay(stage.purchase));
      return await stage.reconcile(stage.purchase, [`0x${hash.slice(2).toUpperCase()}`]);
    },
  },
  {
    family: "envelope",
    name: "a legacy transaction is judged by the same checks",
    stopped: harmless,
    async run(stage) {
      const hash = await stage.succeed("buyer", { ...stage.pay(stage.purchase), legacy: true });
      return await stage.reconcile(stage.purchase, [hash]);
    },
  },
];
