import { usdc } from "../../protocol/values/amount.ts";
import { attacksOf, harmless, mismatch, refused } from "../attack.ts";
import { parseReconciliation } from "../fixture/fixture-service.ts";

/** Attacks by the order and the number of requests. */
export const serviceAttacks = attacksOf("service", [
  {
    name: "two concurrent submissions of one payment: it is applied once",
    stopped: harmless,
    async run(fixture) {
      const hash = await fixture.succeed("buyer", fixture.pay(fixture.purchase));
      const answers = await Promise.all(
        [1, 2, 3].map(async () => await fixture.reconcile(fixture.purchase, [hash])),
      );
      const applied = answers.map(
        (answer) => parseReconciliation(fixture.expectAccepted(answer)).applied.length,
      );
      if (applied.toSorted().join() !== "0,0,1") throw new Error(`Applied ${applied.join(", ")} times.`);
      const [first] = answers;
      if (first === undefined) throw new Error("There were three requests.");
      return first;
    },
  },
  {
    name: "a list that contains one payment twice",
    stopped: harmless,
    async run(fixture) {
      const hash = await fixture.succeed("buyer", fixture.pay(fixture.purchase));
      const answer = await fixture.reconcile(fixture.purchase, [hash, hash]);
      const { applied, already_reconciled } = parseReconciliation(answer);
      if (applied.length !== 1 || already_reconciled.length !== 0) throw new Error("It counted twice.");
      return answer;
    },
  },
  {
    name: "a valid payment together with one of another purchase: neither is recorded",
    stopped: mismatch("calldata", "log"),
    async run(fixture) {
      const good = await fixture.succeed("buyer", fixture.pay(fixture.purchase));
      const other = await fixture.succeed("buyer", fixture.pay(fixture.second));
      return await fixture.reconcile(fixture.purchase, [good, other]);
    },
  },
  {
    name: "a batch that also pays a purchase that is not active yet",
    pays: false,
    stopped: refused(409, "state_conflict"),
    async run(fixture) {
      await fixture.succeed("merchant", fixture.registration(fixture.draft));
      const batch = fixture.payBatch([
        [fixture.purchase, 10n * usdc],
        [fixture.draft, 5n * usdc],
      ]);
      return await fixture.reconcile(fixture.purchase, [await fixture.succeed("buyer", batch)]);
    },
  },
  {
    name: "a claim before its payment is reconciled",
    stopped: refused(409, "state_conflict"),
    async run(fixture) {
      await fixture.succeed("buyer", fixture.pay(fixture.purchase));
      const { claim, call } = fixture.claim(fixture.purchase);
      const hash = await fixture.succeed("beneficiary", call);
      return await fixture.fileClaim(hash, await fixture.signClaim(claim));
    },
  },
  {
    name: "a registration from an account other than the merchant",
    pays: false,
    stopped: mismatch("status", "wallet", "purchase", "log"),
    async run(fixture) {
      const hash = await fixture.send("stranger", fixture.registration(fixture.draft));
      return await fixture.register(fixture.draft, hash);
    },
  },
]);
