import type { Hex } from "viem";
import type { DecodedRequest } from "./wallet-request.ts";

/**
 * Returns the changed request that a hostile wallet would execute: calldata with its last bit flipped, typed data for the next chain id, or
 * a text with one more character.
 *
 * @example tamperWith({ type: "message", from: buyer, text: "hi", bytes: "0x6869" }) // the text is "hi."
 */
export function tamperWith(decoded: DecodedRequest): DecodedRequest {
  switch (decoded.type) {
    case "transaction":
      return { ...decoded, data: flipLastBit(decoded.data) };
    case "message":
      return { ...decoded, text: `${decoded.text}.`, bytes: `${decoded.bytes}2e` };
    case "typed_data": {
      const { domain, types, ...rest } = decoded.typed_data;
      const members = types["EIP712Domain"] ?? [];
      const named = members.some(({ name }) => name === "chainId");
      return {
        ...decoded,
        typed_data: {
          ...rest,
          domain: { ...domain, chainId: (domain.chainId ?? 0n) + 1n },
          types: {
            ...types,
            EIP712Domain: named ? members : [...members, { name: "chainId", type: "uint256" }],
          },
        },
      };
    }
    default:
      return decoded;
  }
}

function flipLastBit(data: Hex): Hex {
  const last = Number.parseInt(data.slice(-1), 16);
  return Number.isNaN(last) ? data : `0x${data.slice(2, -1)}${(last ^ 1).toString(16)}`;
}
