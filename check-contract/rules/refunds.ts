import { usdc } from "../../protocol/amount.ts";
import { setBoundsCall } from "../../protocol/call.ts";
import { hashId } from "../../protocol/id.ts";
import type { Stage } from "../stage/stage.ts";
import { accepts, at, collect, pause, payAndClaim, type Rule, refuses, revoke } from "./rule.ts";

/** An owed refund can be collected until the funding's enrolled end, whatever others do. */
export const refundRules: readonly Rule[] = [
  {
    name: "a refund in the last second of its funding is in time, also after a revocation",
    async run(stage) {
      await payAndClaim(stage);
      await stage.succeed("merchant", revoke(stage));
      await at(stage, stage.merchant.funding.valid_until);
      return await accepts(stage, "registrar", collect(stage, 5n * usdc));
    },
  },
  {
    name: "a refund one second after its funding is refused",
    async run(stage) {
      await payAndClaim(stage);
      await at(stage, stage.merchant.funding.valid_until + 1);
      return await refuses(stage, "registrar", collect(stage, 5n * usdc), "DeadlinePassed");
    },
  },
  {
    name: "a revocation before the payment leaves the purchase its cover",
    async run(stage) {
      await stage.succeed("merchant", revoke(stage));
      await payAndClaim(stage);
      return await accepts(stage, "registrar", collect(stage, 5n * usdc));
    },
  },
  {
    name: "a paused program's refund is collected",
    async run(stage) {
      await payAndClaim(stage);
      await stage.succeed("deployer", pause(stage));
      return await accepts(stage, "registrar", collect(stage, 5n * usdc));
    },
  },
  {
    name: "a refund is collected after the bounds have ended",
    async run(stage) {
      await payAndClaim(stage);
      await stage.succeed("deployer", limit(stage, "prg_demo", "registrar"));
      return await accepts(stage, "registrar", collect(stage, 5n * usdc));
    },
  },
  {
    name: "a decision that was used in another program still refunds its purchase",
    async run(stage) {
      await payAndClaim(stage);
      await payAndClaim(stage, stage.foreign);
      await stage.succeed("deployer", limit(stage, "prg_other", "stranger"));
      await stage.succeed("stranger", collect(stage, 1n, stage.foreign));
      return await accepts(stage, "registrar", collect(stage, 5n * usdc));
    },
  },
];

/** Names a program's operator and sets bounds that are over and allow no offer, as its admin sends it. */
function limit(stage: Stage, program: string, operator: "registrar" | "stranger") {
  const known = stage.sandbox.chain.deployment.programs.find(({ id }) => id === program);
  if (known === undefined) throw new Error(`There is no program ${program}.`);
  return setBoundsCall(stage.contracts.registrar, hashId(program), {
    registrar: stage.address(operator),
    commitmentSigner: known.commitmentSigner,
    bounds: { maxPurchase: 0n, openBudget: 0n, validUntil: 0 },
  });
}
