import type { EIP1193RequestFn } from "viem";
import { createChainClient } from "../../sandbox/chain/client/chain-client.ts";
import type { ChainNode } from "../../sandbox/chain/start-chain.ts";
import { guardCalls } from "./guard-calls.ts";
import type { LeaseGuard } from "./lease-guard.ts";

/** A chain of which each question is refused once the lease is over, also those in the midst of one of the client's actions. */
export function leasedChain(chain: ChainNode, clock: ChainNode["clock"], guard: LeaseGuard): ChainNode {
  const request = guardedRequest(chain.client.request, guard);
  const config = { ...chain.client.transport, request };
  const client = createChainClient(chain.anvil.url, () => ({ config, request }));
  return guardCalls(chain, "chain", guard, {
    own: {
      anvil: guardCalls(chain.anvil, "chain.anvil", guard),
      client: guardCalls(client, "chain.client", guard, { isStepwise: true }),
      request: guardedRequest(chain.request, guard),
      clock,
    },
  });
}

function guardedRequest(request: EIP1193RequestFn, guard: LeaseGuard): EIP1193RequestFn {
  return new Proxy(request, {
    apply(target, self, args: Parameters<EIP1193RequestFn>): unknown {
      const [{ method }] = args;
      guard.require(method);
      const answer: unknown = Reflect.apply(target, self, args);
      // A call that waits for a block may wait without end; a restore drops the transaction.
      if (!method.endsWith("Sync")) guard.note(answer);
      return answer;
    },
  });
}
