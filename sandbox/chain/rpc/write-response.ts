import type { RpcError, RpcId } from "./read-request.ts";

/** The bytes of one JSON-RPC response. */
export type RpcResponse = Buffer;

/** Writes the response to a call that has succeeded. */
export function writeResult(id: RpcId, result: string | number | boolean | null): RpcResponse {
  return Buffer.from(JSON.stringify({ jsonrpc: "2.0", id, result }));
}

/** Writes the response to a call that has failed or is refused. */
export function writeError(id: RpcId, error: RpcError): RpcResponse {
  return Buffer.from(JSON.stringify({ jsonrpc: "2.0", id, error }));
}

/** Writes the same error as the responses to several calls. */
export function writeErrors(ids: readonly RpcId[], error: RpcError): RpcResponse {
  return Buffer.from(ids.map((id) => writeError(id, error)).join(","));
}

/** Returns the parts of the response to a batch, without a copy of them; each response may be several with commas between. */
export function writeBatch(responses: readonly RpcResponse[]): Buffer[] {
  const parts = responses.flatMap((response, index) => (index === 0 ? [response] : [comma, response]));
  return [Buffer.from("["), ...parts, Buffer.from("]")];
}

const comma = Buffer.from(",");
