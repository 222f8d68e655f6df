import type { Address } from "viem";
import type { Call } from "../../protocol/call.ts";
import { domainTypes, type RegistrarDomain } from "../../protocol/messages/domain.ts";
import type { TokenDomain } from "../../protocol/messages/permit.ts";
import { toJson } from "../../protocol/values/json.ts";
import type { Deployment } from "../chain/deployment.ts";
import { mapFields } from "../lib/map-fields.ts";
import type { TransactionRequest, TypedData } from "../schemas/transactions.ts";

/** A call as the transaction that one wallet has to send. */
export function viewTransactionRequest(
  call: Call,
  from: Address,
  deployment: Deployment,
): TransactionRequest {
  const { to, data, args } = call;
  return {
    chain_id: deployment.chainId,
    from,
    to,
    data,
    value: "0",
    function: call.function,
    args,
  };
}

/** Typed data in JSON, complete for `eth_signTypedData_v4`: with the domain's type, integers as decimal strings, types copied. */
export function viewTypedData({
  domain,
  types,
  primaryType,
  message,
}: {
  domain: RegistrarDomain | TokenDomain;
  types: { readonly [name: string]: readonly { readonly name: string; readonly type: string }[] };
  primaryType: string;
  message: object;
}): TypedData {
  return {
    domain: { ...domain },
    types: mapFields({ ...domainTypes, ...types }, (fields) => fields.map((field) => ({ ...field }))),
    primaryType,
    message: Object.fromEntries(Object.entries(message).map(([name, value]) => [name, toJson(value)])),
  };
}
