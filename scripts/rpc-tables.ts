import { mostBlocks } from "../sandbox/chain/clock/mining-limits.ts";
import { runMs } from "../sandbox/chain/rpc/answer-request.ts";
import { answerMs, largestAnswer } from "../sandbox/chain/rpc/anvil-http.ts";
import { largestBody } from "../sandbox/chain/rpc/front.ts";
import { mostDetailedBlocks, mostGas, mostTracedGas } from "../sandbox/chain/rpc/methods/bound-call.ts";
import { mostTracedBytes } from "../sandbox/chain/rpc/methods/measure-trace.ts";
import { passedMethods, refusedMethods } from "../sandbox/chain/rpc/methods/method-list.ts";

const names = (methods: readonly string[]) => methods.map((method) => `\`${method}\``).join(", ");
const table = (head: readonly string[], rows: readonly (readonly string[])[]) =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
const count = (value: bigint | number) => value.toLocaleString("en-US");

/** The tables of docs/rpc.md. */
export const rpcTables: { readonly [name: string]: string } = {
  passed: table(
    ["methods", "what they do to the sandbox"],
    passedMethods.map(({ methods, effect }) => [names(methods), effect]),
  ),
  refused: table(
    ["method", "why", "instead"],
    refusedMethods.map(({ methods, why, instead }) => [names(methods), why, instead]),
  ),
  limits: table(
    ["what", "at most"],
    [
      [
        "gas of `eth_call`, `eth_estimateGas`, `eth_createAccessList`, and of all calls of `eth_simulateV1` together",
        count(mostGas),
      ],
      ["gas of `debug_traceCall`", count(mostTracedGas)],
      ["input of all inner calls of one `debug_traceCall`", `${mostTracedBytes / 2 ** 20} MiB`],
      ["block gas limit, and so the gas of a transaction", count(mostGas)],
      [
        "depth of one `anvil_reorg`",
        "the blocks that Anvil has made since it loaded the chain and whose state it keeps ([Reorg depth](#reorg-depth))",
      ],
      ["blocks of one `evm_mine`, `anvil_mine` or `hardhat_mine`", count(mostBlocks)],
      ["blocks of one `evm_mine_detailed` or `anvil_mine_detailed`", count(mostDetailedBlocks)],
      ["time of all calls of one request that run code", `${runMs / 1_000} s`],
      ["time of one response of the chain", `${answerMs / 1_000} s`],
      [
        "size of a request and of a response",
        `${largestBody / 2 ** 20} MiB and ${largestAnswer / 2 ** 20} MiB`,
      ],
    ],
  ),
};
