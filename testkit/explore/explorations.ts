import { AbortController, AbortSignal } from "../../protocol/globals.ts";
import type { SandboxClock } from "../../sandbox/chain/clock/clock.ts";
import type { Sandbox } from "../../sandbox/create-sandbox.ts";
import { closedError } from "../../sandbox/lib/errors/closed-error.ts";
import { SandboxError } from "../../sandbox/lib/errors/sandbox-error.ts";
import { withMethods } from "../../sandbox/lib/with-methods.ts";
import type { SandboxReceiver } from "../../sandbox/receiver/receiver.ts";
import type { Exploration, ExploreOptions } from "./options.ts";

/** The explorations of one sandbox: one at a time. */
export class Explorations {
  readonly #sandbox: Sandbox;
  #running: AbortController | null = null;

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
  }

  /**
   * Explores the sandbox.
   *
   * @param until - ends the exploration after the step in progress; it then throws the signal's reason.
   * @throws SandboxError being_explored, closed; what `explore` throws.
   */
  async run(options: ExploreOptions | undefined, until?: AbortSignal): Promise<Exploration> {
    this.requireIdle("explore");
    const running = new AbortController();
    this.#running = running;
    const signal = until === undefined ? running.signal : AbortSignal.any([running.signal, until]);
    try {
      // Loaded only here: most sandboxes are not explored.
      const { explore } = await import("./explore.ts");
      return await explore(this.#sandbox, options, signal);
    } finally {
      this.#running = null;
    }
  }

  /** @throws SandboxError being_explored while an exploration runs. */
  requireIdle(member: string): void {
    if (this.#running !== null) throw beingExplored(member);
  }

  /** Returns what a call answers, the very promise; a rejection with being_explored while an exploration runs. */
  whenIdle<T>(member: string, call: () => Promise<T>): Promise<T> {
    return this.#running === null ? call() : Promise.reject(beingExplored(member));
  }

  /** Ends the exploration that runs, because the sandbox is closed. */
  close(): void {
    this.#running?.abort(closedError());
  }
}

function beingExplored(member: string): SandboxError {
  return new SandboxError(
    "being_explored",
    `The sandbox is already being explored, so ${member} cannot be used. Await the exploration first, or start another sandbox.`,
  );
}

/** The members of a sandbox that could change what a walk expects. */
const changing: ReadonlySet<PropertyKey> = new Set<keyof Sandbox>([
  "given",
  "reviewer",
  "wallets",
  "openWallet",
  "faults",
  "deliverAll",
  "rotateKeys",
  "snapshot",
  "save",
  "record",
  "stopRecording",
]);

/** Refuses the members of a sandbox that could change it while it is explored. */
export function refuseWhileExplored<T extends Sandbox>(sandbox: T, explorations: Explorations): T {
  return new Proxy(sandbox, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (changing.has(name)) explorations.requireIdle(String(name));
      if (name === "receiver") return refuseSending(target.receiver, explorations);
      return name === "clock" ? refuseMoves(target.clock, explorations) : value;
    },
  });
}

function refuseSending(receiver: SandboxReceiver, explorations: Explorations): SandboxReceiver {
  const actions: Pick<SandboxReceiver, "pin" | "resend"> = {
    pin: (url) => explorations.whenIdle("receiver.pin", () => receiver.pin(url)),
    resend: (delivery) => explorations.whenIdle("receiver.resend", () => receiver.resend(delivery)),
  };
  return withMethods(receiver, actions);
}

function refuseMoves(clock: SandboxClock, explorations: Explorations): SandboxClock {
  const moves: Pick<SandboxClock, "travel" | "travelTo"> = {
    travel: (by) => explorations.whenIdle("travel", () => clock.travel(by)),
    travelTo: (timestamp) => explorations.whenIdle("travelTo", () => clock.travelTo(timestamp)),
  };
  return withMethods(clock, moves);
}
