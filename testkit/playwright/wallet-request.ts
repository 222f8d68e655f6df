import type { Hex } from "viem";
import { z } from "zod";
import { purchaseRegistrarAbi, testUsdcAbi } from "../../protocol/abi.generated.ts";
import { readCall } from "../../protocol/read-call.ts";
import type { Json } from "../../protocol/values/json.ts";
import { ProviderError } from "./provider-error.ts";

const hex = z.templateLiteral(["0x", z.string()]);
const sendParams = z.tuple([
  z.object({ from: hex, to: hex, data: hex.optional(), input: hex.optional(), value: hex.optional() }),
]);
const messageParams = z.tuple([hex, hex]);
const typedDataParams = z.tuple([hex, z.union([z.string(), z.record(z.string(), z.unknown())])]);
const fields = z.array(z.object({ name: z.string(), type: z.string() }));
const typedDataBody = z.object({
  domain: z.object({
    name: z.string(),
    version: z.string(),
    chainId: z.coerce.number(),
    verifyingContract: hex,
  }),
  types: z.record(z.string(), fields),
  primaryType: z.string(),
  message: z.record(z.string(), z.unknown()),
});
const chainParams = z.tuple([z.object({ chainId: hex, rpcUrls: z.array(z.string()).optional() })]);

/** A decoded request of a page. */
export type DecodedRequest =
  | {
      type: "transaction";
      from: Hex;
      to: Hex;
      data: Hex;
      /** Wei, as a decimal string. */
      value: string;
      /** The function of the token or the registrar contract, and its arguments by name; null for any other call. */
      function: string | null;
      args: { [name: string]: Json } | null;
    }
  | { type: "typed_data"; from: Hex; typed_data: z.infer<typeof typedDataBody> }
  | { type: "message"; from: Hex; text: string }
  | { type: "chain"; chain_id: Hex; rpc_urls: string[] }
  | { type: "connection" }
  | { type: "read" };

/** How a wallet answered a request: with a result, or with an error of EIP-1193. */
export type RequestOutcome =
  | { status: "answered"; result: unknown }
  | { status: "refused"; code: number; message: string };

/**
 * A request of a page to its wallet.
 *
 * @example expect(wallet.requests.at(-1)?.decoded).toMatchObject({ type: "transaction", function: "pay" });
 */
export interface WalletRequest {
  method: string;
  params: unknown;
  decoded: DecodedRequest;
  /** Null while the page waits for the answer. */
  outcome: RequestOutcome | null;
}

/**
 * Decodes a request of a page.
 *
 * @throws ProviderError -32602 when the parameters are not those of the method.
 * @example decodeRequest("personal_sign", ["0x6869", buyer]) // { type: "message", from: buyer, text: "hi" }
 */
export function decodeRequest(method: string, params: unknown): DecodedRequest {
  switch (method) {
    case "eth_requestAccounts":
      return { type: "connection" };
    case "eth_sendTransaction": {
      const [{ from, to, data, input, value = "0x0" }] = read(method, sendParams, params);
      const calldata = data ?? input ?? "0x";
      const call = readCall(purchaseRegistrarAbi, calldata) ?? readCall(testUsdcAbi, calldata);
      const known = { function: call?.function ?? null, args: call?.args ?? null };
      return { type: "transaction", from, to, data: calldata, value: BigInt(value).toString(), ...known };
    }
    case "personal_sign": {
      const [bytes, from] = read(method, messageParams, params);
      return { type: "message", from, text: Buffer.from(bytes.slice(2), "hex").toString() };
    }
    case "eth_signTypedData_v4": {
      const [from, data] = read(method, typedDataParams, params);
      return { type: "typed_data", from, typed_data: read(method, typedDataBody, parseJson(data)) };
    }
    case "wallet_switchEthereumChain":
    case "wallet_addEthereumChain": {
      const [{ chainId, rpcUrls = [] }] = read(method, chainParams, params);
      return { type: "chain", chain_id: chainId, rpc_urls: rpcUrls };
    }
    default:
      return { type: "read" };
  }
}

function read<T>(method: string, schema: z.ZodType<T>, value: unknown): T {
  const { data, error } = schema.safeParse(value);
  if (error === undefined) return data;
  throw new ProviderError(-32_602, `The parameters of ${method} are not valid: ${z.prettifyError(error)}`);
}

function parseJson(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
