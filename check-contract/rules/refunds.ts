import { setBoundsCall } from "../../protocol/call.ts";
import { usdc } from "../../protocol/values/amount.ts";
import { hashId } from "../../protocol/values/id.ts";
import type { ContractFixture } from "../fixture/contract-fixture.ts";
import { accepts, at, collect, pause, payAndClaim, type Rule, refuses, revoke } from "./rule.ts";

/** An owed refund can be collected until the funding's enrolled end, whatever others do. */
export const refundRules: readonly Rule[] = [
  {
    name: "a refund in the last second of the funding succeeds, even after a revocation",
    async run(fixture) {
      await payAndClaim(fixture);
      await fixture.succeed("merchant", revoke(fixture));
      await at(fixture, fixture.merchant.funding.valid_until);
      return await accepts(fixture, "operator", collect(fixture, 5n * usdc));
    },
  },
  {
    name: "a refund one second after the funding ends is refused",
    async run(fixture) {
      await payAndClaim(fixture);
      await at(fixture, fixture.merchant.funding.valid_until + 1);
      return await refuses(fixture, "operator", collect(fixture, 5n * usdc), "DeadlinePassed");
    },
  },
  {
    name: "a purchase can be paid, claimed and refunded after a revocation",
    async run(fixture) {
      await fixture.succeed("merchant", revoke(fixture));
      await payAndClaim(fixture);
      return await accepts(fixture, "operator", collect(fixture, 5n * usdc));
    },
  },
  {
    name: "a refund succeeds while the program is paused",
    async run(fixture) {
      await payAndClaim(fixture);
      await fixture.succeed("deployer", pause(fixture));
      return await accepts(fixture, "operator", collect(fixture, 5n * usdc));
    },
  },
  {
    name: "a refund succeeds after the bounds have ended",
    async run(fixture) {
      await payAndClaim(fixture);
      await fixture.succeed("deployer", limit(fixture, "prg_demo", "operator"));
      return await accepts(fixture, "operator", collect(fixture, 5n * usdc));
    },
  },
  {
    name: "a decision hash that another program has used does not block a refund",
    async run(fixture) {
      await payAndClaim(fixture);
      await payAndClaim(fixture, fixture.foreign);
      await fixture.succeed("deployer", limit(fixture, "prg_other", "stranger"));
      await fixture.succeed("stranger", collect(fixture, 1n, fixture.foreign));
      return await accepts(fixture, "operator", collect(fixture, 5n * usdc));
    },
  },
];

/** Names a program's operator and ends its bounds, as its admin sends it. */
function limit(fixture: ContractFixture, program: string, operator: "operator" | "stranger") {
  const known = fixture.sandbox.chain.deployment.programs.find(({ id }) => id === program);
  if (known === undefined) throw new Error(`There is no program ${program}.`);
  return setBoundsCall(fixture.contracts.registrar, hashId(program), {
    operator: fixture.address(operator),
    commitmentSigner: known.commitmentSigner,
    bounds: { ...known.bounds, validUntil: 1 },
  });
}
