import { usdc } from "../../protocol/values/amount.ts";
import { attacksOf, harmless, mismatch, refused, transactionNotFound } from "../attack.ts";
import { parseReconciliation } from "../fixture/fixture-service.ts";

/** Attacks by who sent a transaction, when, and what became of it. */
export const envelopeAttacks = attacksOf("envelope", [
  {
    name: "the hash of another buyer's valid payment",
    stopped: mismatch("wallet", "calldata", "log"),
    async run(fixture) {
      const theirs = await fixture.createPurchase({ buyer: fixture.address("other_buyer") });
      await fixture.activate(theirs);
      await fixture.succeed("other_buyer", fixture.approve(10n * usdc));
      const hash = await fixture.succeed("other_buyer", fixture.pay(theirs));
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    name: "the buyer's calldata, sent by a stranger",
    stopped: mismatch("status", "wallet", "log"),
    async run(fixture) {
      const hash = await fixture.send("stranger", fixture.pay(fixture.purchase));
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    name: "the hash of a pending transaction",
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
    async run(fixture) {
      await fixture.client.setAutomine(false);
      const hash = await fixture.submit("buyer", fixture.pay(fixture.purchase));
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    name: "the hash of a dropped transaction",
    stopped: transactionNotFound,
    async run(fixture) {
      await fixture.client.setAutomine(false);
      const hash = await fixture.submit("buyer", fixture.pay(fixture.purchase));
      await fixture.client.dropTransaction({ hash });
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    name: "the hash of a transaction that another one with the same nonce replaced",
    stopped: transactionNotFound,
    async run(fixture) {
      const nonce = await fixture.client.getTransactionCount({ address: fixture.address("buyer") });
      await fixture.client.setAutomine(false);
      const hash = await fixture.submit("buyer", { ...fixture.pay(fixture.purchase), nonce });
      await fixture.submit("buyer", { ...fixture.approve(0n), nonce, maxFeePerGas: 9_000_000_000n });
      await fixture.client.mine({ blocks: 1 });
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    name: "a sped-up payment: only the mined transaction is recorded",
    stopped: harmless,
    async run(fixture) {
      const nonce = await fixture.client.getTransactionCount({ address: fixture.address("buyer") });
      await fixture.client.setAutomine(false);
      await fixture.submit("buyer", { ...fixture.pay(fixture.purchase), nonce });
      const faster = { ...fixture.pay(fixture.purchase), nonce, maxFeePerGas: 9_000_000_000n };
      const hash = await fixture.submit("buyer", faster);
      await fixture.client.mine({ blocks: 1 });
      const answer = await fixture.reconcile(fixture.purchase, [hash]);
      const { applied } = parseReconciliation(answer);
      if (applied.length !== 1) throw new Error(`${applied.length} payments were applied, not 1.`);
      return answer;
    },
  },
  {
    name: "a contract creation with a payment's calldata as its code",
    stopped: mismatch("status", "contract", "log"),
    async run(fixture) {
      const { data } = fixture.pay(fixture.purchase);
      return await fixture.reconcile(fixture.purchase, [await fixture.send("buyer", { to: null, data })]);
    },
  },
  {
    name: "a payment that also sends ETH",
    stopped: mismatch("status", "value", "log"),
    async run(fixture) {
      const hash = await fixture.send("buyer", { ...fixture.pay(fixture.purchase), value: 1n });
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    name: "a transaction older than the purchase",
    pays: false,
    stopped: mismatch("timely"),
    async run(fixture) {
      const hash = await fixture.succeed("buyer", fixture.approve(25n * usdc));
      await fixture.client.mine({ blocks: 3 });
      const purchase = await fixture.createPurchase({});
      return await fixture.submitToWallet(purchase, { action: "approve", transaction_hash: hash });
    },
  },
  {
    name: "one hash for two purchases",
    stopped: mismatch("calldata", "log"),
    async run(fixture) {
      const hash = await fixture.paid();
      return await fixture.reconcile(fixture.second, [hash]);
    },
  },
  {
    name: "one hash for two steps: a payment submitted as the registration",
    stopped: mismatch("wallet", "calldata", "purchase", "log"),
    async run(fixture) {
      return await fixture.register(
        fixture.draft,
        await fixture.succeed("buyer", fixture.pay(fixture.purchase)),
      );
    },
  },
  {
    name: "one hash for two steps: a reconciled payment submitted as the claim",
    stopped: mismatch("wallet", "calldata", "log", "unused"),
    async run(fixture) {
      const { signature } = await fixture.paidAndClaimed();
      const [receipt] = (await fixture.sandbox.store.list("purchases", { program: "prg_demo" })).flatMap(
        ({ value }) => value.receipts,
      );
      if (receipt === undefined) throw new Error("A payment was reconciled.");
      return await fixture.fileClaim(receipt.transaction_hash, signature);
    },
  },
  {
    name: "a hash in uppercase",
    stopped: refused(422, "validation_failed"),
    async run(fixture) {
      const hash = await fixture.succeed("buyer", fixture.pay(fixture.purchase));
      return await fixture.reconcile(fixture.purchase, [`0x${hash.slice(2).toUpperCase()}`]);
    },
  },
  {
    name: "a legacy transaction passes the same checks",
    stopped: harmless,
    async run(fixture) {
      const hash = await fixture.succeed("buyer", { ...fixture.pay(fixture.purchase), legacy: true });
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
]);
