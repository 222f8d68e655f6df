import { type Ed25519Key, ed25519Key } from "../../protocol/signatures/ed25519.ts";
import { deriveKey } from "../../protocol/signatures/key-derivation.ts";
import { type WebhookKeys, webhookSecret } from "../../protocol/signatures/webhook.ts";
import { type Store, StoreConflictError } from "../store/store.ts";

/** The number of times that a rotation starts over when another one came first. */
const conflictRetries = 8;

/** The public half of a key, as programs and capabilities show it. */
export interface PublicKey {
  keyId: string;
  /** 32-byte Ed25519 public key. */
  publicKey: Uint8Array;
}

/**
 * The Ed25519 keys, which rotate. A key follows from the seed, its use and its generation; which generation is the current one is
 * kept in the store, so that snapshots and restarts know it.
 */
export class KeyRing {
  readonly #seed: string;
  readonly #programs: readonly string[];
  readonly #store: Store;
  readonly #derived = new Map<string, Promise<Ed25519Key>>();
  readonly #webhooks = new Map<number, Promise<WebhookKeys>>();

  /** @param programs - those that have a reviewer. */
  constructor(seed: string, programs: readonly string[], store: Store) {
    this.#seed = seed;
    this.#programs = programs;
    this.#store = store;
  }

  /**
   * Returns the keys that notifications are signed with: the current keys, then those before them, which receivers may
   * still have pinned.
   */
  async notifications(): Promise<{ current: WebhookKeys; before: WebhookKeys | null }> {
    const generation = await this.#generation("notifications");
    const current = await this.#webhookKeys(generation);
    return { current, before: generation > 1 ? await this.#webhookKeys(generation - 1) : null };
  }

  /** Returns the key that delivery receipts are signed with. */
  async receipts(): Promise<Ed25519Key> {
    return await this.#key("receipts", await this.#generation("receipts"));
  }

  /** The designated reviewer of a program. A sandbox holds its test reviewers' private keys, too; the service uses the public ones. */
  async reviewer(program: string): Promise<Ed25519Key> {
    return await this.#key(`reviewer/${program}`, await this.#generation("reviewer"));
  }

  /** Every public key that ever signed, the current one of each use first: what was signed once stays verifiable. */
  async published(): Promise<{ use: KeyUse; key: PublicKey }[]> {
    const published: { use: KeyUse; key: PublicKey }[] = [];
    for (const use of keyUses) {
      const purposes = use === "reviewer" ? this.#programs.map((program) => `reviewer/${program}`) : [use];
      for (let generation = await this.#generation(use); generation >= 1; generation -= 1)
        for (const purpose of purposes) published.push({ use, key: await this.#key(purpose, generation) });
    }
    return published;
  }

  /** Signs with a new key from now on. Rotations at the same time, also of other processes, follow each other. */
  async rotate(use: KeyUse): Promise<void> {
    for (let tries = 0; ; tries += 1)
      try {
        return await this.#rotateOnce(use);
      } catch (error) {
        if (!(error instanceof StoreConflictError) || tries === conflictRetries) throw error;
      }
  }

  async #rotateOnce(use: KeyUse): Promise<void> {
    const before = await this.#store.get("key_generations", use);
    const value = { generation: (before?.value.generation ?? 1) + 1 };
    await this.#store.commit([], () => [
      before
        ? { ...before, kind: "update", collection: "key_generations", value }
        : { kind: "insert", collection: "key_generations", key: use, value },
    ]);
  }

  async #generation(use: KeyUse): Promise<number> {
    return (await this.#store.get("key_generations", use))?.value.generation ?? 1;
  }

  async #webhookKeys(generation: number): Promise<WebhookKeys> {
    const known = this.#webhooks.get(generation) ?? this.#deriveWebhookKeys(generation);
    this.#webhooks.set(generation, known);
    return await known;
  }

  async #deriveWebhookKeys(generation: number): Promise<WebhookKeys> {
    const secret = deriveKey(this.#seed, ofGeneration("notifications/hmac", generation));
    return { key: await this.#key("notifications", generation), secret: webhookSecret(secret) };
  }

  async #key(purpose: string, generation: number): Promise<Ed25519Key> {
    const label = ofGeneration(purpose, generation);
    const known = this.#derived.get(label) ?? ed25519Key(deriveKey(this.#seed, label));
    this.#derived.set(label, known);
    return await known;
  }
}

/** The label that a key is derived by; the first generation has no number. */
function ofGeneration(purpose: string, generation: number): string {
  return generation === 1 ? purpose : `${purpose}/${generation}`;
}

/** The uses of the keys that rotate; `reviewer` means the designated reviewers of all programs. */
export const keyUses = ["notifications", "receipts", "reviewer"] as const;

/** The use of a key that rotates. */
export type KeyUse = (typeof keyUses)[number];
