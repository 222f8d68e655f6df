import { concatHex, slice } from "viem";
import { purchaseRegistrarAbi } from "../../protocol/abi.generated.ts";
import { usdc } from "../../protocol/amount.ts";
import { hashClaim } from "../../protocol/claim.ts";
import { type Attempt, type Rule, refuses } from "./rule.ts";

function trailing({ to, data }: Attempt): Attempt {
  return { to, data: `${data}00` };
}

/** What a call says: all of it, exactly as it was committed to. */
export const calldataRules: readonly Rule[] = [
  {
    name: "a payment with a trailing byte is refused",
    run: async (stage) =>
      await refuses(stage, "buyer", trailing(stage.pay(stage.purchase)), "NonCanonicalLength"),
  },
  {
    name: "a batch with a trailing byte is refused",
    pays: false,
    run: async (stage) =>
      await refuses(
        stage,
        "buyer",
        trailing(stage.payBatch([[stage.purchase, 10n * usdc]])),
        "NonCanonicalEncoding",
      ),
  },
  {
    name: "a claim with a trailing byte is refused",
    async run(stage) {
      await stage.succeed("buyer", stage.pay(stage.purchase));
      const { call } = stage.claim(stage.purchase);
      return await refuses(stage, "beneficiary", trailing(call), "NonCanonicalLength");
    },
  },
  {
    name: "a registration with a trailing byte is refused",
    pays: false,
    run: async (stage) =>
      await refuses(stage, "merchant", trailing(stage.registration(stage.draft)), "NonCanonicalEncoding"),
  },
  {
    name: "ETH is refused",
    run: async (stage) =>
      await refuses(stage, "buyer", { ...stage.pay(stage.purchase), value: 1n }, "no reason"),
  },
  {
    name: "a commitment that was changed after it was signed is not registered",
    pays: false,
    async run(stage) {
      const { to, data } = stage.registration(stage.draft);
      // The amount is the seventh word of the purchase, the last byte of which becomes another one.
      const end = 4 + 7 * 32;
      const changed = concatHex([slice(data, 0, end - 1), "0x01", slice(data, end)]);
      return await refuses(stage, "merchant", { to, data: changed }, "InvalidSignature");
    },
  },
  {
    name: "the contract hashes claims as EIP-712 has it",
    pays: false,
    async run(stage) {
      const { claim } = stage.claim(stage.purchase);
      const theirs = await stage.client.readContract({
        address: stage.contracts.registrar,
        abi: purchaseRegistrarAbi,
        functionName: "hashClaim",
        args: [claim],
      });
      const ours = hashClaim(stage.domain, claim);
      return theirs === ours ? null : `hashClaim answers ${theirs}; ${ours} was expected`;
    },
  },
];
