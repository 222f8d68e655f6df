import { plannedStates } from "../../check-contract/rules/plan.ts";
import { checkNames } from "../../protocol/binding/check-binding.ts";
import { faultPlacements } from "../../relayer/faults/fault.ts";
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
import { mostScenarioBytes, mostScenarioValues } from "../../sandbox/scenarios/scenario-file.ts";
import { mostContentBytes, mostFileBytes } from "../../sandbox/snapshots/file/snapshot-file.ts";
import { keptSnapshots } from "../../sandbox/snapshots/kept-snapshots.ts";
import { traceLimits } from "../../sandbox/trace/collect-answers.ts";
import { contractLimits } from "../../scripts/generate/contract-tables.ts";
import { computeVectors } from "../../scripts/generate/vectors.ts";
import { explainedSteps } from "../../server/binding/reverts/explain-revert.ts";
import { defaultPorts, defaultUrls } from "../../server/documentation/at-addresses.ts";
import { maximumDepth } from "../../server/http/request/parse-json.ts";
import { limits, limitTexts } from "../../server/limits.ts";
import { firstPauseMs, longestRetryAfter } from "../../server/notifications/outbox/delivery-attempts.ts";
import { mostRepairs } from "../../server/relay/relay.ts";
import { eventListLimit } from "../../server/schemas/event-types.ts";
import { smallestCompaction } from "../../server/store/directory/compacted-journal.ts";
import { electionIntervalMs } from "../../server/store/postgres/cluster-member.ts";
import { forgedMs, lateSeconds, latestOvertakenMs } from "../../testkit/check-client/event-cases.ts";
import { slowMs } from "../../testkit/check-client/write-cases.ts";
import { verifiedEvery } from "../../testkit/explore/explore.ts";
import { mostCandidates } from "../../testkit/explore/shorten-sequence.ts";
import { poolLimits } from "../../testkit/pool/served/pool-limits.ts";

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

/** The limits that pages name in their prose, as they name them. */
export const limitsInWords: { readonly [name: string]: string } = {
  ...limitTexts,
  ...contractLimits,
  body_levels: `${maximumDepth} levels`,
  answer_kept: `${answerBytes / 1_024} KiB`,
  arrivals_kept: `${count(keptArrivals)} deliveries`,
  change_purchases: `${count(namedPurchases)} purchases`,
  checks_when_mined: list.format(codeSpans(minedChecks)),
  checks_when_unsent: list.format(codeSpans(unsentChecks)),
  change_window: `${windowMs} ms`,
  checkpoint_at_stop: `${fewBlocks} blocks`,
  checkpoint_blocks: `${manyBlocks} blocks`,
  checkpoint_share: `1/${share}`,
  client_pause: `${longestPauseSeconds} seconds`,
  client_requests: `${mostRequests} requests`,
  checked_forged: `${forgedMs} ms`,
  checked_held: seconds(latestOvertakenMs),
  checked_late: `${lateSeconds / 60} minutes`,
  checked_slow: `${count(slowMs)} ms`,
  contract_states: `${count(plannedStates.length)} states`,
  control_port: `${defaultPorts.control} by default`,
  control_url: `\`${defaultUrls.control}\``,
  docs_url: `\`${defaultUrls.docs}\``,
  rpc_url: `\`${defaultUrls.rpc}\``,
  connections: `${count(connectionLimits.connections)} connections`,
  delivery_longest: seconds(longestDeliveryMs),
  delivery_pauses: `${pauses.slice(0, -1).join(", ")} and ${pauses.at(-1)} seconds`,
  delivery_timeout: seconds(defaults.deliveryTimeoutMs),
  event_list: `${count(eventListLimit)} entries`,
  expired_term: `${shortTermSeconds / 60} minutes`,
  explored_between: `${verifiedEvery} steps`,
  explored_candidates: `${mostCandidates} candidates`,
  explorer_page: `${count(pageSize)} items`,
  explorer_scanned: `${count(mostScanned)} records`,
  fault_count: `acts, ${count(faultDefaults.count)} by default`,
  ...namedFaults,
  fault_layers: listed(faultLayers),
  fault_delay: `${count(faultDefaults.delay_ms)} by default`,
  fault_depth: `removes, ${count(faultDefaults.depth)} by default`,
  fault_status: `${faultDefaults.status} by default`,
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
  readable_states: `${readableStates} blocks`,
  readable_states_in_memory: `about ${defaultKeptStates}`,
  refusals_kept: `${count(keptRefusals)} refusals`,
  trace_explained_logs: `${count(traceLimits.logs)} logs`,
  trace_listed_logs: `${count(traceLimits.listedLogs)} logs`,
  trace_explained: mebibytes(traceLimits.bytes),
  trace_items: `${count(traceLimits.items)} items`,
  trace_listed: `${count(traceLimits.listed)} transactions`,
  trace_transactions: `${count(traceLimits.transactions)} transactions`,
  requests_kept: `${count(requestLogLimits.requests)} requests`,
  request_bytes_kept: `${requestLogLimits.bytes / 1024 / 1024} MiB`,
  requests_page: `${count(requestPageSizes.usual)} by default`,
  requests_page_most: `at most ${count(requestPageSizes.most)}`,
  receiver_wait: seconds(nextTimeoutMs),
  relay_kinds: listed(relayOperationKinds),
  relayer_rpc_points: listed(faultPlacements.rpc_error),
  reorg_depth: `${count(deepestReorg)} blocks`,
  reorg_repairs: `${mostRepairs} reorgs`,
  request_timeout: seconds(connectionLimits.requestMs),
  retry_after: `${longestRetryAfter} seconds`,
  rpc_body: mebibytes(largestBody),
  scenario_file: `${mebibytes(mostScenarioBytes)} and ${count(mostScenarioValues)} values`,
  snapshot_content: mebibytes(mostContentBytes),
  snapshot_file: mebibytes(mostFileBytes),
  snapshots_kept: count(keptSnapshots),
  signed_messages: listed(Object.keys((await computeVectors()).typed_data)),
  states_copied: `${keptStates} with a data directory`,
  steps: listed(explainedSteps),
  wallets: listed(walletNames),
};

/** The limits that each page names. */
export const limitsOfPages: { readonly [page: string]: readonly string[] } = {
  "docs/api.md": ["idempotency_key_length", "body_bytes", "body_levels", "amount_digits", "page_size_max"],
  "docs/check-client.md": ["checked_slow", "checked_held", "checked_late", "checked_forged"],
  "docs/check-contract.md": ["contract_states"],
  "docs/ci.md": [
    "requests_kept",
    "trace_items",
    "trace_listed",
    "trace_listed_logs",
    "trace_transactions",
    "trace_explained",
    "trace_explained_logs",
  ],
  "docs/contracts.md": ["gas_tolerance", "gas_permit_saves", "registrar_creation", "registrar_creation_most"],
  "docs/control.md": [
    "control_port",
    "explorer_page",
    "explorer_scanned",
    "requests_page",
    "requests_page_most",
    "requests_kept",
    "request_bytes_kept",
    "change_window",
    "change_purchases",
    "heartbeat",
  ],
  "docs/explain.md": ["refusals_kept", "checks_when_unsent", "checks_when_mined"],
  "docs/explore.md": ["explored_between", "explored_candidates"],
  "docs/faults.md": [
    "fault_answer_lost",
    "fault_node_down",
    "fault_reorg",
    "fault_crash",
    "fault_slow",
    "fault_layers",
    "fault_count",
    "fault_depth",
    "fault_delay",
    "fault_status",
    "relay_kinds",
    "relayer_rpc_points",
    "reorg_repairs",
  ],
  "docs/languages.md": ["idempotency_key_length", "signed_messages"],
  "docs/notifications.md": [
    "event_tolerance",
    "event_list",
    "body_size",
    "delivery_timeout",
    "delivery_attempts",
    "delivery_pauses",
    "retry_after",
    "delivery_longest",
    "answer_kept",
    "arrivals_kept",
    "receiver_wait",
  ],
  "docs/pages.md": ["control_url", "docs_url"],
  "docs/performance.md": ["states_copied", "readable_states_in_memory"],
  "docs/pool.md": ["pool_lease", "pool_longest_lease", "pool_wait"],
  "docs/relayer.md": ["reorg_depth"],
  "docs/rpc.md": ["rpc_url", "body_levels", "readable_states", "readable_states_in_memory"],
  "docs/scenarios.md": ["scenario_file"],
  "docs/security.md": ["connections", "headers_timeout", "request_timeout", "body_size", "rpc_body"],
  "docs/snapshots.md": ["readable_states", "readable_states_in_memory", "snapshot_file", "snapshot_content"],
  "docs/states.md": [
    "given_cap",
    "given_amount",
    "offer_deadline",
    "pay_deadline",
    "claim_deadline",
    "expired_term",
  ],
  "docs/store.md": [
    "checkpoint_at_stop",
    "checkpoint_blocks",
    "checkpoint_share",
    "journal_size",
    "chain_state_kept",
    "leader_wait",
    "leader_look",
  ],
  "docs/tests.md": ["client_pause", "client_requests", "wallets", "operator_accounts", "steps"],
  "docs/time.md": [
    "credential_lifetime",
    "offer_deadline",
    "pay_deadline",
    "claim_deadline",
    "funding_validity",
  ],
  "portal/docs.md": ["idempotency_key_length", "credential_lifetime"],
};
