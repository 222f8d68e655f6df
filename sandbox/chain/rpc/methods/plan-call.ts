import { z } from "zod";
import { mostBlocks } from "../../clock/mining-limits.ts";
import { rpcErrorCodes } from "../error-codes.ts";
import type { RpcCall, RpcError } from "../read-request.ts";
import { bounders, mostDetailedBlocks, ParamsError, quantity, requireNoBlobs } from "./bound-call.ts";
import { measuringParams } from "./measure-trace.ts";
import { findRefused, timeInstead, treatmentOf } from "./method-list.ts";

/** The plan for passing on a call. */
export type CallPlan =
  /** As it is: see `Treatment` in the list of methods. */
  | {
      kind:
        | "ask"
        | "ask_alone"
        | "metadata"
        | "filter"
        | "subscribe"
        | "send"
        | "send_sync"
        | "send_unsigned"
        | "change"
        | "run"
        | "reorg";
      params: readonly unknown[];
    }
  | { kind: "trace"; measuring: readonly unknown[]; params: readonly unknown[] }
  /** The call waits until no block is being made. */
  | { kind: "awaits_block"; params: readonly unknown[] }
  | { kind: "interval" | "nothing" }
  | { kind: "snapshot" }
  | { kind: "revert"; snapshot: bigint }
  /** So many blocks, in portions. */
  | { kind: "mine"; blocks: number; answer: "0x0" | null }
  /** Not at all. */
  | { kind: "error"; error: RpcError }
  /** Not at all, and nothing else of its batch. */
  | { kind: "refuse"; error: RpcError };

/**
 * Decides what becomes of a call: what is not on the list of passed methods is refused.
 *
 * @example planCall({ id: 1, method: "anvil_reset", params: [] }).kind // "refuse"
 */
export function planCall(call: RpcCall): CallPlan {
  const { method, params } = call;
  const refused = findRefused(method);
  if (refused !== undefined) return refuse(method, refused.why, refused.instead);
  const treatment = treatmentOf(method);
  try {
    switch (treatment) {
      case undefined:
        return {
          kind: "error",
          error: {
            code: rpcErrorCodes.methodNotFound,
            message: `The sandbox has no method ${JSON.stringify(method.slice(0, 100))}. docs/rpc.md lists those that it has.`,
          },
        };
      case "mine":
        return planMining(call);
      case "reorg":
        return planReorg(params);
      case "snapshot":
        return planSnapshot(params);
      case "revert":
        return planRevert(params);
      case "interval":
      case "nothing":
        return { kind: treatment };
    }
    const bounded = bounders.get(method)?.(params) ?? params;
    if (treatment === "trace")
      return { kind: treatment, measuring: measuringParams(bounded), params: bounded };
    if (treatment !== "block") return { kind: treatment, params: bounded };
    return { kind: bounded[1] === true ? "ask_alone" : "ask", params: bounded };
  } catch (error) {
    if (error instanceof ParamsError)
      return { kind: "error", error: { code: rpcErrorCodes.invalidParams, message: error.message } };
    throw error;
  }
}

/** Mining sets no time of its own with an interval of zero, which viem sends when none is asked for. */
const noTime = z.union([quantity.refine((value) => value === 0n), z.null()]).optional();
/** Nor with one of a second, which Hardhat's `networkHelpers.mine()` sends: it is the interval of blocks in `deterministic` mode. */
const usualInterval = z.union([quantity.refine((value) => value <= 1n), z.null()]).optional();
const numberOfBlocks = quantity.nullish();
const mineOptions = z.looseObject({ timestamp: z.unknown().optional(), blocks: z.unknown().optional() });

function planMining({ method, params }: RpcCall): CallPlan {
  const countsFirst = method === "anvil_mine" || method === "hardhat_mine";
  const { time, count } = countsFirst ? readCount(params) : readOptions(params);
  if (!(countsFirst ? usualInterval : noTime).safeParse(time).success)
    return refuse(
      method,
      `it would also set the time (params are ${countsFirst ? '["0x2"]' : '[{"blocks": 2}]'} or none)`,
      timeInstead,
    );
  const isDetailed = method.endsWith("_detailed");
  const most = isDetailed ? mostDetailedBlocks : mostBlocks;
  const asked = numberOfBlocks.safeParse(count);
  if (!asked.success)
    throw new ParamsError(`The number of blocks must be a whole number of at most ${most}, as in "0x2".`);
  const blocks = asked.data ?? 1n;
  if (blocks > most)
    throw new ParamsError(
      `${method} mines at most ${most} blocks, not ${blocks}. Mine them with several calls.`,
    );
  if (isDetailed) return { kind: "awaits_block", params: [{ timestamp: null, blocks: Number(blocks) }] };
  return { kind: "mine", blocks: Number(blocks), answer: method === "evm_mine" ? "0x0" : null };
}

/** The arguments of a call for blocks: seconds or a timestamp, and a number of blocks. */
interface AskedBlocks {
  time: unknown;
  count: unknown;
}

function readCount([count, time, ...more]: readonly unknown[]): AskedBlocks {
  if (more.length > 0) throw new ParamsError('params are a number of blocks, as in ["0x2"].');
  return { time, count };
}

/** A number alone is a time. */
function readOptions([options, ...more]: readonly unknown[]): AskedBlocks {
  if (typeof options !== "object" || options === null) return { time: options, count: undefined };
  const asked = mineOptions.safeParse(options);
  const { timestamp, blocks, ...others } = asked.data ?? {};
  if (!asked.success || more.length > 0 || Object.keys(others).length > 0)
    throw new ParamsError('params are options, as in [{"blocks": 2}].');
  return { time: timestamp, count: blocks };
}

/** Transactions for the new blocks of a reorg: signed bytes or an object, and the number of its block. */
const placedTransactions = z.array(z.tuple([z.union([z.string(), z.looseObject({})]), z.unknown()]));
const reorgParams = z.union([z.tuple([quantity]), z.tuple([quantity, placedTransactions])]);

function planReorg(params: readonly unknown[]): CallPlan {
  const asked = reorgParams.safeParse(params);
  if (!asked.success)
    throw new ParamsError(
      "params must be the number of blocks to take and the transactions of the new ones, as in [2, []].",
    );
  const [depth, placed = []] = asked.data;
  for (const [transaction] of placed) if (typeof transaction !== "string") requireNoBlobs(transaction);
  return { kind: "reorg", params: [Number(depth), placed] };
}

function planSnapshot(params: readonly unknown[]): CallPlan {
  if (params.length > 0) throw new ParamsError("There are no params: a snapshot is of the whole sandbox.");
  return { kind: "snapshot" };
}

function planRevert(params: readonly unknown[]): CallPlan {
  const asked = z.tuple([quantity]).safeParse(params);
  if (!asked.success) throw new ParamsError('params are the id that evm_snapshot returned, as in ["0x1"].');
  return { kind: "revert", snapshot: asked.data[0] };
}

function refuse(method: string, why: string, instead: string): CallPlan {
  const message = `${method} is refused because ${why}. ${instead}`;
  return {
    kind: "refuse",
    error: { code: rpcErrorCodes.methodNotSupported, message, data: { method, instead } },
  };
}
