import { encodeFunctionData } from "viem";
import { purchaseRegistrarAbi, testUsdcAbi } from "../../protocol/abi.generated.ts";
import { usdc } from "../../protocol/values/amount.ts";
import { hashId } from "../../protocol/values/id.ts";
import type { ContractFixture } from "../fixture/contract-fixture.ts";
import { type ContractCall, collect, payAndClaim, type Rule, refuses, registrarCall } from "./rule.ts";

function pause({ contracts }: ContractFixture): ContractCall {
  return { to: contracts.token, data: encodeFunctionData({ abi: testUsdcAbi, functionName: "pause" }) };
}

/** Returns the amount outstanding over all offers of the program, in base units. */
async function openOffers(fixture: ContractFixture): Promise<bigint> {
  const { registrar: address } = fixture.contracts;
  const query = { address, abi: purchaseRegistrarAbi, functionName: "programState" } as const;
  return (await fixture.client.readContract({ ...query, args: [hashId("prg_demo")] })).openOffers;
}

/** The rules for the amounts paid, refunded and given back. */
export const amountRules: readonly Rule[] = [
  {
    name: "a payment above the amount is refused",
    run: async (fixture) =>
      await refuses(fixture, "buyer", fixture.pay(fixture.purchase, 25n * usdc + 1n), "AmountOutOfRange"),
  },
  {
    name: "two payments above the amount are refused",
    async run(fixture) {
      await fixture.succeed("buyer", fixture.pay(fixture.purchase, 20n * usdc));
      return await refuses(fixture, "buyer", fixture.pay(fixture.purchase, 6n * usdc), "AmountOutOfRange");
    },
  },
  {
    name: "a zero payment is refused",
    run: async (fixture) =>
      await refuses(fixture, "buyer", fixture.pay(fixture.purchase, 0n), "AmountOutOfRange"),
  },
  {
    name: "a refund above the paid amount is refused",
    async run(fixture) {
      await payAndClaim(fixture);
      return await refuses(fixture, "operator", collect(fixture, 11n * usdc), "AmountOutOfRange");
    },
  },
  {
    name: "withdrawing an offer releases exactly its unpaid amount",
    async run(fixture) {
      await fixture.succeed("buyer", fixture.pay(fixture.purchase));
      const before = await openOffers(fixture);
      await fixture.succeed("operator", registrarCall(fixture, "withdrawOffer"));
      const released = before - (await openOffers(fixture));
      return released === 15n * usdc ? null : `the contract gave back ${released}, not ${15n * usdc}`;
    },
  },
  {
    name: "a payment whose transfer fails leaves the state unchanged",
    async run(fixture) {
      await fixture.succeed("deployer", pause(fixture));
      await fixture.send("buyer", fixture.pay(fixture.purchase));
      const { paid, sequence } = await fixture.client.readContract({
        address: fixture.contracts.registrar,
        abi: purchaseRegistrarAbi,
        functionName: "figures",
        args: [fixture.purchase.commitment.hash],
      });
      return paid === 0n && sequence === 1 ? null : `the contract recorded ${paid} that never moved`;
    },
  },
];
