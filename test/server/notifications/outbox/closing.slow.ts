import { expect, test } from "vitest";
import { createApiClient, unwrap } from "../../../../sandbox/client/api-client.ts";
import { createSandbox } from "../../../../sandbox/create-sandbox.ts";
import type { SandboxDescription } from "../../../../sandbox/options/description.ts";
import { startSandbox } from "../../../end-to-end/started-sandbox.ts";
import { openReceiver } from "../../../kit/external-receiver.ts";
import { temporaryFolder } from "../../../temporary-folder.ts";
import { deliverEvent, issueCredential, writeEvent } from "./merchant-event.ts";

async function now({ urls }: SandboxDescription): Promise<string> {
  return unwrap(await createApiClient(urls.api).GET("/v1/routing/capabilities")).now;
}

async function deliver({ urls }: SandboxDescription, bearer: string, event_id: string) {
  return await deliverEvent(createApiClient(urls.api, bearer), "delivery-1", event_id);
}

const closing = { status: 503, code: "service_closing", retryable: true };
const delivered = { number: 2, status_code: 204, error: null };

test.each(["deterministic", "live"])(
  "a %s sandbox that is interrupted while a receiver does not respond leaves the other attempts for its next start",
  async (mode) => {
    const folder = await temporaryFolder();
    await using receiver = await openReceiver();
    receiver.answer = () => {};
    const first = await startSandbox(folder, "--mode", mode, "--receiver-url", receiver.url);
    const bearer = await issueCredential(first.description);
    const event_id = await writeEvent(createApiClient(first.description.urls.api, bearer));
    const before = await now(first.description);
    const asked = deliver(first.description, bearer, event_id);
    await expect.poll(() => receiver.received.length).toBe(1);
    expect(await first.end("SIGINT")).toBe(0);
    const refused = await asked;
    expect(refused.response.status).toBe(503);
    expect(refused.response.headers.get("retry-after")).toBe("1");
    expect(refused.error).toMatchObject({
      ...closing,
      detail:
        "The service is closing, and the attempts that are left remain. Send the identical request again once it has started again.",
    });
    expect(receiver.received).toHaveLength(1);

    receiver.answer = (_, response) => response.writeHead(204).end();
    await using second = await createSandbox({ dataDirectory: folder, receiverUrl: receiver.url });
    if (mode === "deterministic") expect(await now(second.description)).toBe(before);
    const answer = await deliver(second.description, bearer, event_id);
    expect(answer.response.status).toBe(200);
    expect(answer.data).toMatchObject({
      notification: {
        status: "delivered",
        attempts: [
          { number: 1, status_code: null, error: "the sandbox was closed before the receiver responded" },
          delivered,
        ],
      },
      receipt: { event_id },
    });
    expect(receiver.received).toHaveLength(2);
  },
);

test("a live sandbox that is interrupted between two attempts makes no further one before its next start", async () => {
  const folder = await temporaryFolder();
  await using receiver = await openReceiver();
  receiver.answer = (_, response) => response.writeHead(500, { "retry-after": "10" }).end();
  const first = await startSandbox(folder, "--mode", "live", "--receiver-url", receiver.url);
  const bearer = await issueCredential(first.description);
  const event_id = await writeEvent(createApiClient(first.description.urls.api, bearer));
  const asked = deliver(first.description, bearer, event_id);
  await expect.poll(() => receiver.received.length).toBe(1);
  expect(await first.end("SIGINT")).toBe(0);
  expect((await asked).error).toMatchObject(closing);

  await using second = await createSandbox({ dataDirectory: folder, receiverUrl: receiver.url });
  const response = await fetch(`${second.description.urls.control}/explorer/events`);
  const attempts = [{ number: 1, ended: true, status_code: 500, error: null }];
  expect(await response.json()).toMatchObject({
    data: [{ id: event_id, delivery: "undelivered", attempts }],
  });
  expect(receiver.received).toHaveLength(1);
});
