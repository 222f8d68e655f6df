import { type Address, getAddress } from "viem";
import { z } from "zod";
import type { ChainNode } from "../chain/start-chain.ts";
import { contractsOf } from "./address-book.ts";

/** The schema of an account with its label. */
export const accountSchema = z
  .object({ address: z.string(), name: z.string().nullable() })
  .meta({ id: "Account", description: "An account with its label, or null." });

/** An account with its label, or null. */
export type AccountView = z.output<typeof accountSchema>;

/** The names of a sandbox's known accounts: its wallets, the accounts of its programs and its contracts. */
export class AddressLabels {
  readonly #names = new Map<string, string>();

  constructor({ accounts, deployment }: ChainNode) {
    for (const [name, { address }] of Object.entries(accounts.wallets))
      this.#names.set(address.toLowerCase(), name.replaceAll("_", " "));
    for (const { id, operator, commitmentSigner } of deployment.programs) {
      this.#names.set(operator.toLowerCase(), `operator of ${id}`);
      this.#names.set(commitmentSigner.toLowerCase(), `commitment signer of ${id}`);
    }
    for (const { name, address } of contractsOf(deployment)) this.#names.set(address.toLowerCase(), name);
  }

  /** An account with its label. */
  view(address: Address): AccountView {
    return { address: getAddress(address), name: this.#names.get(address.toLowerCase()) ?? null };
  }

  /** All labels, by address. */
  all(): { [address: string]: string } {
    return Object.fromEntries(this.#names);
  }

  /** The label of an account, or its address. */
  nameOf(address: Address): string {
    return this.#names.get(address.toLowerCase()) ?? getAddress(address);
  }

  /** The label of an account with its address, or its address. */
  describe(address: Address): string {
    const { name, address: shown } = this.view(address);
    return name === null ? shown : `${name} (${shown})`;
  }
}
