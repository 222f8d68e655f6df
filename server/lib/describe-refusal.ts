import { causesOf } from "../../protocol/coded-error.ts";
import { escapeControls } from "./escape-controls.ts";

/** The JSON-RPC error code of a call that reverted: the contract's refusal, and not the node's. */
const reverted = 3;

/**
 * Says in one line why a node refused a request, out of viem's error; null for any other error. viem's own message is of many lines, and does not
 * have the node's reason first.
 *
 * @example describeRefusal(error) // "The node refused a request (-32001): invalid api key."
 */
export function describeRefusal(error: unknown): string | null {
  const refused = causesOf(error).find(({ name }) => name === "RpcRequestError");
  const code: unknown = Reflect.get(Object(refused), "code");
  const details: unknown = Reflect.get(Object(refused), "details");
  if (refused === undefined || code === reverted) return null;
  return `The node refused a request (${code}): ${escapeControls(String(details)).replace(/\.$/, "")}.`;
}
