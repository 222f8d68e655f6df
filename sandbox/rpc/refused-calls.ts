import { z } from "zod";
import type { Json } from "../../protocol/json.ts";

const time = "Move the time of chain and API together: routing-sandbox travel, or sandbox.clock.travel().";
const mining =
  "Choose when blocks are mined: routing-sandbox mine --every, or POST /mining of the control API.";
const snapshots =
  "Take chain, store and clock back as one: sandbox.snapshot() and its restore(), or POST /snapshots of the control API.";
const state =
  "Begin anew with npm start -- --fresh, or go on from a whole sandbox: routing-sandbox snapshot load.";
const identity =
  "The contracts and every signature are bound to this chain; start a sandbox of another --seed instead.";

/**
 * The methods that would set the chain apart from the store, the relayer and the clock that belong to it, or that a restore cannot
 * take back, with what does it instead.
 */
export const refusedMethods: ReadonlyMap<string, string> = new Map([
  ["evm_snapshot", snapshots],
  ["anvil_snapshot", snapshots],
  ["evm_revert", snapshots],
  ["anvil_revert", snapshots],
  [
    "anvil_rollback",
    `Blocks that only vanish take the clock back. Replace them with anvil_reorg. ${snapshots}`,
  ],
  ["anvil_reset", state],
  ["hardhat_reset", state],
  ["anvil_loadState", state],
  ["hardhat_loadState", state],
  ["anvil_setChainId", identity],
  ["anvil_setRpcUrl", "The sandbox's chain forks no other one."],
  ["anvil_setCoinbase", "A restore could not take it back, and the blocks of equal runs would differ."],
  ["hardhat_setCoinbase", "A restore could not take it back, and the blocks of equal runs would differ."],
  ["evm_setAutomine", mining],
  ["anvil_setAutomine", mining],
  ["evm_setIntervalMining", mining],
  ["anvil_setIntervalMining", mining],
  ["evm_increaseTime", time],
  ["anvil_increaseTime", time],
  ["evm_setTime", time],
  ["anvil_setTime", time],
  ["evm_setNextBlockTimestamp", time],
  ["anvil_setNextBlockTimestamp", time],
  ["anvil_setBlockTimestampInterval", time],
  ["anvil_removeBlockTimestampInterval", time],
]);

/** Methods that mine, which are passed on unless they also set the time, with the place of the time among their parameters. */
const miningMethods: ReadonlyMap<string, number> = new Map([
  ["evm_mine", 0],
  ["evm_mine_detailed", 0],
  ["anvil_mine_detailed", 0],
  ["anvil_mine", 1],
  ["hardhat_mine", 1],
]);

const namedTime = z.object({
  timestamp: z.unknown().refine((value) => value !== undefined && value !== null),
});
const call = z.object({
  id: z.json().default(null),
  method: z.string(),
  params: z.array(z.unknown()).default([]),
});

/** The JSON-RPC code of a method that is not supported (EIP-1474). */
const notSupported = -32_004;

/**
 * Answers a body of JSON-RPC calls that the chain must not get, or null for one that it may. A batch with one such call is refused
 * whole: nothing of it is run.
 *
 * @example refuseCalls('{"jsonrpc":"2.0","id":1,"method":"anvil_reset"}') // { jsonrpc: "2.0", id: 1, error: … }
 */
export function refuseCalls(text: string): Json | null {
  const body = parse(text);
  const calls = (Array.isArray(body) ? body : [body]).map((one) => call.safeParse(one).data);
  const answers = calls.map((one) => ({
    id: one?.id ?? null,
    instead: one === undefined ? null : insteadOf(one),
    one,
  }));
  if (answers.every(({ instead }) => instead === null)) return null;
  const errors = answers.map(({ id, instead, one }) => ({
    jsonrpc: "2.0",
    id,
    error:
      instead === null
        ? { code: notSupported, message: "Not run: another call of this batch is refused." }
        : {
            code: notSupported,
            message: `${one?.method} would break the sandbox as one. ${instead}`,
            data: { method: one?.method ?? null, instead },
          },
  }));
  return Array.isArray(body) ? errors : (errors[0] ?? null);
}

function insteadOf({ method, params }: z.output<typeof call>): string | null {
  const place = miningMethods.get(method);
  if (place === undefined) return refusedMethods.get(method) ?? null;
  const given = params[place] ?? 0;
  const setsTime = typeof given === "object" ? namedTime.safeParse(given).success : !isZero(given);
  return setsTime ? time : null;
}

// viem sends an interval of zero when none is asked for.
function isZero(value: unknown): boolean {
  return value === 0 || (typeof value === "string" && /^0x0+$/.test(value));
}

// What is no JSON is left to the chain, which refuses it.
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
