import {
  type Abi,
  type AbiFunction,
  type AbiStateMutability,
  type Address,
  type ContractFunctionArgs,
  type ContractFunctionName,
  decodeAbiParameters,
  type EncodeFunctionDataParameters,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  isHex,
  toFunctionSelector,
} from "viem";
import { purchaseRegistrarAbi, testUsdcAbi } from "./abi.generated.ts";
import type { Commitment } from "./messages/commitment.ts";
import type { FundingAuthorization } from "./messages/funding-authorization.ts";
import type { SignedPermit } from "./messages/permit.ts";
import { contractJson, type Json } from "./values/json.ts";

/** A contract call that a wallet sends: recipient, calldata, and the decoded function and arguments. It never has a value. */
export interface Call {
  to: Address;
  data: Hex;
  function: string;
  /** The arguments by name; integers as decimal strings. */
  args: { [name: string]: Json };
}

/**
 * Returns the call by which the merchant's wallet accepts its funding authorization.
 *
 * @example enrollCall(registrar, authorization, signature)
 */
export function enrollCall(registrar: Address, authorization: FundingAuthorization, signature: Hex): Call {
  return call(registrar, purchaseRegistrarAbi, "enroll", [authorization, signature]);
}

/**
 * Returns the call by which the program's operator offers a purchase.
 *
 * @example offerCall(registrar, commitment, signature)
 */
export function offerCall(registrar: Address, purchase: Commitment, signature: Hex): Call {
  return call(registrar, purchaseRegistrarAbi, "offer", [purchase, signature]);
}

/**
 * Returns the call by which the merchant registers a purchase directly.
 *
 * @example registerCall(registrar, commitment, signature)
 */
export function registerCall(registrar: Address, purchase: Commitment, signature: Hex): Call {
  return call(registrar, purchaseRegistrarAbi, "register", [purchase, signature]);
}

/**
 * Returns the call by which the buyer pays `amount` base units of a purchase.
 *
 * @example payCall(registrar, commitmentHash, 10_000_000n)
 */
export function payCall(registrar: Address, id: Hex, amount: bigint): Call {
  return call(registrar, purchaseRegistrarAbi, "pay", [id, amount]);
}

/**
 * Returns the call by which the buyer pays several purchases, all or none; amounts in base units.
 *
 * @example payBatchCall(registrar, [first, second], [5n, 7n])
 */
export function payBatchCall(registrar: Address, ids: readonly Hex[], amounts: readonly bigint[]): Call {
  return call(registrar, purchaseRegistrarAbi, "payBatch", [ids, amounts]);
}

/**
 * Returns the call by which the buyer pays `amount` base units with an EIP-2612 permit for the registrar contract.
 *
 * @example payWithPermitCall(registrar, commitmentHash, 10_000_000n, signedPermit(deadline, signature))
 */
export function payWithPermitCall(registrar: Address, id: Hex, amount: bigint, permit: SignedPermit): Call {
  const { deadline, v, r, s } = permit;
  return call(registrar, purchaseRegistrarAbi, "payWithPermit", [id, amount, deadline, v, r, s]);
}

/**
 * Returns the call by which the beneficiary files the claim with this EIP-712 digest.
 *
 * @example claimCall(registrar, commitmentHash, hashClaim(domain, claim))
 */
export function claimCall(registrar: Address, id: Hex, claimHash: Hex): Call {
  return call(registrar, purchaseRegistrarAbi, "claim", [id, claimHash]);
}

/**
 * Returns the call by which the program's operator collects a refund of `award` base units under a decision.
 *
 * @example collectRefundCall(registrar, commitmentHash, 12_000_000n, hashDecision(decision))
 */
export function collectRefundCall(registrar: Address, id: Hex, award: bigint, decisionHash: Hex): Call {
  return call(registrar, purchaseRegistrarAbi, "collectRefund", [id, award, decisionHash]);
}

/**
 * Returns the call by which the merchant revokes its funding for new purchases.
 *
 * @example revokeFundingCall(registrar, hashId(program.id), hashId(merchant.id))
 */
export function revokeFundingCall(registrar: Address, program: Hex, merchantRef: Hex): Call {
  return call(registrar, purchaseRegistrarAbi, "revokeFunding", [program, merchantRef]);
}

/**
 * Returns the call by which a wallet approves a spender for `amount` base units: the registrar contract to pay, the funding source to refund.
 *
 * @example approveCall(token, registrar, 25_000_000n)
 */
export function approveCall(token: Address, spender: Address, amount: bigint): Call {
  return call(token, testUsdcAbi, "approve", [spender, amount]);
}

/**
 * Returns the call by which any account expires a purchase after its pay deadline; the unpaid part of the budget is released.
 *
 * @example expireCall(registrar, commitmentHash)
 */
export function expireCall(registrar: Address, id: Hex): Call {
  return call(registrar, purchaseRegistrarAbi, "expire", [id]);
}

/**
 * Returns the call by which the program's operator withdraws an offer that is not fully paid.
 *
 * @example withdrawOfferCall(registrar, commitmentHash)
 */
export function withdrawOfferCall(registrar: Address, id: Hex): Call {
  return call(registrar, purchaseRegistrarAbi, "withdrawOffer", [id]);
}

/** The settings of a program's admin: operator, commitment signer and bounds; amounts in base units. */
export interface ProgramTerms {
  operator: Address;
  commitmentSigner: Address;
  /** `validUntil` in Unix seconds. */
  bounds: { maxPurchase: bigint; openBudget: bigint; validUntil: number | bigint };
}

/**
 * Returns the call that opens a program; the caller becomes its admin.
 *
 * @example openProgramCall(registrar, hashId("prg_books"), { operator: relayer, commitmentSigner, bounds })
 */
export function openProgramCall(registrar: Address, program: Hex, terms: ProgramTerms): Call {
  return call(registrar, purchaseRegistrarAbi, "openProgram", termsArguments(program, terms));
}

/**
 * Returns the call by which the program's admin replaces operator, commitment signer and bounds.
 *
 * @example setBoundsCall(registrar, hashId("prg_demo"), { ...program, bounds })
 */
export function setBoundsCall(registrar: Address, program: Hex, terms: ProgramTerms): Call {
  return call(registrar, purchaseRegistrarAbi, "setBounds", termsArguments(program, terms));
}

/**
 * Returns the call by which the program's admin pauses or unpauses enrollments, new purchases and payments.
 *
 * @example setPausedCall(registrar, hashId("prg_demo"), true)
 */
export function setPausedCall(registrar: Address, program: Hex, paused: boolean): Call {
  return call(registrar, purchaseRegistrarAbi, "setPaused", [program, paused]);
}

/**
 * Returns the call by which the program's admin names the wallet that may become the admin.
 *
 * @example transferAdminCall(registrar, hashId("prg_demo"), newAdmin)
 */
export function transferAdminCall(registrar: Address, program: Hex, newAdmin: Address): Call {
  return call(registrar, purchaseRegistrarAbi, "transferAdmin", [program, newAdmin]);
}

/**
 * Returns the call by which the named wallet becomes the program's admin.
 *
 * @example acceptAdminCall(registrar, hashId("prg_demo"))
 */
export function acceptAdminCall(registrar: Address, program: Hex): Call {
  return call(registrar, purchaseRegistrarAbi, "acceptAdmin", [program]);
}

/**
 * Returns the call that mints `amount` base units of test tokens to a wallet.
 *
 * @example faucetCall(token, wallet, 25_000_000n)
 */
export function faucetCall(token: Address, to: Address, amount: bigint): Call {
  return call(token, testUsdcAbi, "faucet", [to, amount]);
}

function termsArguments(program: Hex, { operator, commitmentSigner, bounds }: ProgramTerms) {
  const validUntil = BigInt(bounds.validUntil);
  return [program, operator, commitmentSigner, { ...bounds, validUntil }] as const;
}

/** Decoded calldata, and whether it is the canonical encoding of its arguments. */
export interface DecodedCall {
  function: string;
  args: { [name: string]: Json };
  /** The arguments in order, as viem decodes them. */
  values: readonly unknown[];
  /** False for another encoding of the same arguments: trailing bytes, dirty padding or unusual offsets. */
  canonical: boolean;
}

/**
 * Decodes calldata of the registrar contract or the token for display. To compare calls, compare their bytes.
 *
 * @returns null when no function of the ABI has this selector or the arguments do not decode.
 * @example decodeCall(purchaseRegistrarAbi, input)?.function // "pay"
 */
export function decodeCall(abi: Abi, data: Hex): DecodedCall | null {
  if (!isHex(data)) return null;
  const bytes: Hex = `0x${data.slice(2).toLowerCase()}`;
  try {
    const item = functionOf(abi, bytes);
    if (item === undefined) return null;
    const encoded: Hex = `0x${bytes.slice(10)}`;
    const values = item.inputs.length === 0 ? [] : decodeAbiParameters(item.inputs, encoded);
    const args: DecodedCall["args"] = {};
    item.inputs.forEach((input, index) => {
      args[argumentName(input.name, index)] = contractJson(values[index]);
    });
    const canonical = encodeAbiParameters(item.inputs, values) === encoded;
    return { function: item.name, args, values, canonical };
  } catch {
    return null;
  }
}

/** The interface's name of an argument: an implementation appends `_` where a function has the same name. */
function argumentName(name: string | undefined, index: number): string {
  return name?.replace(/_$/, "") || String(index);
}

function call<const A extends Abi, Name extends ContractFunctionName<A>>(
  to: Address,
  abi: A,
  functionName: Name,
  args: ContractFunctionArgs<A, AbiStateMutability, Name>,
): Call {
  const data = encodeFunctionData<A, Name>({ abi, functionName, args } as EncodeFunctionDataParameters<
    A,
    Name
  >);
  const decoded = decodeCall(abi, data);
  if (decoded === null) throw new Error("A call that was just encoded must decode.");
  return { to, data, function: decoded.function, args: decoded.args };
}

/**
 * Returns the function of an ABI whose selector the calldata starts with; undefined if the ABI has none.
 *
 * @example functionOf(purchaseRegistrarAbi, transaction.input)?.name // "pay"
 */
export function functionOf(abi: Abi, data: Hex): AbiFunction | undefined {
  return functionsOf(abi).get(data.slice(0, 10).toLowerCase());
}

const known = new WeakMap<Abi, ReadonlyMap<string, AbiFunction>>();

/** Returns the functions of an ABI by selector. They are cached, because each selector is a hash. */
function functionsOf(abi: Abi): ReadonlyMap<string, AbiFunction> {
  const kept = known.get(abi);
  if (kept !== undefined) return kept;
  const functions = new Map<string, AbiFunction>();
  for (const entry of abi) if (entry.type === "function") functions.set(toFunctionSelector(entry), entry);
  known.set(abi, functions);
  return functions;
}
