import type { Hex } from "viem";
import type { DecodedRequest } from "./wallet-request.ts";

/**
 * Returns the changed request that a hostile wallet would execute: calldata with its last bit flipped, typed data for the next chain id, or
 * a text with one more character.
 *
 * @example tamperWith({ type: "message", from: buyer, text: "hi" }) // the text is "hi."
 */
export function tamperWith(decoded: DecodedRequest): DecodedRequest {
  switch (decoded.type) {
    case "transaction":
      return { ...decoded, data: flipLastBit(decoded.data) };
    case "message":
      return { ...decoded, text: `${decoded.text}.` };
    case "typed_data": {
      const { domain } = decoded.typed_data;
      const other = { ...domain, chainId: domain.chainId + 1 };
      return { ...decoded, typed_data: { ...decoded.typed_data, domain: other } };
    }
    default:
      return decoded;
  }
}

function flipLastBit(data: Hex): Hex {
  const last = Number.parseInt(data.slice(-1), 16);
  return Number.isNaN(last) ? data : `0x${data.slice(2, -1)}${(last ^ 1).toString(16)}`;
}
