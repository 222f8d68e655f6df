import { usdc } from "../../protocol/values/amount.ts";
import { collect, pause, payAndClaim, type Rule, refuses, revoke } from "./rule.ts";

/** The rules for the order of steps, each of which happens once. */
export const stateRules: readonly Rule[] = [
  {
    name: "a purchase that is not on chain is not paid",
    run: async (fixture) => await refuses(fixture, "buyer", fixture.pay(fixture.draft), "UnknownPurchase"),
  },
  {
    name: "nothing is claimed before a payment",
    pays: false,
    run: async (fixture) =>
      await refuses(fixture, "beneficiary", fixture.claim(fixture.purchase).call, "NothingPaid"),
  },
  {
    name: "a purchase has one claim",
    async run(fixture) {
      await payAndClaim(fixture);
      const { call } = fixture.claim(fixture.purchase, 9n * usdc);
      return await refuses(fixture, "beneficiary", call, "AlreadyClaimed");
    },
  },
  {
    name: "a purchase is registered once",
    pays: false,
    async run(fixture) {
      const registration = fixture.registration(fixture.draft);
      await fixture.succeed("merchant", registration);
      return await refuses(fixture, "merchant", registration, "PurchaseExists");
    },
  },
  {
    name: "nothing is refunded without a claim",
    async run(fixture) {
      await fixture.succeed("buyer", fixture.pay(fixture.purchase));
      return await refuses(fixture, "registrar", collect(fixture, 5n * usdc), "NotClaimed");
    },
  },
  {
    name: "a purchase has one refund",
    async run(fixture) {
      await payAndClaim(fixture);
      await fixture.succeed("registrar", collect(fixture, 5n * usdc));
      return await refuses(fixture, "registrar", collect(fixture, 1n * usdc), "AlreadyRefunded");
    },
  },
  {
    name: "a refunded purchase takes no payment",
    async run(fixture) {
      await payAndClaim(fixture);
      await fixture.succeed("registrar", collect(fixture, 5n * usdc));
      return await refuses(fixture, "buyer", fixture.pay(fixture.purchase), "AlreadyRefunded");
    },
  },
  {
    name: "a paused program takes no payment",
    async run(fixture) {
      await fixture.succeed("deployer", pause(fixture));
      return await refuses(fixture, "buyer", fixture.pay(fixture.purchase), "ProgramPaused");
    },
  },
  {
    name: "a revoked funding covers no new purchase",
    pays: false,
    async run(fixture) {
      await fixture.succeed("merchant", revoke(fixture));
      return await refuses(fixture, "merchant", fixture.registration(fixture.draft), "NotEnrolled");
    },
  },
];
