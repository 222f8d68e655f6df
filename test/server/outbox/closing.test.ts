import { expect, test } from "vitest";
import type { SandboxDescription } from "../../../sandbox/state/description.ts";
import { accessSchema } from "../../../server/schemas/access.ts";
import { capabilitiesSchema } from "../../../server/schemas/capabilities.ts";
import { merchantSchema } from "../../../server/schemas/merchant.ts";
import { RoutingClient } from "../../../testkit/demo/routing-client.ts";
import { startSandbox } from "../../end-to-end/started-sandbox.ts";
import { openReceiver } from "../../kit/external-receiver.ts";
import { temporaryFolder } from "../../temporary-folder.ts";

const path = "/v1/routing/programs/prg_demo";

/** A credential of the first account. */
async function access({ urls, accounts }: SandboxDescription): Promise<string> {
  const request = { bearer: accounts[0]?.key ?? "", body: {} };
  return (await new RoutingClient(urls.api).call(accessSchema, "POST", "/v1/routing/access", request))
    .credential;
}

async function now({ urls }: SandboxDescription): Promise<string> {
  const api = new RoutingClient(urls.api);
  return (await api.call(capabilitiesSchema, "GET", "/v1/routing/capabilities", {})).now;
}

async function writeEvent({ urls }: SandboxDescription, bearer: string): Promise<string> {
  const body = {
    wallet: "0x70997970c51812dc3a010c7d01b50e0d17dc79c8",
    name: "Corner Books",
    funding_cap: "1",
  };
  const request = { bearer, idempotencyKey: "merchant-1", body };
  return (await new RoutingClient(urls.api).call(merchantSchema, "POST", `${path}/merchants`, request))
    .event_id;
}

async function deliver({ urls }: SandboxDescription, bearer: string, event_id: string) {
  const request = { bearer, idempotencyKey: "delivery-1", body: { event_id } };
  return await new RoutingClient(urls.api).send("POST", `${path}/notifications`, request);
}

const closing = { status: 503, code: "service_closing", retryable: true };
const delivered = { number: 2, status_code: 204, error: null };

test.each(["deterministic", "live"])(
  "a %s sandbox that is interrupted while a receiver does not answer leaves the other attempts for its next start",
  async (mode) => {
    const folder = await temporaryFolder();
    await using receiver = await openReceiver();
    receiver.answer = () => {};
    const start = async () => await startSandbox(folder, "--mode", mode, "--receiver-url", receiver.url);
    const first = await start();
    const bearer = await access(first.description);
    const event_id = await writeEvent(first.description, bearer);
    const before = await now(first.description);
    const asked = deliver(first.description, bearer, event_id);
    await expect.poll(() => receiver.received.length).toBe(1);
    expect(await first.end("SIGINT")).toBe(0);
    const refused = await asked;
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(refused.body).toMatchObject({
      ...closing,
      detail:
        "The service is closing, and the attempts that are left remain. Send the identical request again once it has started again.",
    });
    expect(receiver.received).toHaveLength(1);

    receiver.answer = (_, response) => response.writeHead(204).end();
    await using second = await start();
    if (mode === "deterministic") expect(await now(second.description)).toBe(before);
    const answer = await deliver(second.description, bearer, event_id);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      notification: {
        status: "delivered",
        attempts: [
          { number: 1, status_code: null, error: "the sandbox was closed before an answer came" },
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
  const start = async () => await startSandbox(folder, "--mode", "live", "--receiver-url", receiver.url);
  const first = await start();
  const bearer = await access(first.description);
  const event_id = await writeEvent(first.description, bearer);
  const asked = deliver(first.description, bearer, event_id);
  await expect.poll(() => receiver.received.length).toBe(1);
  expect(await first.end("SIGINT")).toBe(0);
  expect((await asked).body).toMatchObject(closing);

  await using second = await start();
  const response = await fetch(`${second.description.urls.control}/explorer/events`);
  const attempts = [{ number: 1, ended: true, status_code: 500, error: null }];
  expect(await response.json()).toMatchObject({
    data: [{ id: event_id, delivery: "undelivered", attempts }],
  });
  expect(receiver.received).toHaveLength(1);
});
