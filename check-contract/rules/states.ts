import { usdc } from "../../protocol/values/amount.ts";
import { collect, pause, payAndClaim, type Rule, refuses, revoke } from "./rule.ts";

/** The rules for the order of steps, each of which happens once. */
export const stateRules: readonly Rule[] = [
  {
    name: "a payment of an unknown purchase is refused",
    run: async (fixture) => await refuses(fixture, "buyer", fixture.pay(fixture.draft), "UnknownPurchase"),
  },
  {
    name: "a claim before a payment is refused",
    pays: false,
    run: async (fixture) =>
      await refuses(fixture, "beneficiary", fixture.claim(fixture.purchase).call, "NothingPaid"),
  },
  {
    name: "a second claim is refused",
    async run(fixture) {
      await payAndClaim(fixture);
      const { call } = fixture.claim(fixture.purchase, 9n * usdc);
      return await refuses(fixture, "beneficiary", call, "AlreadyClaimed");
    },
  },
  {
    name: "a second registration is refused",
    pays: false,
    async run(fixture) {
      const registration = fixture.registration(fixture.draft);
      await fixture.succeed("merchant", registration);
      return await refuses(fixture, "merchant", registration, "PurchaseExists");
    },
  },
  {
    name: "a refund without a claim is refused",
    async run(fixture) {
      await fixture.succeed("buyer", fixture.pay(fixture.purchase));
      return await refuses(fixture, "operator", collect(fixture, 5n * usdc), "NotClaimed");
    },
  },
  {
    name: "a second refund is refused",
    async run(fixture) {
      await payAndClaim(fixture);
      await fixture.succeed("operator", collect(fixture, 5n * usdc));
      return await refuses(fixture, "operator", collect(fixture, 1n * usdc), "AlreadyRefunded");
    },
  },
  {
    name: "a payment after the refund is refused",
    async run(fixture) {
      await payAndClaim(fixture);
      await fixture.succeed("operator", collect(fixture, 5n * usdc));
      return await refuses(fixture, "buyer", fixture.pay(fixture.purchase), "AlreadyRefunded");
    },
  },
  {
    name: "a payment while the program is paused is refused",
    async run(fixture) {
      await fixture.succeed("deployer", pause(fixture));
      return await refuses(fixture, "buyer", fixture.pay(fixture.purchase), "ProgramPaused");
    },
  },
  {
    name: "a new purchase after a revocation is refused",
    pays: false,
    async run(fixture) {
      await fixture.succeed("merchant", revoke(fixture));
      return await refuses(fixture, "merchant", fixture.registration(fixture.draft), "NotEnrolled");
    },
  },
];
