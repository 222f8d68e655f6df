import type { z } from "zod";
import { ed25519Key } from "../../protocol/signatures/ed25519.ts";
import { deriveKey } from "../../protocol/signatures/key-derivation.ts";
import {
  signWebhook,
  type WebhookHeaders,
  type WebhookKeys,
  webhookSecret,
} from "../../protocol/signatures/webhook.ts";
import type { Sandbox } from "../../sandbox/create-sandbox.ts";
import { deliveryReceiptSchema, notificationDeliverySchema } from "../../server/schemas/notifications.ts";
import { pageSchema } from "../../server/schemas/pagination.ts";
import type { EventRecord } from "../../server/store/records.ts";
import { type Answer, problem, type RawRequest, type Schema } from "./answer.ts";

const receiptsSchema = pageSchema(deliveryReceiptSchema, "DeliveryReceipts");

/** The parts of a kit that events need. */
interface Requests {
  readonly sandbox: Sandbox;
  path(below: string): string;
  createMerchant(cap?: string): Promise<Schema<"Merchant">>;
  raw(path: string, request?: RawRequest): Promise<Answer>;
  get(path: string): Promise<Answer>;
  post(path: string, body: unknown, headers?: { [name: string]: string }): Promise<Answer>;
}

/** The outbox of a kit's program: its events, their deliveries, and what the receiver's own host takes. */
export class Events {
  readonly #kit: Requests;

  constructor(kit: Requests) {
    this.#kit = kit;
  }

  /** Writes an event, the simplest there is: a merchant was created. */
  async write(): Promise<EventRecord> {
    const { event_id } = await this.#kit.createMerchant("100000000");
    return await this.read(event_id);
  }

  /** An event as the outbox keeps it. */
  async read(id: string): Promise<EventRecord> {
    const stored = await this.#kit.sandbox.store.get("events", id);
    if (stored === undefined) throw new Error(`There is no event ${id}.`);
    return stored.value;
  }

  /** `POST …/notifications`. */
  async deliver(
    event: { id: string } | null,
    idempotencyKey?: string,
  ): Promise<z.output<typeof notificationDeliverySchema>> {
    return notificationDeliverySchema.parse(JSON.parse((await this.#ask(event, idempotencyKey)).text));
  }

  /** `POST …/notifications` when it is refused. */
  async refusedDelivery(event: { id: string } | null): Promise<Schema<"Problem">> {
    return problem(await this.#ask(event));
  }

  async #ask(event: { id: string } | null, idempotencyKey?: string): Promise<Answer> {
    const headers = idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey };
    const body = event === null ? {} : { event_id: event.id };
    return await this.#kit.post(this.#kit.path("/notifications"), body, headers);
  }

  /** `GET …/notification-receipts`. */
  async receipts(query = ""): Promise<z.output<typeof receiptsSchema>> {
    const { text } = await this.#kit.get(this.#kit.path(`/notification-receipts${query}`));
    return receiptsSchema.parse(JSON.parse(text));
  }

  /** The keys that the seed gives notifications first. */
  async keys(): Promise<WebhookKeys> {
    const { seed } = this.#kit.sandbox.description;
    return {
      key: await ed25519Key(deriveKey(seed, "notifications")),
      secret: webhookSecret(deriveKey(seed, "notifications/hmac")),
    };
  }

  /** Signs what only the service can sign. */
  async sign(id: string, body: string, timestamp?: number): Promise<WebhookHeaders> {
    const now = timestamp ?? (await this.#kit.sandbox.clock.now());
    return signWebhook({ id, timestamp: now, body }, await this.keys());
  }

  /** `POST …/notification-receiver`, with exactly these headers and bytes. */
  async receive(
    headers: { [name: string]: string },
    body: string | Uint8Array,
  ): Promise<Answer & { body: unknown }> {
    const answer = await this.#kit.raw("/v1/routing/notification-receiver", {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: typeof body === "string" ? body : Buffer.from(body),
    });
    return { ...answer, body: JSON.parse(answer.text) };
  }
}
