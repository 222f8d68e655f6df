import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { z } from "zod";
import { ed25519Key } from "../../../protocol/ed25519.ts";
import { deriveKey } from "../../../protocol/key-derivation.ts";
import {
  signWebhook,
  type WebhookHeaders,
  type WebhookKeys,
  webhookSecret,
} from "../../../protocol/webhook.ts";
import { createSandbox, type Sandbox } from "../../../sandbox/create-sandbox.ts";
import type { SandboxOptions } from "../../../sandbox/options/options.ts";
import { accessSchema } from "../../../server/schemas/access.ts";
import { merchantSchema } from "../../../server/schemas/merchant.ts";
import { deliveryReceiptSchema, notificationDeliverySchema } from "../../../server/schemas/notification.ts";
import { pageSchema } from "../../../server/schemas/page.ts";
import { problemSchema } from "../../../server/schemas/problem.ts";
import type { EventRecord } from "../../../server/store/records.ts";
import { type RoutingAnswer, RoutingClient } from "../../../testkit/demo/routing-client.ts";

const receiptsSchema = pageSchema(deliveryReceiptSchema, "DeliveryReceipts");

/** A running sandbox with a credential for the events of one program. */
export class Stage implements AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly api: RoutingClient;
  readonly program: string;
  readonly seed: string;
  readonly credential: string;
  #keys = 0;

  private constructor(sandbox: Sandbox, program: string, credential: string) {
    this.sandbox = sandbox;
    this.program = program;
    this.credential = credential;
    this.seed = sandbox.description.seed;
    this.api = new RoutingClient(sandbox.description.urls.api);
  }

  static async open(options: SandboxOptions = {}): Promise<Stage> {
    return await Stage.enter(await createSandbox(options));
  }

  /** Enters a sandbox that runs already, with another account's credential if one is named. */
  static async enter(sandbox: Sandbox, account = 0): Promise<Stage> {
    const { accounts, urls } = sandbox.description;
    const { program = "", key = "" } = accounts[account] ?? {};
    const api = new RoutingClient(urls.api);
    const access = await api.call(accessSchema, "POST", "/v1/routing/access", { bearer: key, body: {} });
    return new Stage(sandbox, program, access.credential);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.sandbox.close();
  }

  /** An idempotency key that no other request has. */
  key(): string {
    this.#keys += 1;
    return `${this.program}-key-${this.#keys}`;
  }

  path(below: string): string {
    return `/v1/routing/programs/${this.program}${below}`;
  }

  async post(below: string, body: unknown, idempotencyKey = this.key()): Promise<RoutingAnswer> {
    return await this.api.send("POST", this.path(below), { bearer: this.credential, idempotencyKey, body });
  }

  /** Writes an event, the simplest there is: a merchant was created. */
  async writeEvent(): Promise<EventRecord> {
    const { address } = this.sandbox.wallets.merchant;
    const body = { wallet: address, name: "Corner Books", funding_cap: "100000000" };
    const { event_id } = merchantSchema.parse((await this.post("/merchants", body)).body);
    return await this.event(event_id);
  }

  /** An event as the outbox keeps it. */
  async event(id: string): Promise<EventRecord> {
    const stored = await this.sandbox.store.get("events", id);
    if (stored === undefined) throw new Error(`There is no event ${id}.`);
    return stored.value;
  }

  /** Operation 14. */
  async deliver(
    event: { id: string } | null,
    idempotencyKey?: string,
  ): Promise<z.output<typeof notificationDeliverySchema>> {
    const body = event === null ? {} : { event_id: event.id };
    const answer = await this.post("/notifications", body, idempotencyKey);
    return notificationDeliverySchema.parse(answer.body);
  }

  /** Operation 14 when it is refused. */
  async refusedDelivery(event: { id: string } | null): Promise<z.output<typeof problemSchema>> {
    const body = event === null ? {} : { event_id: event.id };
    return problemSchema.parse((await this.post("/notifications", body)).body);
  }

  /** Operation 15. */
  async receipts(query = ""): Promise<z.output<typeof receiptsSchema>> {
    const path = this.path(`/notification-receipts${query}`);
    return await this.api.call(receiptsSchema, "GET", path, { bearer: this.credential });
  }

  /** The keys that the seed gives notifications first. */
  async keys(): Promise<WebhookKeys> {
    return {
      key: await ed25519Key(deriveKey(this.seed, "notifications")),
      secret: webhookSecret(deriveKey(this.seed, "notifications/hmac")),
    };
  }

  /** Signs what only the service can sign. */
  async sign(id: string, body: string, timestamp?: number): Promise<WebhookHeaders> {
    const now = timestamp ?? (await this.sandbox.clock.now());
    return signWebhook({ id, timestamp: now, body }, await this.keys());
  }

  /** Operation 17, with exactly these headers and bytes. */
  async receive(
    headers: { [name: string]: string },
    body: string | Uint8Array,
  ): Promise<RoutingAnswer & { text: string }> {
    const response = await fetch(`${this.sandbox.description.urls.api}/v1/routing/notification-receiver`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body,
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: JSON.parse(text), text };
  }
}

/** One request that an external receiver got. */
export interface Received {
  method: string;
  url: string;
  headers: { [name: string]: string };
  body: string;
}

/** A receiver of somebody's own, outside of the sandbox. */
export interface ExternalReceiver extends AsyncDisposable {
  url: string;
  port: number;
  received: Received[];
  /** How it answers; 204 by default. */
  answer: (received: Received, response: ServerResponse) => void;
}

/** Opens a receiver on a loopback address. */
export async function openReceiver(host = "127.0.0.1", port = 0): Promise<ExternalReceiver> {
  const received: Received[] = [];
  const server = createServer(async (request: IncomingMessage, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    const { method = "", url = "" } = request;
    const one = { method, url, headers, body: Buffer.concat(chunks).toString() };
    received.push(one);
    receiver.answer(one, response);
  });
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  const bound = (server.address() as AddressInfo).port;
  const receiver: ExternalReceiver = {
    url: `http://${host}:${bound}/`,
    port: bound,
    received,
    answer: (_, response) => response.writeHead(204).end(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}
