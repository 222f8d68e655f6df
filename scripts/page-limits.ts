import { deepestReorg } from "../relayer/recovery/head-trail.ts";
import { largestBody } from "../sandbox/chain/rpc/front.ts";
import { keptSnapshots } from "../sandbox/hosts/control/snapshot-routes.ts";
import { heartbeatMs } from "../sandbox/hosts/explorer/explorer.ts";
import { namedPurchases, windowMs } from "../sandbox/hosts/explorer/live/change-feed.ts";
import { keptRefusals } from "../sandbox/hosts/explorer/live/refusal-log.ts";
import { mostScanned, pageSize } from "../sandbox/hosts/explorer/reads/page.ts";
import { connectionLimits } from "../sandbox/lib/http/connection-limits.ts";
import { answerBytes } from "../sandbox/lib/http/deliver.ts";
import { resolveOptions } from "../sandbox/options/options.ts";
import { leaderWaitMs } from "../sandbox/service/cluster/forwarding.ts";
import { limits } from "../server/api/limits.ts";
import { firstPauseMs, longestRetryAfter } from "../server/outbox/delivery-attempts.ts";
import { eventListLimit } from "../server/outbox/event-types.ts";
import { smallestCompaction } from "../server/store/directory/compacted-journal.ts";
import { electionIntervalMs } from "../server/store/postgres/cluster-member.ts";

const defaults = resolveOptions({});
const count = (value: number) => value.toLocaleString("en-US");
const seconds = (milliseconds: number) => `${milliseconds / 1_000} seconds`;
const mebibytes = (bytes: number) => `${bytes / 2 ** 20} MiB`;

/** The pauses between the attempts of a delivery, in seconds. */
const pauses = Array.from({ length: limits.delivery_attempts - 1 }, (_, index) =>
  String((firstPauseMs * 2 ** index) / 1_000),
);

/** The limits that pages of docs/ name in their prose, by the name in the mark around each; the service's own are elsewhere. */
export const pageLimits = {
  answer_kept: `${answerBytes / 1_024} KiB`,
  change_purchases: count(namedPurchases),
  change_window: `${windowMs} ms`,
  connections: `${count(connectionLimits.connections)} connections`,
  delivery_pauses: `${pauses.slice(0, -1).join(", ")} and ${pauses.at(-1)} seconds`,
  delivery_timeout: seconds(defaults.deliveryTimeoutMs),
  event_list: `${count(eventListLimit)} entries`,
  explorer_page: count(pageSize),
  explorer_scanned: `${count(mostScanned)} records`,
  headers_timeout: seconds(connectionLimits.headersMs),
  heartbeat: seconds(heartbeatMs),
  journal_size: mebibytes(smallestCompaction),
  leader_look: `${electionIntervalMs} ms`,
  leader_wait: `${leaderWaitMs / 1_000} s`,
  refusals_kept: count(keptRefusals),
  reorg_depth: `${count(deepestReorg)} blocks`,
  request_timeout: String(connectionLimits.requestMs / 1_000),
  retry_after: `${longestRetryAfter} seconds`,
  rpc_body: mebibytes(largestBody),
  snapshots_kept: count(keptSnapshots),
};
