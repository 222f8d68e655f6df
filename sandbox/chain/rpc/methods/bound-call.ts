import { maxUint64, toHex } from "viem";
import { z } from "zod";
import { readJson } from "../../../lib/read-json.ts";

/**
 * The gas limit of a call that runs without a transaction, and of a block. An endless loop takes some tenths of a
 * second for it.
 */
export const mostGas = 60_000_000n;

/**
 * The gas limit of a traced call: it is measured first, step by step, which takes up to a few seconds for this limit.
 */
export const mostTracedGas = 300_000n;

/** The largest number of blocks that a call mines if its answer shows them. */
export const mostDetailedBlocks = 100;

/** The largest number of blocks in the history of fees, as in other nodes. */
export const mostFeeBlocks = 1_024n;

/** The largest number of percentiles of the fees of each of these blocks, as in other nodes. */
export const mostPercentiles = 100;

/** The largest number of slots of storage that one call reads. */
export const mostSlots = 1_024;

/** The largest number of structs that the types of typed data have, each one counted wherever it occurs in another one. */
const mostStructs = 1_000;

/** The largest number of characters in the name of a type of typed data. */
const mostTypeCharacters = 500;

/**
 * The params of a call do not fit its limits, or cannot be read well enough to know.
 *
 * Not a CodedError: the chain RPC answers it with the number of a JSON-RPC error.
 */
export class ParamsError extends Error {}

/** A whole number as Anvil takes one. */
export const quantity = z
  .union([z.int().min(0), z.string().regex(/^(?:0[xX][0-9a-fA-F]*|[0-9]+)$/)])
  .transform((value) => BigInt(value === "0x" || value === "0X" ? 0 : value));

/** Anvil takes a struct as an array of its fields too, where no limit would find them: objects only. */
const transaction = z.looseObject({ gas: z.unknown().optional(), type: z.unknown().optional() });
const unsigned = z.looseObject({ maxFeePerBlobGas: z.unknown().optional() });
const blockOverrides = z.looseObject({ gasLimit: z.unknown().optional() }).nullish();
/** Anvil ends when it reads the name of a type with thousands of brackets. */
const typeName = z.string().max(mostTypeCharacters);
const typedData = z.looseObject({
  types: z.record(typeName, z.array(z.looseObject({ type: typeName }))),
  primaryType: typeName,
});
const tracing = z.looseObject({ tracer: z.string().nullish(), blockOverrides }).nullish();
const simulation = z.looseObject({
  blockStateCalls: z.array(z.looseObject({ blockOverrides, calls: z.array(transaction).nullish() })),
});

/** Tracers that Anvil has. It would run any other as a JavaScript program, which gas does not limit, or answer nothing. */
const tracers = new Set(["callTracer", "prestateTracer", "noopTracer"]);

/** The last of Ethereum's types of transaction: EIP-7702. */
const lastType = 4n;

const transactionReason = "The first of params must be a transaction object";
const typedDataReason = `The second of params must be typed data: an object with types and primaryType, whose names have at most ${mostTypeCharacters} characters`;
const simulationReason = "The first of params must be an object with blockStateCalls";
const blockReplayReason =
  'The kinds of trace must be "trace" or "stateDiff" ("vmTrace" would fill the memory of Anvil with every step)';

/** Params as they are passed on. */
type Params = readonly unknown[];

/** The functions that bring the params of a call within its limits. @throws ParamsError */
export const bounders: ReadonlyMap<string, (params: Params) => Params> = new Map([
  ["eth_call", boundCall],
  ["eth_estimateGas", boundCall],
  ["eth_createAccessList", boundCall],
  ["eth_simulateV1", boundSimulation],
  ["debug_traceCall", boundTracedCall],
  ["debug_traceTransaction", boundReplay],
  ["debug_traceBlockByHash", boundReplay],
  ["debug_traceBlockByNumber", boundReplay],
  ["trace_replayBlockTransactions", boundBlockReplay],
  ["eth_feeHistory", boundFeeHistory],
  ["eth_getProof", boundProof],
  ["eth_getStorageValues", boundStorageValues],
  ["eth_sendTransaction", boundUnsigned],
  ["eth_sendTransactionSync", boundUnsigned],
  ["eth_sendUnsignedTransaction", boundUnsigned],
  ["eth_signTransaction", boundUnsigned],
  ["eth_fillTransaction", boundUnsigned],
  ["eth_signTypedData_v4", boundTypedData],
  ["anvil_setCode", boundCode],
  ["hardhat_setCode", boundCode],
  ["anvil_setNextBlockBaseFeePerGas", boundBaseFee],
  ["hardhat_setNextBlockBaseFeePerGas", boundBaseFee],
  ["evm_setBlockGasLimit", boundBlockGas],
  ["anvil_setBlockGasLimit", boundBlockGas],
]);

function boundCall(params: Params): Params {
  const call = read(transaction, params[0], transactionReason);
  const bounded = params.with(0, { ...call, ...bound("gas", call.gas, mostGas) });
  return params.length > 3 ? bounded.with(3, boundOverrides(params[3])) : bounded;
}

function boundTracedCall([call, block = null, options]: Params): Params {
  const traced = read(transaction, call, transactionReason);
  const chosen = readTracing(options);
  if (chosen?.tracer === undefined || chosen.tracer === null)
    throw new ParamsError(
      'A trace of every step would fill the memory of Anvil. Name a tracer: {"tracer": "callTracer"}.',
    );
  const gas = lower(traced.gas ?? toHex(mostTracedGas), mostTracedGas);
  const blockOverrides = boundOverrides(chosen.blockOverrides);
  return [{ ...traced, gas }, block, { ...chosen, blockOverrides }];
}

function boundSimulation(params: Params): Params {
  const { blockStateCalls, ...rest } = read(simulation, params[0], simulationReason);
  const count = blockStateCalls.reduce((sum, { calls }) => sum + (calls?.length ?? 0), 0);
  // Together they may use what one call may.
  const share = mostGas / BigInt(Math.max(count, 1));
  const blocks = blockStateCalls.map((block) => ({
    ...block,
    blockOverrides: boundOverrides(block.blockOverrides),
    calls: (block.calls ?? []).map((call) => {
      requireType(call.type);
      return { ...call, gas: lower(call.gas ?? toHex(share), share) };
    }),
  }));
  return params.with(0, { ...rest, blockStateCalls: blocks });
}

function boundReplay([subject, options, ...more]: Params): Params {
  const chosen = readTracing(options);
  return chosen === null ? [subject] : [subject, chosen, ...more];
}

function readTracing(options: unknown) {
  const chosen = read(tracing, options, "The options of a trace must be an object") ?? null;
  const tracer = chosen?.tracer ?? null;
  if (tracer !== null && !tracers.has(tracer))
    throw new ParamsError(
      `Anvil has no tracer of this name, and one in JavaScript could run without an end. Use one of ${[...tracers].join(", ")}.`,
    );
  return chosen;
}

function boundBlockReplay(params: Params): Params {
  read(z.array(z.enum(["trace", "stateDiff"])), params[1], blockReplayReason);
  return params;
}

function boundBlockGas(params: Params): Params {
  const [gas] = read(z.tuple([quantity]), params, "params must be one gas limit");
  if (gas > mostGas)
    throw new ParamsError(
      `The block gas limit ${gas} is above ${mostGas}, so that one transaction could keep the chain busy. Set a lower one.`,
    );
  return [toHex(gas)];
}

/** Anvil ends when it simulates a type that it has for other networks. */
function requireType(type: unknown): void {
  if (type === undefined || type === null) return;
  const asked = read(quantity, type, "The type of a transaction must be a number, as in 0x2");
  if (asked > lastType)
    throw new ParamsError(`Ethereum has no transaction of type ${asked}. Use one of 0 to ${lastType}.`);
}

function boundUnsigned(params: Params): Params {
  requireNoBlobs(params[0]);
  return params;
}

/** Anvil ends when it builds a transaction that has a fee for blobs and no blobs. */
export function requireNoBlobs(value: unknown): void {
  const { maxFeePerBlobGas } = read(unsigned, value, transactionReason);
  if (maxFeePerBlobGas !== undefined && maxFeePerBlobGas !== null)
    throw new ParamsError(
      "A transaction with maxFeePerBlobGas is taken only when it is signed. Leave it out, or send the signed one with eth_sendRawTransaction.",
    );
}

/** Anvil ends on code that begins as a delegation (EIP-7702) and is none. */
function boundCode(params: Params): Params {
  const [, code] = params;
  if (typeof code === "string" && /^(?:0x)?ef01/i.test(code) && !/^0xef0100[0-9a-f]{40}$/i.test(code))
    throw new ParamsError(
      "Code that begins with 0xef01 must be a delegation: 0xef0100 and an address. Set other code.",
    );
  return params;
}

function boundFeeHistory(params: Params): Params {
  const [count, ...rest] = params;
  const asked = read(quantity, count, "The first of params must be a number of blocks, as in 0xa");
  const [, percentiles] = rest;
  if (Array.isArray(percentiles) && percentiles.length > mostPercentiles)
    throw new ParamsError(
      `A history of fees has at most ${mostPercentiles} percentiles, not ${percentiles.length}. Ask for fewer.`,
    );
  return [toHex(asked < mostFeeBlocks ? asked : mostFeeBlocks), ...rest];
}

function boundProof(params: Params): Params {
  requireFewSlots(params[1]);
  return params;
}

/** Anvil writes out a struct wherever it occurs: a few types that name each other several times fill its memory. */
function boundTypedData(params: Params): Params {
  const [, data] = params;
  // Some clients send it as a text.
  const { types } = read(typedData, typeof data === "string" ? readJson(data) : data, typedDataReason);
  const members = new Map(Object.entries(types));
  const counts = new Map<string, number>();
  const count = (name: string): number => {
    const known = counts.get(name);
    if (known !== undefined) return known;
    // Anvil refuses a struct that contains itself.
    counts.set(name, 0);
    const inside = (members.get(name) ?? []).map(({ type }) => count(type.replace(/\[.*/s, "")));
    const all = inside.reduce((sum, one) => sum + one, members.has(name) ? 1 : 0);
    counts.set(name, all);
    return all;
  };
  const sum = (total: number, name: string) => total + count(name);
  if (members.size > mostStructs || [...members.keys()].reduce(sum, 0) > mostStructs)
    throw new ParamsError(
      `The types of typed data have at most ${mostStructs} structs, each one counted wherever it occurs in another one. Use fewer.`,
    );
  return params;
}

/** Slots by their account. */
function boundStorageValues(params: Params): Params {
  const [asked] = params;
  if (typeof asked === "object" && asked !== null) requireFewSlots(Object.values(asked).flat());
  return params;
}

function requireFewSlots(slots: unknown): void {
  if (Array.isArray(slots) && slots.length > mostSlots)
    throw new ParamsError(
      `A call reads at most ${mostSlots} slots of storage, not ${slots.length}. Read them with several calls.`,
    );
}

function boundBaseFee(params: Params): Params {
  const [fee] = read(z.tuple([quantity]), params, "params must be one base fee in wei");
  if (fee > maxUint64)
    throw new ParamsError(
      `The base fee ${fee} is above ${maxUint64} wei, the most that Anvil can keep. Set a lower one.`,
    );
  return [toHex(fee)];
}

function boundOverrides(value: unknown): object | null {
  const overrides = read(blockOverrides, value, "Block overrides must be an object");
  if (overrides === undefined || overrides === null) return null;
  return { ...overrides, ...bound("gasLimit", overrides.gasLimit, mostGas) };
}

/** Returns a requested limit, lowered if needed; nothing without a request: Anvil then takes the block's limit. */
function bound(name: string, value: unknown, most: bigint): { [name: string]: string } {
  return value === undefined || value === null ? {} : { [name]: lower(value, most) };
}

function lower(value: unknown, most: bigint): string {
  const asked = read(quantity, value, "A gas limit must be a whole number, as in 0x5208");
  return toHex(asked < most ? asked : most);
}

function read<T extends z.ZodType>(schema: T, value: unknown, reason: string): z.output<T> {
  const { data, success } = schema.safeParse(value);
  if (!success) throw new ParamsError(`${reason}.`);
  return data;
}
