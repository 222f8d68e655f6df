import type { Address } from "viem";
import type { Call } from "../../protocol/call.ts";
import { domainTypes, type RegistrarDomain } from "../../protocol/messages/domain.ts";
import type { TokenDomain } from "../../protocol/messages/permit.ts";
import { type Json, toJson } from "../../protocol/values/json.ts";
import type { Deployment } from "../chain/deployment.ts";

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

/** Typed data in JSON, complete for `eth_signTypedData_v4`: with the domain's type, integers as decimal strings, types copied. */
export function viewTypedData(typedData: {
  domain: RegistrarDomain | TokenDomain;
  types: { readonly [name: string]: readonly { readonly name: string; readonly type: string }[] };
  primaryType: string;
  message: object;
}) {
  const types: { [name: string]: { name: string; type: string }[] } = {};
  for (const [name, fields] of Object.entries({ ...domainTypes, ...typedData.types }))
    types[name] = fields.map((field) => ({ ...field }));
  const message: { [name: string]: Json } = {};
  for (const [name, value] of Object.entries(typedData.message)) message[name] = toJson(value);
  return { domain: { ...typedData.domain }, types, primaryType: typedData.primaryType, message };
}
