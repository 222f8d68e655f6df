import type { ChainType, NetworkConnection } from "hardhat/types/network";
import type { JsonRpcRequest, JsonRpcResponse } from "hardhat/types/providers";
import { z } from "zod";
import type { SandboxDescription } from "../sandbox/options/description.ts";
import { askControl } from "../sandbox/service/ask-control.ts";

const blockSchema = z.object({ timestamp: z.coerce.number() });
const refusal = z.object({ detail: z.string() });
const status = z.object({ now: z.number() });

/** The methods that move the time of the next block, as Hardhat's network helpers call them. The chain RPC refuses them. */
const timeMethods = ["evm_setNextBlockTimestamp", "evm_increaseTime"];

/** Returns whether a request moves the time of the next block. */
export function movesTime({ method }: JsonRpcRequest): boolean {
  return timeMethods.includes(method);
}

/**
 * Moves the sandbox's clock, which is that of the API, too, so that the next block gets a time. This mines a block: in mode deterministic a second
 * earlier, because each block has the next second, and in mode live at that time, from which the clock runs on.
 *
 * @example await moveTime(connection, sandbox, { jsonrpc: "2.0", id: 1, method: "evm_increaseTime", params: [60] })
 */
export async function moveTime<ChainTypeT extends ChainType | string>(
  { provider }: NetworkConnection<ChainTypeT>,
  { mode, urls }: SandboxDescription,
  { id, method, params }: JsonRpcRequest,
): Promise<JsonRpcResponse> {
  const latest = await provider.request({ method: "eth_getBlockByNumber", params: ["latest", false] });
  const { timestamp } = blockSchema.parse(latest);
  const refuse = (reason: string): JsonRpcResponse => ({
    jsonrpc: "2.0",
    id,
    error: { code: -32_602, message: `${method}: ${reason}` },
  });
  const [given] = Array.isArray(params) ? params : [];
  const value = Number(given);
  const next = method === "evm_increaseTime" ? timestamp + value : value;
  if (next <= timestamp)
    return refuse(
      `the newest block has the time ${timestamp}, and ${next} is not later. To go back, restore a snapshot.`,
    );
  const to = mode === "live" ? next : next - 1;
  // In mode live the next block has the time of now, which is at least this time, if more has passed since the newest block.
  if (to !== timestamp && !(mode === "live" && (await readTime(urls.control)) >= next)) {
    const response = await askControl(urls.control, "POST", "/clock", { to });
    if (!response.ok) {
      const { detail } = refusal.parse(await response.json());
      return refuse(detail);
    }
  }
  return { jsonrpc: "2.0", id, result: String(method === "evm_increaseTime" ? value : next) };
}

/** Reads the sandbox's time, in Unix seconds. */
async function readTime(controlUrl: string): Promise<number> {
  return status.parse(await (await askControl(controlUrl, "GET", "/status")).json()).now;
}
