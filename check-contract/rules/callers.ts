import { encodeFunctionData } from "viem";
import { fundingSourceAbi } from "../../protocol/abi.generated.ts";
import { usdc } from "../../protocol/amount.ts";
import { collect, payAndClaim, type Rule, refuses, registrarCall } from "./rule.ts";

/** Who may move a purchase on: nobody but the one that it names. */
export const callerRules: readonly Rule[] = [
  {
    name: "nobody but the buyer pays, though he pays with his own money",
    async run(stage) {
      await stage.succeed("stranger", stage.approve(25n * usdc));
      return await refuses(stage, "stranger", stage.pay(stage.purchase), "WrongCaller");
    },
  },
  {
    name: "nobody but the buyer pays in a batch",
    pays: false,
    async run(stage) {
      await stage.succeed("stranger", stage.approve(25n * usdc));
      const batch = stage.payBatch([[stage.purchase, 10n * usdc]]);
      return await refuses(stage, "stranger", batch, "WrongCaller");
    },
  },
  {
    name: "nobody but the merchant registers",
    pays: false,
    run: async (stage) => await refuses(stage, "stranger", stage.registration(stage.draft), "WrongCaller"),
  },
  {
    name: "nobody but the beneficiary claims",
    async run(stage) {
      await stage.succeed("buyer", stage.pay(stage.purchase));
      return await refuses(stage, "stranger", stage.claim(stage.purchase).call, "WrongCaller");
    },
  },
  {
    name: "nobody but the bounded registrar collects a refund",
    async run(stage) {
      await payAndClaim(stage);
      return await refuses(stage, "stranger", collect(stage, 5n * usdc), "WrongCaller");
    },
  },
  {
    name: "nobody but the registrar withdraws an offer",
    pays: false,
    run: async (stage) =>
      await refuses(stage, "stranger", registrarCall(stage, "withdrawOffer"), "WrongCaller"),
  },
  {
    name: "nobody but the registrar draws from the funding source",
    pays: false,
    async run(stage) {
      const { token, funding_source: to } = stage.contracts;
      const data = encodeFunctionData({
        abi: fundingSourceAbi,
        functionName: "draw",
        args: [token, stage.address("merchant"), stage.address("stranger"), usdc],
      });
      return await refuses(stage, "stranger", { to, data }, "NotRegistrar");
    },
  },
];
