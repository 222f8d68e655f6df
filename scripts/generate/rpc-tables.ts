import { mostBlocks } from "../../sandbox/chain/clock/mining-limits.ts";
import { runMs } from "../../sandbox/chain/rpc/answer-request.ts";
import { answerMs } from "../../sandbox/chain/rpc/anvil-http.ts";
import { mostFilterBytes, mostFilters } from "../../sandbox/chain/rpc/filters.ts";
import { largestBody } from "../../sandbox/chain/rpc/front.ts";
import { largestAnswer, mostHeld } from "../../sandbox/chain/rpc/held-answers.ts";
import {
  mostDetailedBlocks,
  mostFeeBlocks,
  mostGas,
  mostPercentiles,
  mostSlots,
  mostTracedGas,
} from "../../sandbox/chain/rpc/methods/bound-call.ts";
import { mostTracedBytes } from "../../sandbox/chain/rpc/methods/measure-trace.ts";
import { passedMethods, refusedMethods } from "../../sandbox/chain/rpc/methods/method-list.ts";
import { mostCalls, mostValues } from "../../sandbox/chain/rpc/read-request.ts";
import { mostSubscriptions } from "../../sandbox/chain/rpc/subscriptions.ts";
import { takeMs } from "../../sandbox/lib/http/unless-taken.ts";
import { mostRpcSnapshots } from "../../sandbox/snapshots/rpc-snapshots.ts";

const names = (methods: readonly string[]) => methods.map((method) => `\`${method}\``).join(", ");
const list = (items: readonly string[]) => `\n${items.map((item) => `- ${item}`).join("\n")}\n`;
const count = (value: bigint | number) => value.toLocaleString("en-US");
const mebibytes = (bytes: number) => `${bytes / 2 ** 20} MiB`;

/** The tables of docs/rpc.md. */
export const rpcTables: { readonly [name: string]: string } = {
  passed: list(passedMethods.map(({ methods, effect }) => `${names(Object.keys(methods))}: ${effect}`)),
  refused: list(refusedMethods.map(({ methods, instead }) => `${names(methods)}: ${instead}`)),
  limits: list(
    [
      [
        "gas of `eth_call`, `eth_estimateGas`, `eth_createAccessList`, and of all calls of one `eth_simulateV1`",
        count(mostGas),
      ],
      ["gas of `debug_traceCall`", count(mostTracedGas)],
      ["input of all inner calls of one `debug_traceCall`", mebibytes(mostTracedBytes)],
      ["block gas limit, and so the gas of a transaction", count(mostGas)],
      ["blocks of one `evm_mine`, `anvil_mine` or `hardhat_mine`", count(mostBlocks)],
      ["blocks of one `evm_mine_detailed` or `anvil_mine_detailed`", count(mostDetailedBlocks)],
      ["time of all calls of one request that run code", `${runMs / 1_000} s`],
      ["time of one response of the chain", `${answerMs / 1_000} s`],
      ["size of a request", mebibytes(largestBody)],
      ["calls of one batch, and values in one request", `${count(mostCalls)} and ${count(mostValues)}`],
      ["size of the responses to one request, such as a batch", mebibytes(largestAnswer)],
      ["size of all responses that their callers have not read yet", mebibytes(mostHeld)],
      ["time without reading a response, before the connection ends", `${takeMs / 1_000} s`],
      ["subscriptions of one WebSocket", count(mostSubscriptions)],
      ["filters at a time", count(mostFilters)],
      ["logs that filters begin with, together", mebibytes(mostFilterBytes)],
      ["snapshots that wait for their `evm_revert`", count(mostRpcSnapshots)],
      [
        "blocks and percentiles of one `eth_feeHistory`",
        `${count(mostFeeBlocks)} and ${count(mostPercentiles)}`,
      ],
      ["slots of one `eth_getProof` or `eth_getStorageValues`", count(mostSlots)],
    ].map(([what, most]) => `${what}: ${most}`),
  ),
};
