import { type Hex, hexToBigInt, numberToHex } from "viem";
import { payCall, revokeFundingCall, setPausedCall } from "../../../protocol/call.ts";
import { define, type Variant } from "./table-call.ts";

/** A contract that keeps an id in fewer bits loses the first or the last one. */
const bits = { first: 2n ** 255n, last: 1n } as const;

function flip(id: Hex, bit: bigint): Hex {
  return numberToHex(hexToBigInt(id) ^ bit, { size: 32 });
}

/** The calls with an id that differs from a known one in one bit. */
export const nearIds = define<Variant & { error: string }>(
  (_state, { error }) => ({ [error]: true }),
  (["first", "last"] as const)
    .flatMap((place) => {
      const near = (id: Hex) => flip(id, bits[place]);
      return [
        {
          name: `pay of a purchase with another ${place} bit`,
          by: "buyer" as const,
          error: "UnknownPurchase",
          call: ({ registrar, purchase }) => payCall(registrar, near(purchase.id), 1n),
        },
        {
          name: `setPaused of a program with another ${place} bit`,
          by: "admin" as const,
          error: "ProgramNotOpen",
          call: ({ registrar, program }) => setPausedCall(registrar, near(program), true),
        },
        {
          name: `revokeFunding of a merchantRef with another ${place} bit`,
          by: "merchant" as const,
          error: "UnknownFunding",
          call: ({ registrar, program, merchantRef }) =>
            revokeFundingCall(registrar, program, near(merchantRef)),
        },
        {
          name: `revokeFunding in a program with another ${place} bit`,
          by: "merchant" as const,
          error: "UnknownFunding",
          call: ({ registrar, program, merchantRef }) =>
            revokeFundingCall(registrar, near(program), merchantRef),
        },
      ] satisfies Omit<Variant & { error: string }, "only">[];
    })
    .map((variant) => ({ ...variant, only: "offer, open" as const })),
);
