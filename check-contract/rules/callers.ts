import { encodeFunctionData } from "viem";
import { fundingSourceAbi } from "../../protocol/abi.generated.ts";
import { usdc } from "../../protocol/values/amount.ts";
import { collect, payAndClaim, type Rule, refuses, registrarCall } from "./rule.ts";

/** The rules for callers: only the account that a purchase names may move it forward. */
export const callerRules: readonly Rule[] = [
  {
    name: "only the buyer can pay, even if another account has tokens and an allowance",
    async run(fixture) {
      await fixture.succeed("stranger", fixture.approve(25n * usdc));
      return await refuses(fixture, "stranger", fixture.pay(fixture.purchase), "WrongCaller");
    },
  },
  {
    name: "only the buyer can pay in a batch",
    pays: false,
    async run(fixture) {
      await fixture.succeed("stranger", fixture.approve(25n * usdc));
      const batch = fixture.payBatch([
        [fixture.purchase, 10n * usdc],
        [fixture.second, 10n * usdc],
      ]);
      return await refuses(fixture, "stranger", batch, "WrongCaller");
    },
  },
  {
    name: "only the merchant can register",
    pays: false,
    run: async (fixture) =>
      await refuses(fixture, "stranger", fixture.registration(fixture.draft), "WrongCaller"),
  },
  {
    name: "only the beneficiary can claim",
    async run(fixture) {
      await fixture.succeed("buyer", fixture.pay(fixture.purchase));
      return await refuses(fixture, "stranger", fixture.claim(fixture.purchase).call, "WrongCaller");
    },
  },
  {
    name: "only the program operator can collect a refund",
    async run(fixture) {
      await payAndClaim(fixture);
      return await refuses(fixture, "stranger", collect(fixture, 5n * usdc), "WrongCaller");
    },
  },
  {
    name: "only the program operator can withdraw an offer",
    pays: false,
    run: async (fixture) =>
      await refuses(fixture, "stranger", registrarCall(fixture, "withdrawOffer"), "WrongCaller"),
  },
  {
    name: "only the registrar contract can draw from the funding source",
    pays: false,
    async run(fixture) {
      const { token, funding_source: to } = fixture.contracts;
      const data = encodeFunctionData({
        abi: fundingSourceAbi,
        functionName: "draw",
        args: [token, fixture.address("merchant"), fixture.address("stranger"), usdc],
      });
      return await refuses(fixture, "stranger", { to, data }, "NotRegistrar");
    },
  },
];
