import {
  type RateLimitCounts,
  type RateLimiter,
  rateLimitCounts,
} from "../server/http/request/rate-limit.ts";
import { miningPart } from "./chain/clock/mining.ts";
import type { ChainNode } from "./chain/start-chain.ts";
import type { LazyAccess } from "./client/access/lazy-access.ts";
import type { GivenAccess } from "./given/actors/access.ts";
import { namedPart, type Part, type RestoredParts, requireUsableNames } from "./lib/part.ts";
import type { SandboxReceiver } from "./receiver/receiver.ts";
import type { ReceiverPin } from "./receiver/receiver-pin.ts";
import type { StartedService } from "./service/start-service.ts";
import { storePart } from "./snapshots/store-part.ts";

/**
 * Lists all state but the chain's. Faults may pause mining, so they are restored before it. The chain and its clock are restored by
 * sandbox/snapshots/snapshot.ts.
 *
 * @param given - the parts of the option `parts`.
 * @throws SandboxError option_invalid when two have the same name.
 */
export function listParts(
  chain: ChainNode,
  { services, store, requests, faults }: StartedService,
  own: {
    access: LazyAccess;
    given: GivenAccess;
    receiver: SandboxReceiver;
    pin: ReceiverPin;
    refusals: Part<null>;
    requestLog: Part<null>;
    faultLog: Part<null>;
  },
  given: readonly Part[],
): RestoredParts {
  const others: readonly Part[] = [
    faults,
    ...(chain.isOwn
      ? [miningPart(chain.client, chain.journal), chain.impersonation.part(chain.client), chain.filters.part]
      : []),
    requests,
    rateLimitPart(services.rateLimiter),
    own.access,
    own.given,
    own.receiver,
    own.pin,
    own.refusals,
    own.requestLog,
    own.faultLog,
  ];
  const durable: readonly Part[] = [storePart(store)];
  const added = given.map(namedPart);
  const all = [...durable, ...others, ...added];
  requireUsableNames(all);
  return { added, durable, others, all };
}

/** Returns the part of a snapshot with each caller's requests in the current window of the rate limit. */
function rateLimitPart(limiter: RateLimiter): Part<RateLimitCounts> {
  return {
    name: "rate_limit",
    schema: rateLimitCounts,
    capture: () => limiter.capture(),
    restore: (counts) => limiter.restore(counts),
  };
}
