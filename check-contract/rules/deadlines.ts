import { accepts, at, type Rule, refuses, registrarCall } from "./rule.ts";

/** The last second of every deadline, and the first after it. */
export const deadlineRules: readonly Rule[] = [
  {
    name: "a payment in the last second of its deadline is in time",
    async run(stage) {
      await at(stage, stage.purchase.deadlines.pay_deadline);
      return await accepts(stage, "buyer", stage.pay(stage.purchase));
    },
  },
  {
    name: "a payment one second after its deadline is refused",
    async run(stage) {
      await at(stage, stage.purchase.deadlines.pay_deadline + 1);
      return await refuses(stage, "buyer", stage.pay(stage.purchase), "DeadlinePassed");
    },
  },
  {
    name: "a claim in the last second of its deadline is in time",
    async run(stage) {
      await stage.succeed("buyer", stage.pay(stage.purchase));
      await at(stage, stage.purchase.deadlines.claim_deadline);
      return await accepts(stage, "beneficiary", stage.claim(stage.purchase).call);
    },
  },
  {
    name: "a claim one second after its deadline is refused",
    async run(stage) {
      await stage.succeed("buyer", stage.pay(stage.purchase));
      await at(stage, stage.purchase.deadlines.claim_deadline + 1);
      return await refuses(stage, "beneficiary", stage.claim(stage.purchase).call, "DeadlinePassed");
    },
  },
  {
    name: "a registration one second after the offer deadline is refused",
    pays: false,
    async run(stage) {
      const registration = stage.registration(stage.draft);
      await at(stage, stage.draft.deadlines.offer_deadline + 1);
      return await refuses(stage, "merchant", registration, "DeadlinePassed");
    },
  },
  {
    name: "an offer does not expire while it can be paid",
    pays: false,
    async run(stage) {
      await at(stage, stage.purchase.deadlines.pay_deadline);
      return await refuses(stage, "stranger", registrarCall(stage, "expire"), "DeadlineNotPassed");
    },
  },
  {
    name: "an expired offer takes no payment",
    async run(stage) {
      await at(stage, stage.purchase.deadlines.pay_deadline + 1);
      await stage.succeed("stranger", registrarCall(stage, "expire"));
      return await refuses(stage, "buyer", stage.pay(stage.purchase), "WrongStatus");
    },
  },
];
