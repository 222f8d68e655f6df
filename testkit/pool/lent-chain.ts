import type { EIP1193RequestFn } from "viem";
import { createChainClient } from "../../sandbox/chain/anvil/chain-client.ts";
import type { Chain } from "../../sandbox/chain/genesis/start-chain.ts";
import { lend } from "./lend.ts";
import type { LoanTerm } from "./loan-term.ts";

/** A chain of which each question is refused once the loan is over, also those in the midst of one of the client's actions. */
export function lentChain(chain: Chain, clock: Chain["clock"], term: LoanTerm): Chain {
  const request = lentRequest(chain.client.request, term);
  const config = { ...chain.client.transport, request };
  const client = createChainClient(chain.anvil.url, () => ({ config, request }));
  return lend(chain, term, {
    own: {
      anvil: lend(chain.anvil, term),
      client: lend(client, term, { isStepwise: true }),
      request: lentRequest(chain.request, term),
      clock,
    },
  });
}

function lentRequest(request: EIP1193RequestFn, term: LoanTerm): EIP1193RequestFn {
  return new Proxy(request, {
    apply(target, self, args: Parameters<EIP1193RequestFn>): unknown {
      const [{ method }] = args;
      term.require(method);
      const answer: unknown = Reflect.apply(target, self, args);
      // What waits for a block may wait without end; a restore drops the transaction.
      if (!method.endsWith("Sync")) term.note(answer);
      return answer;
    },
  });
}
