import type { Json } from "../../../protocol/values/json.ts";
import { Problem } from "../../../server/errors/problem.ts";
import { parseJson } from "../../../server/http/request/parse-json.ts";
import { countBytes } from "../../../server/lib/file-kind.ts";
import { rpcErrorCodes } from "./error-codes.ts";

/** A JSON-RPC error object. */
export interface RpcError {
  code: number;
  message: string;
  data?: Json;
}

/** The id of a call, as it is answered. */
export type RpcId = string | number | null;

/** One call. Without an id it is a notification, which gets no answer. */
export interface RpcCall {
  id: RpcId | undefined;
  method: string;
  params: readonly unknown[];
}

/** An entry of a request that is not a call. */
export interface InvalidCall {
  id: null;
  invalid: RpcError;
}

/** The calls of one HTTP body or one WebSocket message. */
export interface RpcRequest {
  isBatch: boolean;
  calls: readonly (RpcCall | InvalidCall)[];
}

/** The most calls of one batch, and the most values of one request, with their separators: of the smallest ones, a body has a million. */
export const mostCalls = 50_000;
export const mostValues = 250_000;

const names = new Set(["jsonrpc", "id", "method", "params"]);

/**
 * Reads a JSON-RPC 2.0 request strictly. Anvil gets a request that is written again from the values that were read here, so that its own
 * reader cannot read other values: names that are given twice, calls as arrays, or names that JSON escapes.
 *
 * @returns the error to answer when nothing of it can be read.
 */
export function readRequest(bytes: Uint8Array): RpcRequest | { invalid: RpcError } {
  // Counted instead of parsed, which takes seconds for a million values.
  if (countBytes(bytes, ",") >= mostValues)
    return { invalid: tooMany(`A request has at most ${mostValues} values. Send several requests.`) };
  let body: unknown;
  try {
    body = parseJson(bytes, asWritten);
  } catch (error) {
    if (error instanceof Problem) return { invalid: invalid(error.message) };
    throw error;
  }
  if (!Array.isArray(body)) return { isBatch: false, calls: [readCall(body)] };
  if (body.length === 0) return { invalid: invalid("A batch has at least one call.") };
  if (body.length > mostCalls)
    return {
      invalid: tooMany(
        `A batch has at most ${mostCalls} calls, and this one has ${body.length}. Send several batches.`,
      ),
    };
  return { isBatch: true, calls: body.map(readCall) };
}

function tooMany(message: string): RpcError {
  return { code: rpcErrorCodes.limitExceeded, message };
}

/** JSON that is written as it came, for numbers that a double cannot keep. */
const asWritten: (source: string) => unknown = Reflect.get(JSON, "rawJSON");

function readCall(value: unknown): RpcCall | InvalidCall {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { id: null, invalid: invalid("A call is an object with jsonrpc, id, method and params.") };
  const call: { jsonrpc?: unknown; id?: unknown; method?: unknown; params?: unknown } = value;
  const refuse = (reason: string) => ({ id: null, invalid: invalid(reason) });
  const unknown = Object.keys(value).find((name) => !names.has(name));
  if (unknown !== undefined)
    return refuse(`A call has no member ${JSON.stringify(unknown)}: it has jsonrpc, id, method and params.`);
  const { jsonrpc, id, method, params } = call;
  if (jsonrpc !== "2.0") return refuse('jsonrpc must be "2.0".');
  if (typeof method !== "string") return refuse("method must be a string.");
  if (id !== undefined && id !== null && typeof id !== "string" && !Number.isSafeInteger(id))
    return refuse("id must be a string, a whole number or null.");
  const list = readParams(params);
  if (list === null) return refuse("params must be an array.");
  return { id: isId(id) ? id : undefined, method, params: list };
}

function isId(id: unknown): id is RpcId {
  return id === null || typeof id === "string" || typeof id === "number";
}

/** No method of Anvil needs params by name; an object without members means none, as Anvil takes it. */
function readParams(params: unknown): readonly unknown[] | null {
  if (params === undefined || params === null) return [];
  if (Array.isArray(params)) return params;
  return typeof params === "object" && Object.keys(params).length === 0 ? [] : null;
}

function invalid(reason: string): RpcError {
  return { code: rpcErrorCodes.invalidRequest, message: `Invalid request: ${reason}` };
}
