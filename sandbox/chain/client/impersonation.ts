import type { EIP1193RequestFn, Transport } from "viem";
import { type Node, toNode } from "../../../relayer/node/node.ts";
import type { Part } from "../../lib/part.ts";
import type { ChainClient } from "./chain-client.ts";

/** The accounts that a node sends for without their keys. */
interface Impersonated {
  /** Whether these are all accounts. */
  all: boolean;
  /** In lower case. */
  accounts: readonly string[];
}

/**
 * Knows whom a node impersonates, which the node does not say, and which is in no snapshot of it: what is noted is each call that it has
 * carried out.
 */
export class Impersonation {
  #all = false;
  readonly #accounts = new Set<string>();

  /** Notes a call; one that does not change whom the node impersonates changes nothing. */
  note({ method, params }: { method: string; params?: unknown }): void {
    const [first]: readonly unknown[] = Array.isArray(params) ? params : [];
    // The node takes an account without 0x, too.
    const account = `0x${String(first).toLowerCase().replace(/^0x/, "")}`;
    switch (method.replace(/^(?:anvil|hardhat)_/, "")) {
      case "impersonateAccount":
        this.#accounts.add(account);
        break;
      case "stopImpersonatingAccount":
        this.#accounts.delete(account);
        break;
      case "autoImpersonateAccount":
        this.#all = first === true;
        break;
    }
  }

  /** Returns a transport whose calls are noted. */
  watch(transport: Transport): Transport {
    return (parameters) => {
      const inner = transport(parameters);
      const request: EIP1193RequestFn = async (question) =>
        await this.#noteDone(question, inner.request(question));
      return { ...inner, request };
    };
  }

  /** Returns the part with the impersonated accounts. */
  part({ request }: Pick<ChainClient, "request">): Part<Impersonated> {
    const node = toNode(request);
    return {
      name: "impersonation",
      // A fresh Anvil, which continues from a snapshot file, impersonates no account.
      schema: null,
      capture: () => ({ all: this.#all, accounts: [...this.#accounts] }),
      restore: async (state) => await this.#restore(state, node),
    };
  }

  async #noteDone<T>(call: { method: string; params?: unknown }, answering: Promise<T>): Promise<T> {
    const answer = await answering;
    this.note(call);
    return answer;
  }

  async #restore({ all, accounts }: Impersonated, node: Node): Promise<void> {
    if (all !== this.#all) await node("anvil_autoImpersonateAccount", [all]);
    for (const account of this.#accounts)
      if (!accounts.includes(account)) await node("anvil_stopImpersonatingAccount", [account]);
    for (const account of accounts)
      if (!this.#accounts.has(account)) await node("anvil_impersonateAccount", [account]);
  }
}
