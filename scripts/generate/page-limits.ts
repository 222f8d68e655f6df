import { lateSeconds, latestOvertakenMs } from "../../check-client/event-cases.ts";
import { slowMs } from "../../check-client/write-cases.ts";
import { plannedStates } from "../../check-contract/rules/matrix/plan.ts";
import { defaultPorts } from "../../cli/shared-options.ts";
import { checkNames } from "../../protocol/binding/check-binding.ts";
import { faultPlacements, faultPoints } from "../../relayer/faults/fault.ts";
import { deepestReorg } from "../../relayer/recovery/head-trail.ts";
import { relayOperationKinds } from "../../relayer/relayer.ts";
import { namedPurchases, windowMs } from "../../sandbox/activity/change-feed.ts";
import { requestPageSizes } from "../../sandbox/activity/read-requests.ts";
import { keptRefusals } from "../../sandbox/activity/refusal-log.ts";
import { requestLogLimits } from "../../sandbox/activity/request-log.ts";
import { defaultKeptStates } from "../../sandbox/chain/anvil/start-anvil.ts";
import { programRoles, walletNames } from "../../sandbox/chain/genesis/roles.ts";
import { largestBody } from "../../sandbox/chain/rpc/front.ts";
import { keptStates, readableStates } from "../../sandbox/chain/start-chain.ts";
import { longestPauseSeconds, mostRequests } from "../../sandbox/client/retrying-fetch.ts";
import { leaderWaitMs } from "../../sandbox/cluster/forwarding.ts";
import { fewBlocks, manyBlocks, share } from "../../sandbox/data-directory/checkpoints.ts";
import { mostKeptBytes } from "../../sandbox/data-directory/open-journal.ts";
import { minedChecks } from "../../sandbox/explain/explain-call.ts";
import { heartbeatMs } from "../../sandbox/explorer/explorer.ts";
import { mostScanned, pageSize } from "../../sandbox/explorer/reads/page.ts";
import { faultDefaults, faultIntents, faultLayers } from "../../sandbox/faults/fault-matrix.ts";
import { defaultCap } from "../../sandbox/given/give-merchant.ts";
import { shortTermSeconds } from "../../sandbox/given/give-purchase.ts";
import { defaultAmount } from "../../sandbox/given/states.ts";
import { connectionLimits } from "../../sandbox/lib/http/connection-limits.ts";
import { answerBytes } from "../../sandbox/lib/http/deliver.ts";
import { resolveOptions } from "../../sandbox/options/settings.ts";
import { keptArrivals, nextTimeoutMs } from "../../sandbox/receiver/receiver.ts";
import { mostScenarioBytes } from "../../sandbox/scenarios/scenario-file.ts";
import { mostContentBytes, mostFileBytes } from "../../sandbox/snapshots/file/snapshot-file.ts";
import { keptSnapshots } from "../../sandbox/snapshots/kept-snapshots.ts";
import { traceLimits } from "../../sandbox/trace/collect-answers.ts";
import { limits } from "../../server/http/limits.ts";
import { firstPauseMs, longestRetryAfter } from "../../server/notifications/outbox/delivery-attempts.ts";
import { eventListLimit } from "../../server/notifications/outbox/event-types.ts";
import { mostRepairs } from "../../server/relay/relay.ts";
import { explainedSteps } from "../../server/reverts/explain-revert.ts";
import { smallestCompaction } from "../../server/store/directory/compacted-journal.ts";
import { electionIntervalMs } from "../../server/store/postgres/cluster-member.ts";
import { verifiedEvery } from "../../testkit/explore/explore.ts";
import { mostCandidates } from "../../testkit/explore/shorten-sequence.ts";
import { poolLimits } from "../../testkit/pool/served/pool-limits.ts";
import { computeVectors } from "./vectors.ts";

const defaults = resolveOptions({});
const count = (value: number) => value.toLocaleString("en-US");
const seconds = (milliseconds: number) => `${milliseconds / 1_000} seconds`;
const mebibytes = (bytes: number) => `${bytes / 2 ** 20} MiB`;

/** The pauses between the attempts of a delivery, in seconds. */
const pauses = Array.from({ length: limits.delivery_attempts - 1 }, (_, index) =>
  String((firstPauseMs * 2 ** index) / 1_000),
);

/** The longest delivery in mode `live`: every attempt times out, and every pause is the longest that a receiver can ask for. */
const longestDeliveryMs =
  limits.delivery_attempts * defaults.deliveryTimeoutMs + pauses.length * longestRetryAfter * 1_000;

const codeSpans = (names: readonly string[]) => names.map((name) => `\`${name}\``);
const list = new Intl.ListFormat("en-GB");
const listed = (names: readonly string[]) => list.format(codeSpans(names));

/** The binding checks that a call has before it is sent, whatever its step; a step of a purchase on the chain also has `purchase`. */
const unsentChecks = checkNames.filter((name) => name !== "purchase" && !minedChecks.includes(name));

/** The fault that each name stands for, by `fault_` and the name. */
const namedFaults = Object.fromEntries(
  Object.entries(faultIntents).map(([name, { layer, action, point }]) => [
    `fault_${name.replaceAll("-", "_")}`,
    `layer \`${layer}\`, action \`${action}\`, point \`${point}\``,
  ]),
);

/** The limits that pages of docs/ name in their prose, by the name in the mark around each; the service's own are elsewhere. */
export const pageLimits = {
  answer_kept: `${answerBytes / 1_024} KiB`,
  arrivals_kept: `${count(keptArrivals)} deliveries`,
  change_purchases: count(namedPurchases),
  checks_when_mined: list.format(codeSpans(minedChecks)),
  checks_when_unsent: list.format(codeSpans(unsentChecks)),
  change_window: `${windowMs} ms`,
  checkpoint_at_stop: `${fewBlocks} blocks`,
  checkpoint_blocks: `${manyBlocks} blocks`,
  checkpoint_share: `1/${share}`,
  client_pause: `${longestPauseSeconds} seconds`,
  client_requests: String(mostRequests),
  checked_held: seconds(latestOvertakenMs),
  checked_late: `${lateSeconds / 60} minutes`,
  checked_slow: `${count(slowMs)} ms`,
  contract_states: count(plannedStates.length),
  control_port: String(defaultPorts.control),
  control_url: `\`http://127.0.0.1:${defaultPorts.control}\``,
  docs_url: `\`http://127.0.0.1:${defaultPorts.docs}\``,
  rpc_url: `\`http://127.0.0.1:${defaultPorts.rpc}\``,
  connections: `${count(connectionLimits.connections)} connections`,
  delivery_longest: seconds(longestDeliveryMs),
  delivery_pauses: `${pauses.slice(0, -1).join(", ")} and ${pauses.at(-1)} seconds`,
  delivery_timeout: seconds(defaults.deliveryTimeoutMs),
  event_list: `${count(eventListLimit)} entries`,
  expired_term: `${shortTermSeconds / 60} minutes`,
  explored_between: `${verifiedEvery} steps`,
  explored_candidates: `${mostCandidates} candidates`,
  explorer_page: count(pageSize),
  explorer_scanned: `${count(mostScanned)} records`,
  fault_count: count(faultDefaults.count),
  ...namedFaults,
  fault_layers: listed(faultLayers),
  fault_delay: count(faultDefaults.delay_ms),
  fault_depth: count(faultDefaults.depth),
  fault_status: String(faultDefaults.status),
  given_amount: `\`${defaultAmount}\``,
  given_cap: `\`${defaultCap}\``,
  headers_timeout: seconds(connectionLimits.headersMs),
  heartbeat: seconds(heartbeatMs),
  chain_state_kept: mebibytes(mostKeptBytes),
  journal_size: mebibytes(smallestCompaction),
  leader_look: `${electionIntervalMs} ms`,
  leader_wait: `${leaderWaitMs / 1_000} s`,
  operator_accounts: programRoles.map(({ id, operatorIndex }) => `${operatorIndex} for \`${id}\``).join(", "),
  pool_lease: seconds(poolLimits.leaseSeconds * 1_000),
  pool_longest_lease: `${count(poolLimits.mostLeaseSeconds)} seconds`,
  pool_wait: seconds(poolLimits.waitMs),
  readable_states: String(readableStates),
  readable_states_in_memory: String(defaultKeptStates),
  refusals_kept: count(keptRefusals),
  trace_explained_logs: count(traceLimits.logs),
  trace_listed_logs: count(traceLimits.listedLogs),
  trace_explained: mebibytes(traceLimits.bytes),
  trace_items: count(traceLimits.items),
  trace_listed: count(traceLimits.listed),
  trace_transactions: count(traceLimits.transactions),
  requests_kept: count(requestLogLimits.requests),
  request_bytes_kept: `${requestLogLimits.bytes / 1024 / 1024} MiB`,
  requests_page: count(requestPageSizes.usual),
  requests_page_most: count(requestPageSizes.most),
  receiver_wait: seconds(nextTimeoutMs),
  relay_kinds: listed(relayOperationKinds),
  relayer_points: codeSpans(faultPoints).join(", "),
  relayer_rpc_points: listed(faultPlacements.rpc_error),
  reorg_depth: `${count(deepestReorg)} blocks`,
  reorg_repairs: `${mostRepairs} reorgs`,
  request_timeout: String(connectionLimits.requestMs / 1_000),
  retry_after: `${longestRetryAfter} seconds`,
  rpc_body: mebibytes(largestBody),
  scenario_file: mebibytes(mostScenarioBytes),
  snapshot_content: mebibytes(mostContentBytes),
  snapshot_file: mebibytes(mostFileBytes),
  snapshots_kept: count(keptSnapshots),
  signed_messages: listed(Object.keys((await computeVectors()).typed_data)),
  states_copied: String(keptStates),
  steps: listed(explainedSteps),
  wallets: listed(walletNames),
};
