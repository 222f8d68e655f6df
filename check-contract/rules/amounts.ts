import { encodeFunctionData } from "viem";
import { purchaseRegistrarAbi, testUsdcAbi } from "../../protocol/abi.generated.ts";
import { usdc } from "../../protocol/amount.ts";
import { hashId } from "../../protocol/id.ts";
import type { Stage } from "../stage/stage.ts";
import { type Attempt, collect, payAndClaim, type Rule, refuses, registrarCall } from "./rule.ts";

function pause({ contracts }: Stage): Attempt {
  return { to: contracts.token, data: encodeFunctionData({ abi: testUsdcAbi, functionName: "pause" }) };
}

/** What is outstanding over all offers of the program, in base units. */
async function openOffers(stage: Stage): Promise<bigint> {
  const { registrar: address } = stage.contracts;
  const query = { address, abi: purchaseRegistrarAbi, functionName: "programState" } as const;
  return (await stage.client.readContract({ ...query, args: [hashId("prg_demo")] })).openOffers;
}

/** How much is paid, refunded and given back. */
export const amountRules: readonly Rule[] = [
  {
    name: "no more is paid than the amount",
    run: async (stage) =>
      await refuses(stage, "buyer", stage.pay(stage.purchase, 25n * usdc + 1n), "AmountOutOfRange"),
  },
  {
    name: "no more is paid than the amount, in two parts",
    async run(stage) {
      await stage.succeed("buyer", stage.pay(stage.purchase, 20n * usdc));
      return await refuses(stage, "buyer", stage.pay(stage.purchase, 6n * usdc), "AmountOutOfRange");
    },
  },
  {
    name: "a payment of nothing is refused",
    run: async (stage) => await refuses(stage, "buyer", stage.pay(stage.purchase, 0n), "AmountOutOfRange"),
  },
  {
    name: "no more is refunded than was paid",
    async run(stage) {
      await payAndClaim(stage);
      return await refuses(stage, "registrar", collect(stage, 11n * usdc), "AmountOutOfRange");
    },
  },
  {
    name: "a withdrawn offer gives back exactly its unpaid part",
    async run(stage) {
      await stage.succeed("buyer", stage.pay(stage.purchase));
      const before = await openOffers(stage);
      await stage.succeed("registrar", registrarCall(stage, "withdrawOffer"));
      const released = before - (await openOffers(stage));
      return released === 15n * usdc ? null : `the contract gave back ${released}, not ${15n * usdc}`;
    },
  },
  {
    name: "a payment that the token stops leaves nothing behind",
    async run(stage) {
      await stage.succeed("deployer", pause(stage));
      await stage.send("buyer", stage.pay(stage.purchase));
      const { paid, sequence } = await stage.client.readContract({
        address: stage.contracts.registrar,
        abi: purchaseRegistrarAbi,
        functionName: "figures",
        args: [stage.purchase.commitment.hash],
      });
      return paid === 0n && sequence === 1 ? null : `the contract recorded ${paid} that never moved`;
    },
  },
];
