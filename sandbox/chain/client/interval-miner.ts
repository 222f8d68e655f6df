import type { EIP1193RequestFn, Transport } from "viem";
import { z } from "zod";
import { type Node, toNode } from "../../../relayer/node/node.ts";
import { clearInterval, setInterval } from "../../lib/time/timers.ts";

const secondsSchema = z.tuple([z.int().nonnegative()]);
const enabledSchema = z.tuple([z.boolean()]);

const intervalMethods: ReadonlySet<string> = new Set(["evm_setIntervalMining", "anvil_setIntervalMining"]);
const automineMethods: ReadonlySet<string> = new Set(["evm_setAutomine", "anvil_setAutomine"]);

/** The timer that makes blocks for one Anvil. */
interface RunningInterval {
  seconds: number;
  timer: NodeJS.Timeout;
  url: string;
}

/**
 * Mines at an interval instead of Anvil, whose own interval stays off because its blocks cannot be delayed. Requests that read or set
 * Anvil's interval are answered as Anvil would.
 */
export class IntervalMiner {
  readonly #urlNow: () => string;
  readonly #node: Node;
  #running: RunningInterval | null = null;
  /** The block that is being made, if any. */
  #making: Promise<unknown> = Promise.resolve();
  #run = async (make: () => Promise<void>) => await make();

  /** Passes requests to the node. */
  readonly transport: Transport;

  /** @param urlNow - where the node is; another one that takes its place has no interval until one is set. */
  constructor(transport: Transport, urlNow: () => string) {
    this.#urlNow = urlNow;
    this.#node = toNode(transport({}).request);
    this.transport = (parameters) => {
      const inner = transport(parameters);
      const request: EIP1193RequestFn = async (question) =>
        await this.#answer(question, async (params) =>
          params === undefined
            ? await inner.request(question)
            : await inner.request({ method: question.method, params } as never),
        );
      return { ...inner, request };
    };
  }

  /** Sets the gate that each block is made in. */
  makeWithin(run: (make: () => Promise<void>) => Promise<void>): void {
    this.#run = run;
  }

  /** Makes no more blocks; resolves when none is being made. */
  async stop(): Promise<void> {
    clearInterval(this.#running?.timer);
    this.#running = null;
    await this.#making;
  }

  get #seconds(): number | null {
    return this.#running?.url === this.#urlNow() ? this.#running.seconds : null;
  }

  async #answer(
    { method, params }: { method: string; params?: unknown },
    pass: (params?: readonly unknown[]) => Promise<unknown>,
  ): Promise<never> {
    if (method === "anvil_getIntervalMining") return this.#seconds as never;
    const interval = intervalMethods.has(method) ? secondsSchema.safeParse(params).data : undefined;
    if (interval !== undefined) {
      await this.stop();
      const answer = await pass([0]);
      if (interval[0] > 0) this.#start(interval[0]);
      return answer as never;
    }
    // As in Anvil, a node that mines each transaction at once has no interval.
    if (automineMethods.has(method) && enabledSchema.safeParse(params).data?.[0] === true) await this.stop();
    return (await pass()) as never;
  }

  #start(seconds: number): void {
    let isDue = false;
    const timer = setInterval(async () => {
      if (isDue) return;
      isDue = true;
      await this.#run(async () => await this.#make(running));
      isDue = false;
    }, seconds * 1_000);
    timer.unref();
    const running = { seconds, timer, url: this.#urlNow() };
    this.#running = running;
  }

  async #make(running: RunningInterval): Promise<void> {
    if (this.#running !== running || running.url !== this.#urlNow()) return;
    // One that a node which ends does not make is none.
    this.#making = this.#node("evm_mine", []).catch(() => undefined);
    await this.#making;
  }
}
