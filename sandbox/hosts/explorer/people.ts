import { type Address, getAddress } from "viem";
import type { Chain } from "../../chain/genesis/start-chain.ts";
import { contractsOf } from "../explain/address-book.ts";
import type { ShownAccount } from "./shown.ts";

/** Names the accounts of a sandbox: its wallets, the registrars of its programs and its contracts. */
export class People {
  readonly #names = new Map<string, string>();

  constructor({ accounts, deployment }: Chain) {
    for (const [name, { address }] of Object.entries(accounts.wallets))
      this.#names.set(address.toLowerCase(), name.replaceAll("_", " "));
    for (const { id, registrar, commitmentSigner } of deployment.programs) {
      this.#names.set(registrar.toLowerCase(), `registrar of ${id}`);
      this.#names.set(commitmentSigner.toLowerCase(), `commitment signer of ${id}`);
    }
    for (const { name, address } of contractsOf(deployment))
      this.#names.set(address.toLowerCase(), `${name} contract`);
  }

  /** An account with its name. */
  show(address: Address): ShownAccount {
    return { address: getAddress(address), name: this.#names.get(address.toLowerCase()) ?? null };
  }

  /** An account in words. */
  name(address: Address): string {
    return this.#names.get(address.toLowerCase()) ?? getAddress(address);
  }
}
