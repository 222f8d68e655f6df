import type { Hex } from "viem";
import type { FaultRequest } from "../../../../sandbox/faults/fault-request.ts";
import { catchUp } from "../../../../sandbox/service/catch-up.ts";
import type { Snapshot } from "../../../../sandbox/snapshots/snapshot.ts";
import type { Schema } from "../../../kit/answer.ts";
import type { TestKit } from "../../../kit/test-kit.ts";

/** Code that reverts without data. */
const silentRevert: Hex = "0x60006000fd";

/** Brings relay operations into every status, for every reason, and reads each with `GET …/transactions`. */
export class RelayOperations {
  readonly #kit: TestKit;
  readonly #merchant: Schema<"Merchant">;
  readonly #start: Snapshot;
  /** The operations as they were read. */
  readonly read: Schema<"Operation">[] = [];

  constructor(kit: TestKit, merchant: Schema<"Merchant">, start: Snapshot) {
    this.#kit = kit;
    this.#merchant = merchant;
    this.#start = start;
  }

  /** Every status and reason; each begins on the same state of the sandbox. */
  async all(): Promise<void> {
    await this.#held();
    await this.#refusedByTheNode();
    await this.#reverted();
    await this.#failed();
    await this.#takenNonce();
    await this.#reorged();
    await this.#bumped();
    await this.#withdrawn();
  }

  async #held(): Promise<void> {
    for (const point of ["after_intent", "after_signed", "after_broadcast", "after_mined"] as const) {
      await this.#offer({ point, action: "hold" });
      await this.#readAll();
    }
  }

  async #refusedByTheNode(): Promise<void> {
    await this.#offer({ point: "simulate", action: "rpc_error" });
    await this.#readAll();
    await this.#offer({ point: "simulate", action: "lose_response" });
    await this.#readAll();
  }

  /** A transaction that succeeded in its simulation and is mined on a contract that refuses it. */
  async #reverted(): Promise<void> {
    const { relayer, faults, chain } = this.#kit.sandbox;
    for (const change of [this.#pause, this.#silence]) {
      // Until the change is made: each look at a new head sends it again.
      await this.#offer({ point: "broadcast", action: "drop", count: null });
      await change();
      await faults.clear();
      await catchUp(relayer, chain.client);
      await this.#readAll();
    }
  }

  /** A simulation that reverts, once a person lets an operation continue that waited. */
  async #failed(): Promise<void> {
    for (const change of [this.#pause, this.#silence]) {
      await this.#offer({ point: "nonce", action: "foreign_nonce" });
      const waiting = await this.#readAll();
      await change();
      await this.#kit.sandbox.relayer.resume(waiting.operation_id);
      await this.#readAll();
    }
  }

  /** A nonce that another program used; the abandoned attempt's nonce is filled once a reorg frees it. */
  async #takenNonce(): Promise<void> {
    const { relayer, chain } = this.#kit.sandbox;
    await this.#offer({ point: "broadcast", action: "foreign_nonce" });
    const taken = await this.#readAll();
    await relayer.abandon(taken.operation_id);
    await this.#readAll();
    await this.#kit.reorg(1);
    await catchUp(relayer, chain.client);
    await this.#readAll();
  }

  /** A block that left the chain while nothing is mined. */
  async #reorged(): Promise<void> {
    await this.#offer(null);
    await this.#control("/mining", { every: "never" });
    await this.#kit.reorg(1);
    await this.#readAll();
  }

  async #bumped(): Promise<void> {
    await this.#offer({ point: "after_signed", action: "replace" });
    await this.#readAll();
  }

  /** A collection whose claim left the chain before it was sent. */
  async #withdrawn(): Promise<void> {
    const kit = this.#kit;
    const { relayer, faults, chain } = kit.sandbox;
    await this.#start.restore();
    await kit.renew();
    await kit.act("merchant", "merchant", this.#merchant.id, "fund");
    const { purchase, decision } = await kit.approvedPurchase(this.#merchant);
    await faults.set({ layer: "relayer", point: "after_signed", action: "hold" });
    await kit.post(kit.path(`/purchases/${purchase.id}/refunds`), { decision_id: decision.id });
    await kit.reorg(1);
    await catchUp(relayer, chain.client);
    await this.#readAll();
  }

  /** Activates a purchase on the state of the start, with a fault. */
  async #offer(fault: Omit<Extract<FaultRequest, { layer: "relayer" }>, "layer"> | null): Promise<void> {
    const kit = this.#kit;
    await this.#start.restore();
    await kit.renew();
    const purchase = await kit.createPurchase(this.#merchant);
    if (fault !== null) await kit.sandbox.faults.set({ layer: "relayer", ...fault });
    const body = { commitment_hash: purchase.commitment.hash };
    await kit.post(kit.path(`/purchases/${purchase.id}/activate`), body);
  }

  async #readAll(): Promise<Schema<"Operation">> {
    const { data } = JSON.parse((await this.#kit.get(this.#kit.path("/transactions"))).text);
    this.read.push(...data);
    return data.at(-1);
  }

  readonly #pause = async () => {
    await this.#kit.sandbox.wallets.deployer.setPaused(this.#kit.program, true);
  };

  /** The registrar contract's code is exchanged for one that reverts without data, and a block is made for the relayer to see. */
  readonly #silence = async () => {
    const { client } = this.#kit.sandbox.chain;
    await client.setCode({
      address: this.#kit.sandbox.description.contracts.registrar,
      bytecode: silentRevert,
    });
    await client.mine({ blocks: 1 });
  };

  async #control(path: string, body: object): Promise<void> {
    const response = await fetch(`${this.#kit.sandbox.description.urls.control}${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(await response.text());
  }
}
