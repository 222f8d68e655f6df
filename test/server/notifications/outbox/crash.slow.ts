import { expect, onTestFinished, test } from "vitest";
import { type ApiClient, createApiClient, unwrap } from "../../../../sandbox/client/api-client.ts";
import type { LayerPoint } from "../../../../sandbox/faults/fault-matrix.ts";
import type { SandboxDescription } from "../../../../sandbox/options/description.ts";
import { type StartedSandbox, startSandbox } from "../../../end-to-end/started-sandbox.ts";
import { openReceiver } from "../../../kit/external-receiver.ts";
import { temporaryFolder } from "../../../temporary-folder.ts";
import { deliverEvent, issueCredential, writeEvent } from "./merchant-event.ts";

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
    opened.#credential = await issueCredential(opened.#description);
    return opened;
  }

  async deliver(key: string, event_id?: string) {
    return await deliverEvent(this.#api, key, event_id);
  }

  async writeEvent(): Promise<string> {
    return await writeEvent(this.#api);
  }

  async receipts() {
    const path = "/v1/routing/programs/{program}/notification-receipts";
    return unwrap(await this.#api.GET(path, { params: { path: { program: "prg_demo" } } }));
  }

  /** Ends the process by SIGKILL at a point of a delivery, and starts the next one. */
  async dieDuring(point: LayerPoint<"delivery">, delivery: () => Promise<unknown>): Promise<void> {
    await fetch(`${this.#description.urls.control}/faults`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ layer: "delivery", action: "crash", point }),
    });
    await expect(delivery()).rejects.toThrow("fetch failed");
    await this.#running.end("SIGKILL");
    this.#running = await this.#start();
  }

  get #description(): SandboxDescription {
    return this.#running.description;
  }

  get #api(): ApiClient {
    return createApiClient(this.#description.urls.api, this.#credential);
  }
}

test("a notification has five attempts in all, wherever its process is killed", {
  timeout: 30_000,
}, async () => {
  await using receiver = await openReceiver();
  receiver.answer = (_, response) => response.writeHead(500).end();
  const sandbox = await Process.open("--receiver-url", receiver.url);
  const event_id = await sandbox.writeEvent();
  const deliver = async (key: string) => await sandbox.deliver(key, event_id);

  // The first attempt is made and recorded; the process crashes before the second.
  await sandbox.dieDuring("before_pause", async () => await deliver("delivery-1"));
  expect(receiver.received).toHaveLength(1);
  // The second attempt is recorded, and the process crashes before it is sent: it counts anyway.
  await sandbox.dieDuring("before_delivery", async () => await deliver("delivery-1"));
  expect(receiver.received).toHaveLength(1);
  // The third attempt is answered, and the process crashes before it can write that down. Another call continued with it.
  await sandbox.dieDuring("after_delivery", async () => await deliver("delivery-2"));
  expect(receiver.received).toHaveLength(2);

  const answer = unwrap(await deliver("delivery-1"));
  expect(answer).toMatchObject({ notification: { status: "exhausted" }, receipt: null });
  expect(answer.notification.attempts.map(({ number, status_code }) => [number, status_code])).toEqual([
    [1, 500],
    [2, null],
    [3, null],
    [4, 500],
    [5, 500],
  ]);
  expect(receiver.received.map(({ headers }) => headers["webhook-id"])).toEqual(Array(4).fill(event_id));

  expect(unwrap(await deliver("delivery-2"))).toEqual(answer);
  expect((await deliver("delivery-3")).error).toMatchObject({ code: "delivery_exhausted", attempts: 5 });
  expect((await sandbox.deliver("delivery-4")).error).toMatchObject({ code: "outbox_empty" });
  expect(receiver.received).toHaveLength(4);
});

test("an event whose acceptance was lost in a crash is delivered again and receipted once", async () => {
  const sandbox = await Process.open();
  const event_id = await sandbox.writeEvent();
  const deliver = async () => await sandbox.deliver("delivery-1", event_id);
  await sandbox.dieDuring("after_delivery", deliver);
  const answer = unwrap(await deliver());
  expect(answer.notification).toMatchObject({
    status: "delivered",
    attempts: [{ error: "the outcome was lost in a crash" }, { status_code: 200 }],
  });
  expect(answer.receipt?.deliveries).toBe(2);
  expect(await sandbox.receipts()).toMatchObject({ data: [answer.receipt], next_cursor: null });
});
