import { usdc } from "../../protocol/values/amount.ts";
import { submitPermit } from "../attacks/permits.ts";
import type { ContractFixture } from "../fixture/contract-fixture.ts";
import { accepts, type Rule, refuses } from "./rule.ts";

const amount = 10n * usdc;

/** The last second in which the buyer can pay the first purchase. */
function payDeadline({ purchase }: ContractFixture): bigint {
  return BigInt(purchase.deadlines.pay_deadline);
}

/** The rules for the effect of a permit when no allowance is left. */
export const permitRules: readonly Rule[] = [
  {
    name: "a payment with a permit needs no allowance",
    pays: false,
    async run(fixture) {
      await fixture.succeed("buyer", fixture.approve(0n));
      return await accepts(fixture, "buyer", fixture.payWithPermit(fixture.purchase, amount));
    },
  },
  {
    name: "a front-run permit still pays",
    pays: false,
    async run(fixture) {
      await fixture.succeed("buyer", fixture.approve(0n));
      const permit = fixture.permit(fixture.purchase, amount);
      await fixture.succeed("stranger", submitPermit(fixture, amount, permit));
      return await accepts(fixture, "buyer", fixture.payWithPermit(fixture.purchase, amount, permit));
    },
  },
  {
    name: "a permit signed by another account is refused",
    pays: false,
    async run(fixture) {
      await fixture.succeed("buyer", fixture.approve(0n));
      const permit = fixture.signPermit({ value: amount, deadline: payDeadline(fixture) }, "stranger");
      const payment = fixture.payWithPermit(fixture.purchase, amount, permit);
      return await refuses(fixture, "buyer", payment, "PermitRefused");
    },
  },
  {
    name: "a permit for another spender is refused",
    pays: false,
    async run(fixture) {
      await fixture.succeed("buyer", fixture.approve(0n));
      const spender = fixture.contracts.funding_source;
      const permit = fixture.signPermit({ value: amount, deadline: payDeadline(fixture), spender });
      const payment = fixture.payWithPermit(fixture.purchase, amount, permit);
      return await refuses(fixture, "buyer", payment, "PermitRefused");
    },
  },
  {
    name: "a used permit is refused",
    pays: false,
    async run(fixture) {
      const payment = fixture.payWithPermit(fixture.purchase, amount);
      await fixture.succeed("buyer", payment);
      return await refuses(fixture, "buyer", payment, "PermitRefused");
    },
  },
  {
    name: "an expired permit is refused",
    pays: false,
    async run(fixture) {
      await fixture.succeed("buyer", fixture.approve(0n));
      const { timestamp: deadline } = await fixture.client.getBlock({ blockTag: "latest" });
      const payment = fixture.payWithPermit(
        fixture.purchase,
        amount,
        fixture.signPermit({ value: amount, deadline }),
      );
      return await refuses(fixture, "buyer", payment, "PermitRefused");
    },
  },
];
