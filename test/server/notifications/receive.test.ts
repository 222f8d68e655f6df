import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ed25519Key } from "../../../protocol/signatures/ed25519.ts";
import { deriveKey } from "../../../protocol/signatures/key-derivation.ts";
import { signWebhook, webhookSecret } from "../../../protocol/signatures/webhook.ts";
import { sha256Hex } from "../../../protocol/values/canonical-json.ts";
import type { Snapshot } from "../../../sandbox/snapshots/snapshot.ts";
import type { EventRecord } from "../../../server/store/records.ts";
import { TestKit } from "../../kit/test-kit.ts";

let kit: TestKit;
let other: TestKit;
let event: EventRecord;
let start: Snapshot;

beforeAll(async () => {
  kit = await TestKit.shared();
  other = await TestKit.of(kit.sandbox, 1);
  event = await kit.events.write();
  start = await kit.sandbox.snapshot();
});

beforeEach(async () => {
  await start.restore();
});

/** Checks a refusal, and that it stored nothing. */
async function expectRefusal(headers: { [name: string]: string }, body: string | Uint8Array, code: string) {
  const refused = await kit.events.receive(headers, body);
  expect(refused.body).toMatchObject({ status: 422, code });
  expect(refused.status).toBe(422);
  expect(await kit.sandbox.store.list("receipts", {})).toEqual([]);
  return refused;
}

describe("the receiver accepts an exact signed event", () => {
  test("over plain HTTP, without a credential, and signs for it", async () => {
    const accepted = await kit.events.receive(
      { ...(await kit.events.sign(event.id, event.body)) },
      event.body,
    );
    expect(accepted).toMatchObject({
      status: 200,
      body: { event_id: event.id, body_sha256: sha256Hex(new TextEncoder().encode(event.body)) },
    });
    const { data } = await kit.events.receipts();
    expect(data).toMatchObject([{ event_id: event.id, deliveries: 1 }]);
  });

  test("and answers a duplicate with the first receipt, byte for byte", async () => {
    const first = await kit.events.receive({ ...(await kit.events.sign(event.id, event.body)) }, event.body);
    await kit.sandbox.clock.travel(60);
    const again = await kit.events.receive({ ...(await kit.events.sign(event.id, event.body)) }, event.body);
    expect(again.text).toBe(first.text);
    expect((await kit.events.receipts()).data).toMatchObject([{ event_id: event.id, deliveries: 2 }]);
  });

  test("and makes one receipt of duplicates that arrive together", async () => {
    const headers = { ...(await kit.events.sign(event.id, event.body)) };
    const answers = await Promise.all(
      [1, 2, 3, 4].map(async () => await kit.events.receive(headers, event.body)),
    );
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect((await kit.events.receipts()).data).toMatchObject([{ event_id: event.id, deliveries: 4 }]);
  });

  test("at exactly 300 seconds of difference, but not at 301", async () => {
    const now = await kit.sandbox.clock.now();
    for (const late of [-301, 301, 1_000_000_000_000]) {
      const headers = { ...(await kit.events.sign(event.id, event.body, now + late)) };
      await expectRefusal(headers, event.body, "timestamp_out_of_tolerance");
    }
    for (const late of [-300, 300]) {
      const headers = { ...(await kit.events.sign(event.id, event.body, now + late)) };
      expect(await kit.events.receive(headers, event.body)).toMatchObject({ status: 200 });
    }
  });

  test("with the v1a signature anywhere among others", async () => {
    const headers = await kit.events.sign(event.id, event.body);
    const [hmac = "", signature = ""] = headers["webhook-signature"].split(" ");
    const wrong = `v1a,${"A".repeat(86)}==`;
    const listed = { ...headers, "webhook-signature": `v2,later ${wrong} ${signature} ${hmac}` };
    expect(await kit.events.receive(listed, event.body)).toMatchObject({ status: 200 });
  });
});

describe("the receiver refuses", () => {
  test("a signature behind so many that looking for it would keep the service busy", async () => {
    const headers = await kit.events.sign(event.id, event.body);
    const others = Array(16)
      .fill(`v1a,${"A".repeat(86)}==`)
      .join(" ");
    const buried = { ...headers, "webhook-signature": `${others} ${headers["webhook-signature"]}` };
    await expectRefusal(buried, event.body, "signature_invalid");
  });

  test.each([
    ["one more space", (body: string) => `${body} `],
    ["one changed character", (body: string) => body.replace("100000000", "100000001")],
    [
      "equal JSON in another order",
      (body: string) => JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(body)).toReversed())),
    ],
    ["nothing", () => ""],
    ["a byte order mark", (body: string) => `\uFEFF${body}`],
  ])("an altered body: %s", async (_, alter) => {
    const altered = alter(event.body);
    await expectRefusal({ ...(await kit.events.sign(event.id, event.body)) }, altered, "signature_invalid");
    await expectRefusal({ ...(await kit.events.sign(event.id, altered)) }, altered, "event_mismatch");
  });

  test("bytes that are no UTF-8, signed or not", async () => {
    const bytes = Buffer.concat([Buffer.from(event.body), Buffer.from([0xff])]);
    await expectRefusal({ ...(await kit.events.sign(event.id, event.body)) }, bytes, "signature_invalid");
  });

  test("an event of another program under this one's name", async () => {
    const foreign = await other.events.write();
    const claimed = foreign.body.replace("prg_other", "prg_demo");
    await expectRefusal({ ...(await kit.events.sign(foreign.id, claimed)) }, claimed, "event_mismatch");
    await expectRefusal(
      { ...(await kit.events.sign(event.id, foreign.body)) },
      foreign.body,
      "event_mismatch",
    );
  });

  test("an event replayed under another id", async () => {
    const second = await kit.events.write();
    const signed = await kit.events.sign(event.id, event.body);
    const renamed = { ...signed, "webhook-id": second.id };
    await expectRefusal(renamed, event.body, "signature_invalid");
    await expectRefusal({ ...(await kit.events.sign(second.id, event.body)) }, event.body, "event_mismatch");
  });

  test("an event that the outbox does not have", async () => {
    const id = "evt_abcdefghij234567abcd";
    const body = event.body.replace(event.id, id);
    await expectRefusal({ ...(await kit.events.sign(id, body)) }, body, "event_mismatch");
  });

  test("a genuine delivery that is sent again after its time", async () => {
    await kit.events.deliver(event);
    const arrival = await kit.sandbox.receiver.next();
    expect(await kit.sandbox.receiver.resend(arrival)).toMatchObject({ status: 200 });
    await kit.sandbox.clock.travel(301);
    const { status, body } = await kit.sandbox.receiver.resend(arrival);
    expect([status, JSON.parse(body).code]).toEqual([422, "timestamp_out_of_tolerance"]);
  });

  test("a timestamp that was changed after signing, even one in time", async () => {
    const now = await kit.sandbox.clock.now();
    const stale = await kit.events.sign(event.id, event.body, now - 1_000);
    const renewed = { ...stale, "webhook-timestamp": String(now) };
    await expectRefusal(renewed, event.body, "signature_invalid");
  });

  test("another sandbox's signature, and the HMAC alone", async () => {
    const keys = {
      key: await ed25519Key(deriveKey("another seed", "notifications")),
      secret: webhookSecret(deriveKey(kit.sandbox.description.seed, "notifications/hmac")),
    };
    const timestamp = await kit.sandbox.clock.now();
    const foreign = signWebhook({ id: event.id, timestamp, body: event.body }, keys);
    await expectRefusal({ ...foreign }, event.body, "signature_invalid");
    const [hmac = ""] = foreign["webhook-signature"].split(" ");
    await expectRefusal({ ...foreign, "webhook-signature": hmac }, event.body, "signature_invalid");
  });

  test.each(["webhook-id", "webhook-timestamp", "webhook-signature"])(
    "a delivery without %s",
    async (name) => {
      const { [name]: _, ...rest }: { [name: string]: string } = {
        ...(await kit.events.sign(event.id, event.body)),
      };
      await expectRefusal(rest, event.body, "signature_invalid");
    },
  );

  test.each(["", "-5", "+1767225600", "0x10", "1767225600.5", "1e9", "Infinity", "9".repeat(13)])(
    "webhook-timestamp: %j",
    async (timestamp) => {
      const headers = { ...(await kit.events.sign(event.id, event.body)), "webhook-timestamp": timestamp };
      await expectRefusal(headers, event.body, "signature_invalid");
    },
  );

  test("a timestamp with a fraction, though it is signed", async () => {
    const headers = {
      ...(await kit.events.sign(event.id, event.body, (await kit.sandbox.clock.now()) + 0.5)),
    };
    expect(headers["webhook-timestamp"]).toMatch(/^[0-9]+\.5$/);
    const refused = await expectRefusal(headers, event.body, "signature_invalid");
    expect(refused.body).toMatchObject({
      detail:
        "webhook-id, webhook-timestamp (whole Unix seconds) and webhook-signature must each be sent once.",
    });
  });
});
