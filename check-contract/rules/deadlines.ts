import { accepts, at, type Rule, refuses, registrarCall } from "./rule.ts";

/** The last second of every deadline, and the first after it. */
export const deadlineRules: readonly Rule[] = [
  {
    name: "a payment in the last second of the pay deadline succeeds",
    withPermit:
      "a payment in the last second of the pay deadline, which is the permit's deadline too, succeeds",
    async run(fixture) {
      await at(fixture, fixture.purchase.deadlines.pay_deadline);
      return await accepts(fixture, "buyer", fixture.pay(fixture.purchase));
    },
  },
  {
    name: "a payment one second after the pay deadline is refused",
    async run(fixture) {
      await at(fixture, fixture.purchase.deadlines.pay_deadline + 1);
      return await refuses(fixture, "buyer", fixture.pay(fixture.purchase), "DeadlinePassed");
    },
  },
  {
    name: "a claim in the last second of the claim deadline succeeds",
    async run(fixture) {
      await fixture.succeed("buyer", fixture.pay(fixture.purchase));
      await at(fixture, fixture.purchase.deadlines.claim_deadline);
      return await accepts(fixture, "beneficiary", fixture.claim(fixture.purchase).call);
    },
  },
  {
    name: "a claim one second after the claim deadline is refused",
    async run(fixture) {
      await fixture.succeed("buyer", fixture.pay(fixture.purchase));
      await at(fixture, fixture.purchase.deadlines.claim_deadline + 1);
      return await refuses(fixture, "beneficiary", fixture.claim(fixture.purchase).call, "DeadlinePassed");
    },
  },
  {
    name: "a registration one second after the offer deadline is refused",
    pays: false,
    async run(fixture) {
      const registration = fixture.registration(fixture.draft);
      await at(fixture, fixture.draft.deadlines.offer_deadline + 1);
      return await refuses(fixture, "merchant", registration, "DeadlinePassed");
    },
  },
  {
    name: "an offer cannot expire before its pay deadline has passed",
    pays: false,
    async run(fixture) {
      await at(fixture, fixture.purchase.deadlines.pay_deadline);
      return await refuses(fixture, "stranger", registrarCall(fixture, "expire"), "DeadlineNotPassed");
    },
  },
  {
    name: "a payment of an expired offer is refused",
    async run(fixture) {
      await at(fixture, fixture.purchase.deadlines.pay_deadline + 1);
      await fixture.succeed("stranger", registrarCall(fixture, "expire"));
      const payment = fixture.pay(fixture.purchase);
      return await refuses(fixture, "buyer", payment, "WrongStatus", "DeadlinePassed");
    },
  },
];
