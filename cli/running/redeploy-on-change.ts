import { stat } from "node:fs/promises";
import { messageOf } from "../../protocol/coded-error.ts";
import type { Registrar } from "../../sandbox/chain/registrar/registrar.ts";
import type { Sandbox } from "../../sandbox/create-sandbox.ts";
import { wait } from "../../sandbox/lib/time/timers.ts";
import type { SandboxOptions } from "../../sandbox/options/options.ts";
import { escapeControls } from "../../server/lib/escape-controls.ts";
import { inFlags } from "../describe-failure.ts";
import { readSandboxOptions } from "../shared-options.ts";
import type { Terminal } from "../terminal.ts";
import { type StartFlags, startSandbox } from "./start-sandbox.ts";

/** Real milliseconds between two looks at the artifact. */
const interval = 100;

/**
 * Replaces a sandbox by a fresh one whenever the artifact of its registrar contract changes, on the same ports and in the same data directory. A
 * contract that cannot be deployed is reported, and the sandbox stays.
 *
 * @param ended - resolves when the sandbox has to stop.
 * @param show - prints a new sandbox, and how many milliseconds it took.
 * @returns the last sandbox, once `ended` resolves or it cannot continue.
 * @throws as createSandbox does.
 */
export async function redeployOnChange(
  terminal: Terminal,
  first: Sandbox,
  flags: StartFlags,
  ended: Promise<unknown>,
  show: (sandbox: Sandbox, milliseconds: number) => void,
): Promise<Sandbox> {
  let sandbox = first;
  let digest = first.settings.contracts.registrar?.digest;
  const artifact = new ArtifactChanges(flags.registrar ?? "");
  try {
    for (;;) {
      const stopped = Promise.race([ended, sandbox.ended]).then(() => true);
      if (await Promise.race([stopped, artifact.next().then(() => false)])) return sandbox;
      const began = performance.now();
      const registrar = await prepare(terminal, flags);
      if (registrar === null || registrar.digest === digest) continue;
      digest = registrar.digest;
      terminal.stderr.write(
        `${escapeControls(registrar.name)} has changed. The sandbox is deleted, and a fresh one starts with the new contract on the same ports.\n`,
      );
      const next = sameSandbox(sandbox);
      await sandbox.close();
      sandbox = await startSandbox(terminal, flags, next);
      show(sandbox, performance.now() - began);
    }
  } finally {
    artifact.close();
  }
}

/** Reads and deploys the contract on a chain of its own, while the sandbox runs; reports why it cannot be deployed, and returns null. */
async function prepare({ stderr }: Terminal, flags: StartFlags): Promise<Registrar | null> {
  const option = readSandboxOptions(flags).contracts?.registrar;
  if (option === undefined) return null;
  const { readRegistrar } = await import("../../sandbox/chain/registrar/registrar.ts");
  const { loadRegistrarGenesis } = await import("../../sandbox/chain/genesis/build/registrar-genesis.ts");
  try {
    const registrar = await readRegistrar(option);
    await loadRegistrarGenesis(registrar);
    return registrar;
  } catch (error) {
    stderr.write(`${inFlags(messageOf(error))}\nThe sandbox still runs with the earlier contract.\n`);
    return null;
  }
}

/** The options of a fresh sandbox that equals another one in everything but its contract and its content. */
function sameSandbox({ description, settings }: Sandbox): SandboxOptions {
  const portOf = (url: string) => Number(new URL(url).port);
  const { api, docs, rpc, control } = description.urls;
  const { seed, mode, programs } = settings;
  const ports = { api: portOf(api), docs: portOf(docs), rpc: portOf(rpc), control: portOf(control) };
  return { seed, mode, programs, ports, fresh: true };
}

/** The changes of a file, which compilers replace, or remove for a while. */
class ArtifactChanges {
  readonly #file: string;
  readonly #closed = new AbortController();
  #seen: string | null = null;

  constructor(file: string) {
    this.#file = file;
  }

  /** Resolves at once when it is called first, because the file may have changed since it was read, and then at each change since the last call. */
  async next(): Promise<void> {
    for (;;) {
      const now = await describeFile(this.#file);
      // A file that is gone is about to be written by the compiler.
      if (now !== null && now !== this.#seen) {
        this.#seen = now;
        return;
      }
      await wait(interval, this.#closed.signal);
      if (this.#closed.signal.aborted) return;
    }
  }

  close(): void {
    this.#closed.abort();
  }
}

/** Returns a text that changes whenever a file is written or replaced; null when there is no file. */
async function describeFile(file: string): Promise<string | null> {
  try {
    const { mtimeNs, size, ino } = await stat(file, { bigint: true });
    return [mtimeNs, size, ino].join();
  } catch {
    return null;
  }
}
