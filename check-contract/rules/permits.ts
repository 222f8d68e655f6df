import { usdc } from "../../protocol/amount.ts";
import { submission } from "../attacks/permits.ts";
import type { Stage } from "../stage/stage.ts";
import { accepts, type Rule, refuses } from "./rule.ts";

const amount = 10n * usdc;

/** The last second in which the buyer can pay the first purchase. */
function payDeadline({ purchase }: Stage): bigint {
  return BigInt(purchase.deadlines.pay_deadline);
}

/** What a permit does, and what it does not, where no allowance is left. */
export const permitRules: readonly Rule[] = [
  {
    name: "a permit pays without an allowance",
    pays: false,
    async run(stage) {
      await stage.succeed("buyer", stage.approve(0n));
      return await accepts(stage, "buyer", stage.payWithPermit(stage.purchase, amount));
    },
  },
  {
    name: "a permit that somebody submitted first pays",
    pays: false,
    async run(stage) {
      await stage.succeed("buyer", stage.approve(0n));
      const permit = stage.permit(stage.purchase, amount);
      await stage.succeed("stranger", submission(stage, amount, permit));
      return await accepts(stage, "buyer", stage.payWithPermit(stage.purchase, amount, permit));
    },
  },
  {
    name: "a permit that somebody else signed pays nothing",
    pays: false,
    async run(stage) {
      await stage.succeed("buyer", stage.approve(0n));
      const permit = stage.signPermit({ value: amount, deadline: payDeadline(stage) }, "stranger");
      const payment = stage.payWithPermit(stage.purchase, amount, permit);
      return await refuses(stage, "buyer", payment, "PermitRefused");
    },
  },
  {
    name: "a permit for another spender pays nothing",
    pays: false,
    async run(stage) {
      await stage.succeed("buyer", stage.approve(0n));
      const spender = stage.contracts.funding_source;
      const permit = stage.signPermit({ value: amount, deadline: payDeadline(stage), spender });
      const payment = stage.payWithPermit(stage.purchase, amount, permit);
      return await refuses(stage, "buyer", payment, "PermitRefused");
    },
  },
  {
    name: "a permit pays once",
    pays: false,
    async run(stage) {
      const payment = stage.payWithPermit(stage.purchase, amount);
      await stage.succeed("buyer", payment);
      return await refuses(stage, "buyer", payment, "PermitRefused");
    },
  },
  {
    name: "a permit that has expired pays nothing",
    pays: false,
    async run(stage) {
      await stage.succeed("buyer", stage.approve(0n));
      const { timestamp: deadline } = await stage.client.getBlock({ blockTag: "latest" });
      const payment = stage.payWithPermit(
        stage.purchase,
        amount,
        stage.signPermit({ value: amount, deadline }),
      );
      return await refuses(stage, "buyer", payment, "PermitRefused");
    },
  },
];
