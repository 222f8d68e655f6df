import { join } from "node:path";
import { packageRoot } from "../../sandbox/lib/package-root.ts";
import { startGroup } from "./process-group.ts";

const BLOCK_NUMBER = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_blockNumber", params: [] });

/** Milliseconds from starting a node to its first JSON-RPC answer; `address` finds its host and port in what it prints. */
export async function untilRpcAnswers(
  program: string,
  args: readonly string[],
  address: RegExp,
): Promise<number> {
  const started = performance.now();
  await using group = startGroup(program, args);
  const [, host] = await group.printed(address);
  await group.until(async () => {
    const headers = { "content-type": "application/json" };
    await (await fetch(`http://${host}`, { method: "POST", headers, body: BLOCK_NUMBER })).json();
  });
  return performance.now() - started;
}

/** Milliseconds from starting `hardhat node` to its first answer. */
export async function untilHardhatAnswers(): Promise<number> {
  const cli = join(packageRoot(), "node_modules", "hardhat", "dist", "src", "cli.js");
  return await untilRpcAnswers(
    process.execPath,
    [cli, "node", "--port", "0"],
    /JSON-RPC server at http:\/\/([^\s/]+)/,
  );
}
