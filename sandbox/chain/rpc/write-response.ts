import type { RpcError, RpcId } from "./read-request.ts";

/** The bytes of one JSON-RPC response. */
export type RpcResponse = Buffer;

/** Writes the response to a call that has succeeded. */
export function writeResult(id: RpcId, result: "0x0" | number | null): RpcResponse {
  return Buffer.from(JSON.stringify({ jsonrpc: "2.0", id, result }));
}

/** Writes the response to a call that has failed or is refused. */
export function writeError(id: RpcId, error: RpcError): RpcResponse {
  return Buffer.from(JSON.stringify({ jsonrpc: "2.0", id, error }));
}

/** Writes the responses to a batch, each of which may be several with commas between. */
export function writeBatch(responses: readonly RpcResponse[]): Buffer {
  const parts = responses.flatMap((response, index) => (index === 0 ? [response] : [comma, response]));
  return Buffer.concat([Buffer.from("["), ...parts, Buffer.from("]")]);
}

const comma = Buffer.from(",");
