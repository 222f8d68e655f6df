import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describeFileError } from "../../../server/lib/describe-file-error.ts";
import { packageRoot } from "../../lib/package-root.ts";
import { endsWithin, unlessAborted } from "../../lib/time/deadline.ts";
import { abortAfter } from "../../lib/time/timers.ts";
import { createChainClient } from "../client/chain-client.ts";
import { nodeSocket } from "../client/node-socket.ts";
import { anvilBinary, anvilVersion } from "./anvil-binary.ts";
import { AnvilError } from "./anvil-error.ts";
import { type AnvilExit, type AnvilOutput, followOutput } from "./anvil-output.ts";
import { discardAnvil, runAnvil, stopAnvil } from "./end-anvil.ts";
import { chooseLoopbackAddress } from "./loopback-address.ts";

const guardFile = join(packageRoot(), "sandbox", "chain", "anvil", "guard.sh");
const startDeadlineMs = 15_000;
/** At how many of the latest blocks a new Anvil can read state by default. */
export const defaultKeptStates = 500;

/** The options of an Anvil process. */
export interface AnvilOptions {
  /** EIP-155 chain id; 31337 if not given. */
  readonly chainId?: number;
  /**
   * Unix time of block 0 in seconds; the wall clock if not given. Anvil makes a block 0 of its own next to a state that it loads: it equals
   * the state's if it has its time, and otherwise each may be answered as block 0, by chance, once both are in a dump.
   */
  readonly genesisTimestamp?: number;
  /** The state that a new chain starts from, as Anvil dumped it; an empty chain if not given. */
  readonly initialState?: string;
  /**
   * The number of accounts of the standard test mnemonic, from the first, that Anvil signs for (`eth_sendTransaction`,
   * `personal_sign`); 0 if not given. A chain that begins empty would also give them ether.
   */
  readonly unlocked?: number;
  /** At how many of the latest blocks state can be read; each takes as much memory as all of it. {@link defaultKeptStates} if not given. */
  readonly keptStates?: number;
  /** Ends the start early; {@link startDeadlineMs} from now on if not given. */
  readonly signal?: AbortSignal;
}

/** A running Anvil that ends with its parent. */
export interface AnvilProcess extends AsyncDisposable {
  /** JSON-RPC over HTTP and WebSocket, at a loopback address and a port that the system chose. */
  readonly url: string;
  readonly port: number;
  /** The process id of Anvil itself, not of its guard. */
  readonly pid: number;
  /** The newest block of what it loaded: of blocks before it, it has no contract code to go back to. */
  readonly loadedBlock: number;
  /** Resolves when Anvil has ended, for whatever reason; never rejects. */
  readonly exited: Promise<AnvilExit>;
  /** Lets Anvil run on if something has stopped it (SIGSTOP): nothing that asks it could end. */
  run(): void;
  /**
   * Ends Anvil and returns when it is gone. Calling it again does nothing.
   *
   * @throws AnvilError `stop_failed` when it has not ended in time.
   */
  stop(): Promise<void>;
}

/**
 * Starts Anvil and returns when it answers.
 *
 * Anvil never outlives the process that started it, even when that one is killed. It keeps nothing on disk.
 *
 * @throws AnvilError when Anvil does not start.
 * @example
 * await using anvil = await startAnvil({ initialState: genesis.stateFile });
 * anvil.url; // "http://127.83.12.5:41234"
 */
export async function startAnvil(options: AnvilOptions = {}): Promise<AnvilProcess> {
  const { chainId = 31_337, signal: end = abortAfter(startDeadlineMs) } = options;
  const host = await chooseLoopbackAddress();
  const guard = spawnGuarded(anvilBinary(), { ...options, chainId, host });
  const output = followOutput(guard);
  const guardPid = await pidOf(guard);
  const { pid, port } = await listen(guardPid, output, end);
  const url = `http://${host}:${port}`;

  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= stopAnvil({ pid, guardPid, exited: output.exited });
    return stopping;
  };
  try {
    const loadedBlock = await unlessAborted(end, verifyOurs(url, chainId, output));
    const run = () => runAnvil(guardPid);
    const rest = { exited: output.exited, run, stop, [Symbol.asyncDispose]: stop };
    return { url, port, pid, loadedBlock, ...rest };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Starts an Anvil under its guard. */
function spawnGuarded(
  binary: string,
  options: AnvilOptions & { chainId: number; host: string },
): ChildProcess {
  const { chainId, unlocked = 0, genesisTimestamp, initialState, host } = options;
  const { keptStates = defaultKeptStates } = options;
  const flags = [
    ...["--host", host, "-p", "0"],
    // It answers the sandbox alone; which pages may call the chain is decided by its RPC front.
    "--no-cors",
    ...["--chain-id", `${chainId}`, "--accounts", `${unlocked}`, "--order", "fifo"],
    ...(genesisTimestamp === undefined ? [] : ["--timestamp", `${genesisTimestamp}`]),
    ...(initialState === undefined ? [] : ["--load-state", initialState]),
    // Without this, Anvil would write the states beyond its 500 latest ones to the user's home and leave them there.
    ...["--prune-history", `${keptStates}`],
  ];
  // Passed as text: a package manager may have the file in an archive, which a shell cannot read.
  const script = readFileSync(guardFile, "utf8");
  // A group of its own: Ctrl-C in a terminal must reach the sandbox alone, which ends Anvil last.
  return spawn("/bin/sh", ["-c", script, "guard.sh", binary, ...flags], { detached: true });
}

/** Returns the id of a process that was started. @throws AnvilError when the system has refused to start it. */
async function pidOf(guard: ChildProcess): Promise<number> {
  await once(guard, "spawn").catch((cause: unknown) => {
    throw new AnvilError(
      "start_failed",
      `The system refused to start Anvil: ${describeFileError(cause)}. Allow more open files and processes (ulimit -n, ulimit -u), and start again.`,
      { cause },
    );
  });
  return Number(guard.pid);
}

/** Returns the process id of an Anvil and its port when it listens; ends it when that takes too long. */
async function listen(
  guardPid: number,
  { log, printed, exited, closed }: AnvilOutput,
  end: AbortSignal,
): Promise<{ pid: number; port: number }> {
  const hasEnded = closed.then(() => {
    throw startFailure(log());
  });
  // The first line would otherwise be cut off by a long start-up banner.
  const named = printed(/^guard anvil (\d+)\n/m);
  const listens = printed(/Listening on 127\.\d+\.\d+\.\d+:(\d+)\n/);
  try {
    const [[, pid], [, port]] = await unlessAborted(
      end,
      Promise.race([Promise.all([named, listens]), hasEnded]),
    );
    return { pid: Number(pid), port: Number(port) };
  } catch (cause) {
    if (!end.aborted) throw cause;
    await discardAnvil(guardPid, exited);
    throw new AnvilError(
      "start_failed",
      "Anvil did not listen in time. See what stops it or slows it down.",
      { cause },
    );
  }
}

/**
 * Makes sure that the process that answers is the one that was started: Anvil prints the name of each call that reaches it.
 *
 * @returns the newest block, which is the one that was loaded.
 */
async function verifyOurs(url: string, chainId: number, { printed }: AnvilOutput): Promise<number> {
  const socket = nodeSocket(url);
  const client = createChainClient(url, socket.transport);
  try {
    const answers = await Promise.all([
      client.request({ method: "web3_clientVersion" }),
      client.getChainId(),
    ]).catch((cause: unknown) => {
      const problem = `Anvil listens on ${url} but cannot be reached there: ${String(cause)}`;
      throw new AnvilError("start_failed", problem, { cause });
    });
    const expected = [`anvil/v${anvilVersion()}`, chainId];
    const echoed = await endsWithin(
      Promise.all([printed(/^web3_clientVersion$/m), printed(/^eth_chainId$/m)]),
      5_000,
    );
    if (!echoed || answers.some((answer, index) => answer !== expected[index])) {
      throw new AnvilError(
        "not_ours",
        `${url} responds as ${answers.join(" on chain ")}, not as the Anvil that was started. Stop the other process that listens there.`,
      );
    }
    await client.setLoggingEnabled(false);
    return Number(await client.getBlockNumber());
  } finally {
    socket.close();
  }
}

function startFailure(log: string): AnvilError {
  // Its banner lists private keys.
  const lines = log.trim().split("\n");
  const reason =
    lines
      .filter((line) => !/[0-9a-f]{64}|mnemonic/i.test(line))
      .slice(-5)
      .join("\n") || "nothing";
  return new AnvilError(
    "start_failed",
    `Anvil did not start. Start again; if that fails too, run routing-sandbox doctor. Anvil said: ${reason}`,
  );
}
