import { usdc } from "../../protocol/amount.ts";
import { type Attack, harmless, mismatch, refused } from "../attack.ts";
import { parseReconciliation } from "../stage/staged-service.ts";

/** Attacks by the order and the number of requests. */
export const serviceAttacks: readonly Attack[] = [
  {
    family: "service",
    name: "two submissions at once: one of them applies the payment",
    stopped: harmless,
    async run(stage) {
      const hash = await stage.succeed("buyer", stage.pay(stage.purchase));
      const answers = await Promise.all(
        [1, 2, 3].map(async () => await stage.reconcile(stage.purchase, [hash])),
      );
      const applied = answers.map(
        (answer) => parseReconciliation(stage.expectAccepted(answer)).applied.length,
      );
      if (applied.toSorted().join() !== "0,0,1") throw new Error(`Applied ${applied.join(", ")} times.`);
      const [first] = answers;
      if (first === undefined) throw new Error("There were three requests.");
      return first;
    },
  },
  {
    family: "service",
    name: "one payment among several hashes, named twice",
    stopped: harmless,
    async run(stage) {
      const hash = await stage.succeed("buyer", stage.pay(stage.purchase));
      const answer = await stage.reconcile(stage.purchase, [hash, hash]);
      const { applied, already_reconciled } = parseReconciliation(answer);
      if (applied.length !== 1 || already_reconciled.length !== 0) throw new Error("It counted twice.");
      return answer;
    },
  },
  {
    family: "service",
    name: "a good payment and a foreign one together: neither is recorded",
    stopped: mismatch("calldata", "log"),
    async run(stage) {
      const good = await stage.succeed("buyer", stage.pay(stage.purchase));
      const other = await stage.succeed("buyer", stage.pay(stage.second));
      return await stage.reconcile(stage.purchase, [good, other]);
    },
  },
  {
    family: "service",
    name: "a batch that pays a purchase which the service does not call active yet",
    pays: false,
    stopped: refused(409, "state_conflict"),
    async run(stage) {
      await stage.succeed("merchant", stage.registration(stage.draft));
      const batch = stage.payBatch([
        [stage.purchase, 10n * usdc],
        [stage.draft, 5n * usdc],
      ]);
      return await stage.reconcile(stage.purchase, [await stage.succeed("buyer", batch)]);
    },
  },
  {
    family: "service",
    name: "a claim that is filed before its payment is reconciled",
    stopped: refused(409, "state_conflict"),
    async run(stage) {
      await stage.succeed("buyer", stage.pay(stage.purchase));
      const { claim, call } = stage.claim(stage.purchase);
      const hash = await stage.succeed("beneficiary", call);
      return await stage.fileClaim(hash, await stage.signClaim(claim));
    },
  },
  {
    family: "service",
    name: "a registration by somebody else than the merchant",
    pays: false,
    stopped: mismatch("status", "wallet", "purchase", "log"),
    async run(stage) {
      const hash = await stage.send("stranger", stage.registration(stage.draft));
      return await stage.register(stage.draft, hash);
    },
  },
];
