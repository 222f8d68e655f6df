import { type Hex, hexToString, isAddress, numberToHex, stringToHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { z } from "zod";
import { purchaseRegistrarAbi, testUsdcAbi } from "../../protocol/abi.generated.ts";
import { readCall } from "../../protocol/read-call.ts";
import type { Json } from "../../protocol/values/json.ts";
import { createChainClient } from "../../sandbox/chain/client/chain-client.ts";
import { knownMethods } from "../../sandbox/chain/rpc/methods/method-list.ts";
import { SandboxError } from "../../sandbox/lib/errors/sandbox-error.ts";
import { showValue } from "../../sandbox/lib/errors/show-value.ts";
import { Wallet } from "../../sandbox/wallets/wallet.ts";

/**
 * An error that a wallet answers a page with. Its code is one of EIP-1193, EIP-1474 or EIP-3085: 4001 for a rejected request, 4100 for an
 * account that is not connected, 4900 and 4901 for a chain that is not, 4902 for an unknown chain.
 * Not a CodedError: a page expects the number of EIP-1193 in `code`.
 *
 * @example throw new ProviderError(4001, "The user rejected the request.")
 */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
  readonly code: number;
  /** The data that a node adds, such as that of a revert. */
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

const hex = z.templateLiteral(["0x", z.string()]);
/** Further parameters, such as the password of `personal_sign`, mean nothing to a wallet. */
const messageParams = z.tuple([z.string(), z.string()]).rest(z.unknown());
const typedDataParams = z.tuple([hex, z.union([z.string(), z.record(z.string(), z.unknown())])]);
const fields = z.array(z.object({ name: z.string(), type: z.string() }));
/** EIP-712 lets a domain have any of these members, and MetaMask takes a missing `EIP712Domain` for one of none. */
const typedDataBody = z.object({
  domain: z.object({
    name: z.string().optional(),
    version: z.string().optional(),
    chainId: z.coerce.bigint<string | number>().optional(),
    verifyingContract: hex.optional(),
    salt: hex.optional(),
  }),
  types: z
    .record(z.string(), fields)
    .transform((types): Record<string, z.infer<typeof fields>> => ({ EIP712Domain: [], ...types })),
  primaryType: z.string(),
  message: z.record(z.string(), z.unknown()),
});
/** As MetaMask takes it: hexadecimal of either case, not padded and not zero. */
const chainId = z
  .string()
  .regex(/^0x[1-9a-fA-F][0-9a-fA-F]*$/, "must be 0x and hexadecimal without leading zeros, such as 0x7a69")
  .transform((id) => numberToHex(BigInt(id)));
const sendParams = z.tuple([
  z.object({
    from: hex,
    to: hex.nullish(),
    data: hex.optional(),
    input: hex.optional(),
    value: hex.optional(),
    chainId: chainId.optional(),
    type: z
      .enum(["0x0", "0x1", "0x2"], "must be 0x0, 0x1 or 0x2: a wallet delegates to no contract for a page")
      .optional(),
  }),
]);
const chainParams = z.tuple([z.object({ chainId, rpcUrls: z.array(z.string()).optional() })]);

/**
 * Methods that a wallet passes on to its node: not those by which a node would sign or send without the owner's consent, no method that only test
 * nodes have, which would change the chain without this consent, and no subscription, whose messages it does not pass on.
 */
const passedOn = /^(?:eth_(?!sign|send(?!RawTransaction)|(?:un)?subscribe)|net_|web3_)/;

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
      /** The chain that the page names, as hex; null when it names none, which means the selected one. */
      chain_id: Hex | null;
    }
  | { type: "typed_data"; from: Hex; typed_data: z.infer<typeof typedDataBody> }
  | { type: "message"; from: Hex; text: string; bytes: Hex }
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
 * @throws ProviderError -32602 when the parameters are not those of the method; 4200 for a method that a wallet
 * does not have.
 * @example decodeRequest("personal_sign", ["0x6869", buyer]) // { type: "message", from: buyer, text: "hi", bytes: "0x6869" }
 */
export function decodeRequest(method: string, params: unknown): DecodedRequest {
  switch (method) {
    case "eth_requestAccounts":
      return { type: "connection" };
    case "eth_sendTransaction": {
      const [{ from, to, data, input, value = "0x0", chainId: chain_id = null }] = read(
        method,
        sendParams,
        params,
      );
      // Its node does, but the sandbox's contracts are deployed already, and what a page sends without `to` is more likely a mistake.
      if (to == null)
        throw new ProviderError(
          -32_602,
          "The transaction has no `to`, and the wallet deploys no contracts. Add `to`, or deploy through the chain RPC.",
        );
      const calldata = data ?? input ?? "0x";
      if (input !== undefined && input.toLowerCase() !== calldata.toLowerCase())
        throw new ProviderError(-32_602, "The transaction has `data` and another `input`. Send one of them.");
      const call = readCall(purchaseRegistrarAbi, calldata) ?? readCall(testUsdcAbi, calldata);
      const known = { function: call?.function ?? null, args: call?.args ?? null, chain_id };
      return { type: "transaction", from, to, data: calldata, value: BigInt(value).toString(), ...known };
    }
    case "personal_sign":
      return readMessage(read(method, messageParams, params));
    case "eth_signTypedData_v3":
    case "eth_signTypedData_v4": {
      const [from, data] = read(method, typedDataParams, params);
      const typed_data = read(method, typedDataBody, parseJson(data));
      const { primaryType, message, types } = typed_data;
      // A domain alone is signed without a message.
      const missing = primaryType === "EIP712Domain" ? null : missingMember(primaryType, message, types);
      if (missing !== null)
        throw new ProviderError(-32_602, `The typed data has no value for the member ${missing}.`);
      return { type: "typed_data", from, typed_data };
    }
    case "wallet_switchEthereumChain":
    case "wallet_addEthereumChain": {
      const [{ chainId: id, rpcUrls = [] }] = read(method, chainParams, params);
      return { type: "chain", chain_id: id, rpc_urls: rpcUrls };
    }
    default:
      if (passedOn.test(method) && knownMethods.has(method)) return { type: "read" };
      throw new ProviderError(
        4200,
        `The wallet does not support ${method}. Use personal_sign, eth_signTypedData_v4 or eth_sendTransaction, or ask the chain RPC.`,
      );
  }
}

/** Returns the first member of a type, with those of its members, that a value lacks; null if it has all. */
function missingMember(
  type: string,
  value: unknown,
  types: z.infer<typeof typedDataBody>["types"],
): string | null {
  if (Array.isArray(value)) {
    const element = type.replace(/\[\d*\]$/, "");
    return value.map((one) => missingMember(element, one, types)).find((missing) => missing !== null) ?? null;
  }
  for (const { name, type: inner } of types[type] ?? []) {
    const member: unknown = Reflect.get(Object(value), name);
    const missing = member === undefined ? "" : missingMember(inner, member, types);
    if (missing !== null) return missing === "" ? name : `${name}.${missing}`;
  }
  return null;
}

/** Reads a message as MetaMask does: hexadecimal, with or without 0x, is bytes, and anything else is a text; the account may come first. */
function readMessage([first, second]: readonly [string, string, ...unknown[]]): DecodedRequest {
  const [message, from] = isAccount(first) && !isAccount(second) ? [second, first] : [first, second];
  if (!isAccount(from)) throw new ProviderError(-32_602, "The parameters of personal_sign name no account.");
  const [, marked, bare] = /^(?:0x((?:[0-9a-f]{2})*)|((?:[0-9a-f]{2})+))$/i.exec(message) ?? [];
  const digits = marked ?? bare;
  const bytes: Hex = digits === undefined ? stringToHex(message) : `0x${digits}`;
  return { type: "message", from, text: hexToString(bytes), bytes };
}

function isAccount(text: string): text is Hex {
  return isAddress(text, { strict: false });
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

/** A wallet of a sandbox that runs in another process: a key of its `sandbox.json`, and the URL of its chain RPC. */
export interface WalletKey {
  private_key: Hex;
  rpc_url: string;
}

/**
 * Returns a wallet of the sandbox, or opens the one of a key.
 *
 * @param caller - the function that was given it, for the message.
 * @throws SandboxError argument_invalid when it is neither.
 */
export function toWallet(caller: string, given: Wallet | WalletKey): Wallet {
  if ("signTypedData" in Object(given)) return given as Wallet;
  const key = given as Partial<WalletKey> | undefined;
  if (typeof key?.private_key !== "string" || typeof key.rpc_url !== "string")
    throw new SandboxError(
      "argument_invalid",
      `${caller} takes a wallet of the sandbox, not ${showValue(given)}. Pass sandbox.wallets.buyer, or { private_key, rpc_url }.`,
    );
  return new Wallet(privateKeyToAccount(key.private_key), createChainClient(key.rpc_url));
}
