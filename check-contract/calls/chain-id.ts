import { encodeFunctionData } from "viem";
import { purchaseRegistrarAbi } from "../../protocol/abi.generated.ts";
import { enrollCall, registerCall } from "../../protocol/call.ts";
import type { CallRecorder } from "./call-recorder.ts";
import type { CallSequence } from "./call-sequence.ts";

/** The chain id after a fork that renames the chain. */
const otherChain = 1;

/** Digests and signatures after a fork that gives the chain another id: the contract must read the id for each of them. */
export const chainIdCalls: CallSequence = {
  name: "another chain id",
  async run(recorder) {
    const { fixture, registrar } = recorder;
    const signed = await recorder.sign();
    const funding = await recorder.authorize();
    const { claim } = fixture.claim(fixture.purchase);
    const timestamp = (await recorder.now()) + 1n;
    await setChainId(recorder, otherChain);
    try {
      const abi = purchaseRegistrarAbi;
      const digests = [
        encodeFunctionData({ abi, functionName: "hashPurchase", args: [signed.commitment] }),
        encodeFunctionData({ abi, functionName: "hashFunding", args: [funding.authorization] }),
        encodeFunctionData({ abi, functionName: "hashClaim", args: [claim] }),
      ];
      for (const [index, what] of ["a purchase", "a funding", "a claim"].entries())
        await recorder.returns(`the digest of ${what} has the chain id of its time`, "stranger", {
          to: registrar,
          data: digests[index] ?? "0x",
        });
      await recorder.simulate([
        {
          rule: "an enrollment that was signed for the chain id before is refused",
          actor: "other_merchant",
          call: enrollCall(registrar, funding.authorization, funding.signature),
          timestamp,
        },
        {
          rule: "a registration that was signed for the chain id before is refused",
          actor: "merchant",
          call: registerCall(registrar, signed.commitment, signed.signature),
          timestamp,
        },
      ]);
    } finally {
      await setChainId(recorder, fixture.sandbox.description.chain.chain_id);
    }
  },
};

async function setChainId({ fixture }: CallRecorder, chainId: number): Promise<void> {
  const query = { method: "anvil_setChainId", params: [chainId] } as const;
  await Reflect.apply(fixture.client.request, undefined, [query]);
}
