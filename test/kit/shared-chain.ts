import { custom, type EIP1193RequestFn, type Hash, type Hex, type Transport } from "viem";
import { createChainClient } from "../../sandbox/chain/client/chain-client.ts";
import { drainMining, setMining } from "../../sandbox/chain/clock/mining.ts";
import type { ChainNode } from "../../sandbox/chain/start-chain.ts";

/** A snapshot of a chain: Anvil's own, its latest block, and the base fee of the one after that in wei. */
interface ChainSnapshot {
  id: Hex;
  block: { number: bigint; hash: Hash; timestamp: bigint };
  baseFee: bigint;
}

/** A chain that is leased to one test after the other and reset before each. */
export class SharedChain {
  readonly #chain: ChainNode;
  readonly #snapshot: ChainSnapshot;

  private constructor(chain: ChainNode, snapshot: ChainSnapshot) {
    this.#chain = chain;
    this.#snapshot = snapshot;
  }

  /** Shares a chain as it is now; every test begins here. */
  static async from(chain: ChainNode): Promise<SharedChain> {
    const { client } = chain;
    const block = await client.getBlock({ blockTag: "latest" });
    const { baseFeePerGas } = await client.getBlock({ blockTag: "pending" });
    return new SharedChain(chain, { id: await client.snapshot(), block, baseFee: baseFeePerGas ?? 0n });
  }

  /** Leases the chain to one test. Once it is released nothing reaches the node from there, so that no test disturbs the next one. */
  lease(): { chain: ChainNode; release: () => Promise<boolean> } {
    const underWay = new Set<Promise<void>>();
    let over = false;
    const forward: EIP1193RequestFn = this.#chain.request;
    const request: EIP1193RequestFn = async (args) => {
      if (over) throw new Error("The test has ended and released its chain.");
      const { promise: answered, resolve } = Promise.withResolvers<void>();
      underWay.add(answered);
      try {
        return await forward(args);
      } finally {
        underWay.delete(answered);
        resolve();
      }
    };
    const transport: Transport = (parameters) => ({ ...custom({ request })(parameters), request });
    const client = createChainClient(this.#chain.anvil.url, transport);
    const release = async () => {
      over = true;
      await Promise.all(underWay);
      return await this.#rewind();
    };
    return { chain: { ...this.#chain, client, request }, release };
  }

  /** Ends the chain. */
  async stop(): Promise<void> {
    await this.#chain.stop();
  }

  /** Goes back to the snapshot; false when a reorg took its block. */
  async #rewind(): Promise<boolean> {
    const { client, clock } = this.#chain;
    const { id, block, baseFee } = this.#snapshot;
    await drainMining(client);
    const there = await client.getBlock({ blockNumber: block.number });
    if (there.hash !== block.hash) return false;
    if (!(await client.request({ method: "evm_revert", params: [id] }))) return false;
    this.#snapshot.id = await client.snapshot();
    await client.setNextBlockBaseFeePerGas({ baseFeePerGas: baseFee });
    await clock.pin(0, Number(block.timestamp));
    await setMining(client, "transaction");
    return true;
  }
}
