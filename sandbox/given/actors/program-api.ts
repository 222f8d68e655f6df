import { directUserAgent } from "../../activity/request-log.ts";
import { mineBlocks } from "../../chain/clock/mining.ts";
import type { ChainNode } from "../../chain/start-chain.ts";
import {
  createApiClient,
  type LifecycleWrites,
  type RetryingClient,
  type SendRequest,
} from "../../client/api-client.ts";
import { lifecycleWrites } from "../../client/lifecycle-writes.ts";
import {
  mostRequests,
  type RetryPolicy,
  retryingFetch,
  waitInRealTime,
} from "../../client/retrying-fetch.ts";
import type { GivenAccess } from "./access.ts";

/** The API operations of one program, with the access of given states. */
export interface ProgramApi {
  /** Sends each write until it gets a response, whichever it is. */
  untilAnswered: LifecycleWrites;
  /** Mines a block for what comes too early. */
  retrying: RetryingClient;
}

/** Opens the API operations of a program. */
export function openProgramApi(
  program: string,
  api: {
    url: string;
    access: GivenAccess;
    confirmations: number;
    chain: Pick<ChainNode, "client" | "isOwn">;
    signal: AbortSignal;
    /** Whether the requests are for another function than one of given states. */
    isDirect: boolean;
  },
): ProgramApi {
  const { url, access, confirmations, chain, signal, isDirect } = api;
  const policy: RetryPolicy = {
    // Each request can wait for one confirmation.
    mostRequests: confirmations + mostRequests,
    async wait(wait) {
      if (!chain.isOwn) await waitInRealTime(wait);
      else if (wait.isEarly) await mineBlocks(chain.client, 1);
      else await waitInRealTime({ ...wait, seconds: undefined });
    },
    signal,
  };
  // A credential is requested as often as what needs it.
  const issue = retryingFetch(policy, access.send);
  const nextKey = async () => await access.nextKey(program, issue);
  const authorized = access.authorizedFetch(program, issue);
  const send: SendRequest = async (request) => {
    if (isDirect) request.headers.set("User-Agent", directUserAgent);
    return await authorized(request);
  };
  const open = (fetch: typeof send) => {
    const client = createApiClient(url, undefined, { ...policy, fetch, nextKey });
    client.use(access.keys.middleware);
    return client;
  };
  const answered = open(retryingFetch(policy, send, () => true));
  return { untilAnswered: lifecycleWrites(answered, nextKey), retrying: open(send).retrying };
}
