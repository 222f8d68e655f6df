import { concatHex, slice } from "viem";
import { purchaseRegistrarAbi } from "../../protocol/abi.generated.ts";
import { hashClaim } from "../../protocol/messages/claim.ts";
import { usdc } from "../../protocol/values/amount.ts";
import { type ContractCall, type Rule, refuses } from "./rule.ts";

/** A contract may compare the length first, or all of the calldata at once. */
const notCanonical = ["NonCanonicalLength", "NonCanonicalEncoding"];

function trailing({ to, data }: ContractCall): ContractCall {
  return { to, data: `${data}00` };
}

/** The rules for calldata: a call must carry all of the committed values, exactly. */
export const calldataRules: readonly Rule[] = [
  {
    name: "a payment with a trailing byte is refused",
    run: async (fixture) =>
      await refuses(fixture, "buyer", trailing(fixture.pay(fixture.purchase)), ...notCanonical),
  },
  {
    name: "a batch with a trailing byte is refused",
    pays: false,
    run: async (fixture) =>
      await refuses(
        fixture,
        "buyer",
        trailing(fixture.payBatch([[fixture.purchase, 10n * usdc]])),
        ...notCanonical,
      ),
  },
  {
    name: "a claim with a trailing byte is refused",
    async run(fixture) {
      await fixture.succeed("buyer", fixture.pay(fixture.purchase));
      const { call } = fixture.claim(fixture.purchase);
      return await refuses(fixture, "beneficiary", trailing(call), ...notCanonical);
    },
  },
  {
    name: "a registration with a trailing byte is refused",
    pays: false,
    run: async (fixture) =>
      await refuses(fixture, "merchant", trailing(fixture.registration(fixture.draft)), ...notCanonical),
  },
  {
    name: "a plain transfer of ETH is refused",
    pays: false,
    async run(fixture) {
      const transfer = { to: fixture.contracts.registrar, data: "0x", value: 1n } as const;
      const { status, transactionHash: hash } = await fixture.mine("buyer", transfer);
      return status === "reverted" ? null : `the contract accepted 1 wei (${hash}); it must revert`;
    },
  },
  {
    name: "a commitment that differs from the signed one is refused",
    pays: false,
    async run(fixture) {
      const { to, data } = fixture.registration(fixture.draft);
      // The amount is the seventh word of the purchase, the last byte of which becomes another one.
      const end = 4 + 7 * 32;
      const changed = concatHex([slice(data, 0, end - 1), "0x01", slice(data, end)]);
      return await refuses(fixture, "merchant", { to, data: changed }, "InvalidSignature");
    },
  },
  {
    name: "the claim hash is the EIP-712 digest",
    pays: false,
    async run(fixture) {
      const { claim } = fixture.claim(fixture.purchase);
      const theirs = await fixture.client.readContract({
        address: fixture.contracts.registrar,
        abi: purchaseRegistrarAbi,
        functionName: "hashClaim",
        args: [claim],
      });
      const ours = hashClaim(fixture.domain, claim);
      return theirs === ours ? null : `hashClaim returns ${theirs}; ${ours} was expected`;
    },
  },
];
