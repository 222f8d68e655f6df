import {
  getTypesForEIP712Domain,
  type Hex,
  hashDomain,
  hashStruct,
  hashTypedData,
  type TypedData,
  type TypedDataDomain,
} from "viem";
import { z } from "zod";
import { messageOf } from "../../../protocol/coded-error.ts";
import { type Json, toJson } from "../../../protocol/values/json.ts";
import { jsonObjectSchema } from "../../../server/schemas/primitives.ts";
import type { SandboxError } from "../../lib/errors/sandbox-error.ts";
import { showValue } from "../../lib/errors/show-value.ts";
import { readOption, wrongOption } from "../read-option.ts";
import { findWrongMember, type TypeMembers } from "./find-wrong-member.ts";

/** The schema of typed data that is given to be explained, in the form of `eth_signTypedData_v4`. */
export const givenTypedDataSchema = z.strictObject({
  types: z.record(z.string(), z.array(z.object({ name: z.string(), type: z.string() }))),
  primaryType: z.string(),
  domain: jsonObjectSchema,
  message: jsonObjectSchema,
});

/** Typed data to explain. A bigint counts as a decimal string. */
export interface UnsignedTypedData {
  types: TypeMembers;
  primaryType: string;
  domain: object;
  message: object;
}

/** Typed data in JSON, as it was given. */
export type GivenTypedData = z.output<typeof givenTypedDataSchema>;

/** The hashes of typed data (EIP-712). */
export interface TypedDataHashes {
  domain_separator: Hex;
  struct_hash: Hex;
  digest: Hex;
}

const remedy = "Pass the JSON of eth_signTypedData_v4: types, primaryType, domain and message.";

/**
 * Reads typed data that can be hashed.
 *
 * @throws SandboxError argument_invalid that names the member that is wrong.
 */
export function readTypedData(value: unknown): GivenTypedData {
  if (isDecision(value))
    throw wrongOption("typed_data", "is a decision", "Pass it with the option decision.");
  const data = readOption("typed_data", givenTypedDataSchema, asJson(value), remedy);
  const { types, primaryType, message } = data;
  if (!Object.hasOwn(types, primaryType)) {
    const known = Object.keys(types).filter((name) => name !== domainType);
    const named = known.length === 0 ? "no type of a message" : known.join(", ");
    throw wrongTypedData(`has the primaryType ${showValue(primaryType)}, and its types have ${named}`);
  }
  const domain = withDomainType(types, data.domain);
  const wrong =
    findWrongMember(types, primaryType, message, "message") ??
    findWrongMember(domain, domainType, data.domain, "domain");
  if (wrong !== null) throw wrongTypedData(wrong);
  return data;
}

/** Returns whether a value is a decision, which is also signed but is not typed data. */
function isDecision(value: unknown): boolean {
  return typeof value === "object" && value !== null && "claim_hash" in value && "award" in value;
}

const domainType = "EIP712Domain";

/**
 * Returns the hashes of typed data; without the type of the domain in `types`, that type follows from the domain.
 *
 * @throws SandboxError argument_invalid for a value that is none of its type, which {@link readTypedData} refuses by its name.
 */
export function hashesOf(given: GivenTypedData): TypedDataHashes {
  const { primaryType, message } = given;
  const domain: TypedDataDomain = withChainId(given.domain);
  const types = withDomainType(given.types, given.domain);
  try {
    return {
      domain_separator: hashDomain<TypedData>({ domain, types }),
      struct_hash: hashStruct<TypedData, string>({ data: message, primaryType, types }),
      digest: hashTypedData<TypedData, string>({ domain, types, primaryType, message }),
    };
  } catch (error) {
    const [reason = ""] = messageOf(error).split("\n");
    throw wrongTypedData(`cannot be hashed: ${reason.replace(/\.$/, "")}`);
  }
}

/** Returns the digest of a known message; null if its open members have no value of their type. */
export function typedDataDigest(typedData: GivenTypedData): Hex | null {
  try {
    return hashesOf(typedData).digest;
  } catch {
    return null;
  }
}

/** Returns the digest that `eth_signTypedData_v4` makes of typed data without the type of the domain: that of an empty domain. */
export function digestWithoutDomain(given: GivenTypedData): Hex {
  return hashesOf({ ...given, domain: {}, types: { ...given.types, [domainType]: [] } }).digest;
}

/** Returns the types with that of the domain, which follows from the domain if it is not among them. */
function withDomainType(types: GivenTypedData["types"], given: GivenTypedData["domain"]) {
  const domain: TypedDataDomain = withChainId(given);
  return { [domainType]: getTypesForEIP712Domain({ domain }), ...types };
}

/** viem derives the type of a chain id that is a number, but not of one that is a string. */
function withChainId(domain: GivenTypedData["domain"]): { [name: string]: Json | bigint } {
  const { chainId } = domain;
  const isText = typeof chainId === "string" && /^(0x[0-9a-fA-F]+|[0-9]+)$/.test(chainId);
  return isText ? { ...domain, chainId: BigInt(chainId) } : domain;
}

function asJson(value: unknown): unknown {
  try {
    return toJson(value);
  } catch {
    return value;
  }
}

function wrongTypedData(wrong: string): SandboxError {
  return wrongOption("typed_data", wrong, remedy);
}
