import type { EIP1193RequestFn, Transport } from "viem";
import type { ChainJournal } from "./chain-journal.ts";
import { isChanging } from "./changing-methods.ts";

/** Returns a transport that records in a journal what it is asked to change, and what its answers show. */
export function recordCalls(transport: Transport, journal: ChainJournal): Transport {
  return (parameters) => {
    const inner = transport(parameters);
    const request: EIP1193RequestFn = async (question) => {
      const { method, params }: { method: string; params?: unknown } = question;
      if (method === "eth_sendRawTransaction")
        return await journal.send(
          Array.isArray(params) ? params[0] : undefined,
          async () => await journal.observe(method, params, inner.request(question)),
        );
      if (!isChanging(method)) return await journal.observe(method, params, inner.request(question));
      const call = { method, params: Array.isArray(params) ? params : [] };
      return await journal.call(call, async () => await inner.request(question));
    };
    return { ...inner, request };
  };
}
