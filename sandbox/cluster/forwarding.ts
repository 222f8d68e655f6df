import { performance } from "node:perf_hooks";
import { URL } from "../../protocol/globals.ts";
import type { Answer } from "../../server/http/answers/answer.ts";
import type { ForwardedRequest, Services } from "../../server/http/services.ts";
import type { ClusterMember } from "../../server/store/postgres/cluster-member.ts";
import { StoreUnavailableError } from "../../server/store/store.ts";
import { fetchDirect } from "../lib/http/direct/fetch-direct.ts";
import { wait } from "../lib/time/timers.ts";

/** The longest time that a request waits for a process to lead, in milliseconds. */
export const leaderWaitMs = 5_000;

/** The pause between two checks for a leader, in milliseconds. */
const leaderPollMs = 25;

const passedOn = ["Content-Type", "Idempotent-Replayed", "Retry-After", "WWW-Authenticate", "X-Request-Id"];

/**
 * Hands a request to the process that leads, and waits for one where none answers: requests with an effect carry an idempotency key, so
 * that the next to lead continues with what the last one began.
 */
export function forwardingTo(
  member: Pick<ClusterMember, "leads">,
  leader: () => Promise<string | null>,
  ownUrl: string,
): Services["forwardToLeader"] {
  return async (request) => {
    const deadline = performance.now() + leaderWaitMs;
    while (!member.leads()) {
      const url = await leader();
      // Written down by this process when it last led.
      const answer = url === null || url === ownUrl ? null : await ask(url, request);
      if (answer !== null) return answer;
      if (performance.now() > deadline)
        throw new StoreUnavailableError("No process leads the relayer of this sandbox now.");
      await wait(leaderPollMs);
    }
    return null;
  };
}

/** @returns null when no process answers. */
async function ask(url: string, { method, path, headers, body }: ForwardedRequest): Promise<Answer | null> {
  try {
    const response = await fetchDirect(new URL(path, url), { method, headers, body: new Uint8Array(body) });
    const passed = passedOn.flatMap((name) => {
      const value = response.headers.get(name);
      return value === null ? [] : [[name, value] as const];
    });
    return { status: response.status, body: await response.text(), headers: Object.fromEntries(passed) };
  } catch {
    return null;
  }
}
