import type { EIP1193RequestFn } from "viem";
import type { ChainNode } from "../../sandbox/chain/genesis/start-chain.ts";

/** Changes one answer of the node; what it returns is what the service is told. */
export type Lie = (answer: unknown, parameters: unknown) => unknown;

/** A node between the service and the chain that tells the truth until it is given a lie for a method. */
export class TamperedNode {
  readonly #lies = new Map<string, Lie>();

  /** From now on every answer to a method goes through the lie. */
  tell(method: string, lie: Lie): void {
    this.#lies.set(method, lie);
  }

  /** Tells the truth again. */
  clear(): void {
    this.#lies.clear();
  }

  /** The chain as the service sees it through this node; wallets and tests still talk to the chain itself. */
  adapt(chain: ChainNode): ChainNode {
    const { request } = chain.client;
    const lying = async (call: { method: string; params?: unknown }) => {
      const answer: unknown = await Reflect.apply(request, undefined, [call]);
      const lie = this.#lies.get(call.method);
      return lie === undefined ? answer : lie(answer, call.params);
    };
    // The type of a request function promises an answer for each method, which a lie is not bound by.
    return { ...chain, client: { ...chain.client, request: lying as EIP1193RequestFn as typeof request } };
  }
}
