import { usdc } from "../../protocol/amount.ts";
import { collect, pause, payAndClaim, type Rule, refuses, revoke } from "./rule.ts";

/** Which step follows which, and each of them once. */
export const stateRules: readonly Rule[] = [
  {
    name: "a purchase that is not on chain is not paid",
    run: async (stage) => await refuses(stage, "buyer", stage.pay(stage.draft), "UnknownPurchase"),
  },
  {
    name: "nothing is claimed before a payment",
    pays: false,
    run: async (stage) =>
      await refuses(stage, "beneficiary", stage.claim(stage.purchase).call, "NothingPaid"),
  },
  {
    name: "a purchase has one claim",
    async run(stage) {
      await payAndClaim(stage);
      const { call } = stage.claim(stage.purchase, 9n * usdc);
      return await refuses(stage, "beneficiary", call, "AlreadyClaimed");
    },
  },
  {
    name: "a purchase is registered once",
    pays: false,
    async run(stage) {
      const registration = stage.registration(stage.draft);
      await stage.succeed("merchant", registration);
      return await refuses(stage, "merchant", registration, "PurchaseExists");
    },
  },
  {
    name: "nothing is refunded without a claim",
    async run(stage) {
      await stage.succeed("buyer", stage.pay(stage.purchase));
      return await refuses(stage, "registrar", collect(stage, 5n * usdc), "NotClaimed");
    },
  },
  {
    name: "a purchase has one refund",
    async run(stage) {
      await payAndClaim(stage);
      await stage.succeed("registrar", collect(stage, 5n * usdc));
      return await refuses(stage, "registrar", collect(stage, 1n * usdc), "AlreadyRefunded");
    },
  },
  {
    name: "a refunded purchase takes no payment",
    async run(stage) {
      await payAndClaim(stage);
      await stage.succeed("registrar", collect(stage, 5n * usdc));
      return await refuses(stage, "buyer", stage.pay(stage.purchase), "AlreadyRefunded");
    },
  },
  {
    name: "a paused program takes no payment",
    async run(stage) {
      await stage.succeed("deployer", pause(stage));
      return await refuses(stage, "buyer", stage.pay(stage.purchase), "ProgramPaused");
    },
  },
  {
    name: "a revoked funding covers no new purchase",
    pays: false,
    async run(stage) {
      await stage.succeed("merchant", revoke(stage));
      return await refuses(stage, "merchant", stage.registration(stage.draft), "NotEnrolled");
    },
  },
];
