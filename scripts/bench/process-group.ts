import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { packageRoot } from "../../sandbox/lib/package-root.ts";

/** A program and all that it started. */
export interface ProcessGroup extends AsyncDisposable {
  /** Resolves with the first match of `pattern` in what the program prints. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  /** Calls `attempt` until it succeeds; throws what the program printed if that ends first. */
  until<Value>(attempt: () => Promise<Value>): Promise<Value>;
}

/** Starts a program as the leader of a process group, which is interrupted as by Ctrl-C when it is disposed. */
export function startGroup(program: string, args: readonly string[]): ProcessGroup {
  const child: ChildProcess = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], detached: true });
  const exited = once(child, "exit");
  let output = "";
  const ended = exited.then((): never => {
    throw new Error(`${program} ${args.join(" ")} ended:\n${output.trim()}`);
  });
  ended.catch(() => undefined);
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk) => {
      output += chunk;
      child.emit("printed");
    });
  }
  return {
    async printed(pattern) {
      for (;;) {
        const found = pattern.exec(output);
        if (found !== null) return found;
        await Promise.race([once(child, "printed"), ended]);
      }
    },
    async until(attempt) {
      let over = false;
      ended.catch(() => {
        over = true;
      });
      for (;;) {
        try {
          return await attempt();
        } catch {
          if (over) return await ended;
          await pause(2);
        }
      }
    },
    async [Symbol.asyncDispose]() {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGINT");
      await exited;
    },
  };
}

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
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_blockNumber", params: [] });
    await (await fetch(`http://${host}`, { method: "POST", headers, body })).json();
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
