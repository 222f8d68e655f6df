import { expect, onTestFinished, test } from "vitest";
import type { CrashPoint } from "../../../sandbox/service/receiver/delivery-fault.ts";
import { accessSchema } from "../../../server/schemas/access.ts";
import { merchantSchema } from "../../../server/schemas/merchant.ts";
import { notificationDeliverySchema } from "../../../server/schemas/notification.ts";
import { RoutingClient } from "../../../testkit/demo/routing-client.ts";
import { type StartedSandbox, startSandbox } from "../../end-to-end/started-sandbox.ts";
import { openReceiver } from "../../kit/external-receiver.ts";
import { temporaryFolder } from "../../temporary-folder.ts";

/** A sandbox process that is started again and again in one folder, with one credential. */
class Process {
  readonly #start: () => Promise<StartedSandbox>;
  #running: StartedSandbox;
  #credential = "";

  private constructor(start: () => Promise<StartedSandbox>, running: StartedSandbox) {
    this.#start = start;
    this.#running = running;
  }

  static async open(...options: string[]): Promise<Process> {
    const folder = await temporaryFolder();
    const start = async () => await startSandbox(folder, "--mode", "deterministic", ...options);
    const opened = new Process(start, await start());
    onTestFinished(async () => {
      await opened.#running.end("SIGTERM");
    });
    const bearer = opened.#account.key;
    const path = "/v1/routing/access";
    opened.#credential = (
      await opened.#api.call(accessSchema, "POST", path, { bearer, body: {} })
    ).credential;
    return opened;
  }

  async post(below: string, body: unknown, idempotencyKey: string): Promise<unknown> {
    const request = { bearer: this.#credential, idempotencyKey, body };
    return (await this.#api.send("POST", this.#path(below), request)).body;
  }

  async writeEvent(): Promise<string> {
    const wallet = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
    const merchant = { wallet, name: "Corner Books", funding_cap: "1" };
    return merchantSchema.parse(await this.post("/merchants", merchant, "merchant-1")).event_id;
  }

  async receipts(): Promise<unknown> {
    const path = this.#path("/notification-receipts");
    return (await this.#api.send("GET", path, { bearer: this.#credential })).body;
  }

  /** Lets the process die by SIGKILL at a point of a delivery, and starts the next one. */
  async dieDuring(point: CrashPoint, delivery: () => Promise<unknown>): Promise<void> {
    await fetch(`${this.#running.description.urls.control}/receiver/failures`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ crash: point }),
    });
    await expect(delivery()).rejects.toThrow("fetch failed");
    await this.#running.end("SIGKILL");
    this.#running = await this.#start();
  }

  get #account(): { program: string; key: string } {
    const [account] = this.#running.description.accounts;
    if (account === undefined) throw new Error("A sandbox has at least one account.");
    return account;
  }

  get #api(): RoutingClient {
    return new RoutingClient(this.#running.description.urls.api);
  }

  #path(below: string): string {
    return `/v1/routing/programs/${this.#account.program}${below}`;
  }
}

test("a notification has five attempts in all, wherever its process is killed", {
  timeout: 30_000,
}, async () => {
  await using receiver = await openReceiver();
  receiver.answer = (_, response) => response.writeHead(500).end();
  const sandbox = await Process.open("--receiver-url", receiver.url);
  const event_id = await sandbox.writeEvent();
  const deliver = async (key: string) => await sandbox.post("/notifications", { event_id }, key);

  // The first attempt is made and recorded; the process dies before the second.
  await sandbox.dieDuring("before_pause", async () => await deliver("delivery-1"));
  expect(receiver.received).toHaveLength(1);
  // The second attempt is recorded, and the process dies before it is sent: it counts all the same.
  await sandbox.dieDuring("before_delivery", async () => await deliver("delivery-1"));
  expect(receiver.received).toHaveLength(1);
  // The third attempt is answered, and the process dies before it can write that down. Another call continued with it.
  await sandbox.dieDuring("after_delivery", async () => await deliver("delivery-2"));
  expect(receiver.received).toHaveLength(2);

  const answer = notificationDeliverySchema.parse(await deliver("delivery-1"));
  expect(answer).toMatchObject({ notification: { status: "exhausted" }, receipt: null });
  expect(answer.notification.attempts.map(({ number, status_code }) => [number, status_code])).toEqual([
    [1, 500],
    [2, null],
    [3, null],
    [4, 500],
    [5, 500],
  ]);
  expect(receiver.received.map(({ headers }) => headers["webhook-id"])).toEqual(Array(4).fill(event_id));

  expect(notificationDeliverySchema.parse(await deliver("delivery-2"))).toEqual(answer);
  expect(await deliver("delivery-3")).toMatchObject({ code: "delivery_exhausted", attempts: 5 });
  expect(await sandbox.post("/notifications", {}, "delivery-4")).toMatchObject({ code: "outbox_empty" });
  expect(receiver.received).toHaveLength(4);
});

test("an event whose acceptance was lost in a crash is delivered again and receipted once", async () => {
  const sandbox = await Process.open();
  const event_id = await sandbox.writeEvent();
  const deliver = async () => await sandbox.post("/notifications", { event_id }, "delivery-1");
  await sandbox.dieDuring("after_delivery", deliver);
  const answer = notificationDeliverySchema.parse(await deliver());
  expect(answer.notification).toMatchObject({
    status: "delivered",
    attempts: [{ error: "the outcome was lost in a crash" }, { status_code: 200 }],
  });
  expect(answer.receipt?.deliveries).toBe(2);
  expect(await sandbox.receipts()).toMatchObject({ data: [answer.receipt], next_cursor: null });
});
