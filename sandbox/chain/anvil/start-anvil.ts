import { randomInt } from "node:crypto";
import { closeSync, openSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { devNull } from "node:os";
import { join, resolve } from "node:path";
import { type Anvil, createAnvil } from "@viem/anvil";
import { describeFileError } from "../../../server/lib/describe-file-error.ts";
import { withOwnGlobals } from "../../lib/http/direct/with-own-globals.ts";
import { packageRoot } from "../../lib/package-root.ts";
import { signalProcess } from "../../lib/processes/processes.ts";
import { abortAfter, endsWithin, unlessAborted } from "../../lib/time/timers.ts";
import { createChainClient } from "../client/chain-client.ts";
import { nodeSocket } from "../client/node-socket.ts";
import { anvilBinary, anvilVersion } from "./anvil-binary.ts";
import { AnvilError } from "./anvil-error.ts";
import { type AnvilExit, type AnvilOutput, followOutput } from "./anvil-output.ts";

const stopDeadlineMs = 5_000;

/** Ends an Anvil that does not listen yet. */
async function discardAnvil(guardNamed: Promise<RegExpExecArray>, exited: Promise<AnvilExit>): Promise<void> {
  // Named within milliseconds; without it there is no process.
  if (!(await endsWithin(guardNamed, stopDeadlineMs))) return;
  const [, guard = 0] = (await guardNamed).map(Number);
  signalProcess(guard, "SIGTERM");
  if (!(await endsWithin(exited, stopDeadlineMs))) signalProcess(-guard, "SIGKILL");
  await exited;
}

/**
 * Ends an Anvil and its guard.
 *
 * @throws AnvilError `stop_failed` when they do not end in time.
 */
async function stopAnvil(anvil: {
  pid: number;
  guardPid: number;
  exited: Promise<AnvilExit>;
}): Promise<void> {
  const { pid, guardPid, exited } = anvil;
  runAnvil(guardPid);
  signalProcess(guardPid, "SIGTERM");
  const inTime = await endsWithin(exited, stopDeadlineMs);
  // Also when the guard was killed alone: Anvil is in its group.
  signalProcess(-guardPid, "SIGKILL");
  if (inTime) return;
  throw new AnvilError(
    "stop_failed",
    `Anvil (process ${pid}) did not end within ${stopDeadlineMs / 1_000} s and was killed.`,
  );
}

/** Lets an Anvil run on if something has stopped it (SIGSTOP). */
function runAnvil(guardPid: number): void {
  signalProcess(-guardPid, "SIGCONT");
}

const guardFile = join(packageRoot(), "sandbox", "chain", "anvil", "guard.sh");
const startDeadlineMs = 15_000;
/** At how many of the latest blocks a new Anvil can read state by default. */
export const defaultKeptStates = 500;
/** The library's own deadline waits for the process to end, which it does not; a process ends by the start's signal. */
const noDeadlineMs = 2 ** 31 - 1;

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
  requireOpenFiles();
  const anvil = guardedAnvil(anvilBinary(), { ...options, chainId, host });
  const output = followOutput(anvil);
  const { pid, guardPid, port } = await listen(anvil, output, options.initialState, end);
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

/** The pipes of a process that is started, and what else its start needs. */
const neededFiles = 12;

/** @throws AnvilError when the system would refuse to start a process for want of open files, which the library lets end this process. */
function requireOpenFiles(): void {
  const opened: number[] = [];
  try {
    while (opened.length < neededFiles) opened.push(openSync(devNull, "r"));
  } catch (cause) {
    throw new AnvilError(
      "start_failed",
      `The system refused to start Anvil: ${describeFileError(cause)}. Allow more open files (ulimit -n), and start again.`,
      { cause },
    );
  } finally {
    for (const file of opened) closeSync(file);
  }
}

/** Prepares an Anvil that runs under its guard. */
function guardedAnvil(binary: string, options: AnvilOptions & { chainId: number; host: string }): Anvil {
  const {
    chainId,
    unlocked = 0,
    genesisTimestamp,
    initialState,
    host,
    keptStates = defaultKeptStates,
  } = options;
  // Passed as text: a package manager may have the file in an archive, which a shell cannot read.
  const script = readFileSync(guardFile, "utf8");
  return createAnvil({
    anvilBinary: "/bin/sh",
    startTimeout: noDeadlineMs,
    host,
    port: 0,
    // It answers the sandbox alone; which pages may call the chain is decided by its RPC front.
    noCors: true,
    chainId,
    accounts: unlocked,
    order: "fifo",
    timestamp: genesisTimestamp,
    // Anvil runs in another folder.
    loadState: initialState === undefined ? undefined : resolve(initialState),
    execArgs: ([program, anvilArguments]) => [
      program,
      // Without this, Anvil would write the states beyond its 500 latest ones to the user's home and leave them there.
      ["-c", script, "guard.sh", binary, ...anvilArguments, "--prune-history", String(keptStates)],
      // A group of its own: Ctrl-C in a terminal must reach the sandbox alone, which ends Anvil last.
      // Neither it nor the library, which cannot say so, depends on a current folder that can be removed.
      { detached: true, cleanup: false, buffer: false, cwd: "/" },
    ],
  });
}

/** Starts an Anvil and returns its processes and its port when it listens; ends it when that takes too long. */
async function listen(
  anvil: Anvil,
  { log, printed, exited }: AnvilOutput,
  initialState: string | undefined,
  end: AbortSignal,
): Promise<{ pid: number; guardPid: number; port: number }> {
  // The guard's first line would otherwise be cut off by a long start-up banner.
  const processes = printed(/guard (\d+) anvil (\d+)\n/);
  try {
    await unlessAborted(
      end,
      withOwnGlobals(async () => await anvil.start()),
    );
  } catch (cause) {
    if (!end.aborted) throw startFailure(log(), initialState, cause);
    await discardAnvil(processes, exited);
    throw new AnvilError(
      "start_failed",
      "Anvil did not listen in time. See what stops it or slows it down.",
      {
        cause,
      },
    );
  }
  const [, guardPid, pid] = (await processes).map(Number);
  const [, port] = (await printed(/Listening on 127\.\d+\.\d+\.\d+:(\d+)\n/)).map(Number);
  if (guardPid === undefined || pid === undefined || port === undefined) {
    throw new AnvilError("start_failed", "Anvil did not say where it listens. Start again.");
  }
  return { pid, guardPid, port };
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

function startFailure(log: string, initialState: string | undefined, cause: unknown): AnvilError {
  if (initialState !== undefined && unloadable.test(log)) {
    const [, parsing, loading] = reasons.exec(log) ?? [];
    const reason = parsing ?? loading ?? "it is not a state";
    return new AnvilError("state_unusable", `Anvil cannot load ${initialState}: ${reason}.`, { cause });
  }
  // Its banner lists private keys.
  const lines = log.trim().split("\n");
  const reason =
    lines
      .filter((line) => !/[0-9a-f]{64}|mnemonic/i.test(line))
      .slice(-5)
      .join("\n") || String(cause);
  return new AnvilError(
    "start_failed",
    `Anvil did not start. Start again; if that fails too, run routing-sandbox doctor. Anvil said: ${reason}`,
    {
      cause,
    },
  );
}

/**
 * Chooses an address of this machine's loopback for a server that has no guard of its own. Where all of 127.0.0.0/8 is there (Linux)
 * it is one that a web page cannot find by trying, otherwise 127.0.0.1.
 */
async function chooseLoopbackAddress(): Promise<string> {
  const address = `127.${randomInt(1, 255)}.${randomInt(0, 256)}.${randomInt(2, 255)}`;
  return (await canListen(address)) ? address : "127.0.0.1";
}

function canListen(host: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const server = createServer();
  server.once("error", () => resolve(false));
  server.listen({ host, port: 0 }, () => server.close(() => resolve(true)));
  return promise;
}
/** The lines that Anvil prints about a state that it cannot parse, and about one whose content does not fit together. */
const unloadable = /for '--load-state|failed to load init state/;
const reasons = /failed to parse json file: "[^\n]*": ([^\n]+)|message: "([^"\n]+)"/;
