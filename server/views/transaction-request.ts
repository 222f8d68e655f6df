import type { Address } from "viem";
import type { Call } from "../../protocol/call.ts";
import type { Json } from "../../protocol/values/json.ts";
import type { Deployment } from "../deployment.ts";

/** A call as the transaction that one wallet has to send. */
export function viewTransactionRequest(call: Call, from: Address, deployment: Deployment) {
  const { to, data, args } = call;
  return {
    chain_id: deployment.chainId,
    from,
    to,
    data,
    value: "0",
    function: call.function,
    args,
  } satisfies Json;
}
