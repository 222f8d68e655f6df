import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hexToBytes } from "@noble/hashes/utils.js";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { signDeliveryReceipt } from "../../../../protocol/signatures/delivery-receipt.ts";
import { ed25519Key } from "../../../../protocol/signatures/ed25519.ts";
import { signWebhook, webhookTolerance } from "../../../../protocol/signatures/webhook.ts";
import { sha256Hex } from "../../../../protocol/values/canonical-json.ts";
import {
  longestRetryAfter,
  pauseAfter,
  readAskedPause,
} from "../../../../server/notifications/outbox/delivery-attempts.ts";
import { eventTypeNames, eventTypes } from "../../../../server/schemas/event-types.ts";
import { present } from "../../../kit/answer.ts";
import { TestKit } from "../../../kit/test-kit.ts";

const guide = readFileSync(new URL("../../../../docs/notifications.md", import.meta.url), "utf8");

const vectorsSchema = z.strictObject({
  secret: z.string(),
  private_key: z.string(),
  public_key: z.string(),
  headers: z.strictObject({
    "webhook-id": z.string(),
    "webhook-timestamp": z.string(),
    "webhook-signature": z.string(),
  }),
  body: z.string(),
  body_sha256: z.string(),
  jwks: z.object({ keys: z.array(z.looseObject({ kid: z.string() })) }),
  receipt: z.string(),
});

type Verify = (...parts: unknown[]) => unknown;

let folder: string;
let kit: TestKit;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "routing-guide-"));
  symlinkSync(new URL("../../../../node_modules", import.meta.url).pathname, join(folder, "node_modules"));
  kit = await TestKit.shared();
});

afterAll(async () => {
  rmSync(folder, { recursive: true });
});

/** A block of the guide by its file's name. */
function block(name: string): string {
  const found = guide.split(` ${name}\n`)[1]?.split("\n```")[0];
  if (found === undefined) throw new Error(`The guide has no block ${name}.`);
  return found;
}

/** The function that a block of the guide exports. */
async function code(name: string): Promise<Verify> {
  const file = join(folder, name);
  writeFileSync(file, block(name));
  const { verify }: { verify: Verify } = await import(/* @vite-ignore */ file);
  return verify;
}

const vectors = vectorsSchema.parse(JSON.parse(block("vectors.json")));
const timestamp = Number(vectors.headers["webhook-timestamp"]);

/** The three ways of verifying that the guide shows, each for one receiver's keys. */
async function verifiers(keys: { secret: string; publicKey: string }) {
  const [withSecret, publicKey] = [await code("verify-with-secret.mjs"), await code("public-key.mjs")];
  return [
    (headers: object, body: Buffer, now: number) => {
      vi.useFakeTimers({ toFake: ["Date"], now: now * 1_000 });
      try {
        return new Webhook(keys.secret).verify(body, Object.fromEntries(Object.entries(headers)));
      } finally {
        vi.useRealTimers();
      }
    },
    (headers: object, body: Buffer, now: number) => withSecret(keys.secret, headers, body, now),
    (headers: object, body: Buffer, now: number) => publicKey(keys.publicKey, headers, body, now),
  ];
}

describe("the guide's code", () => {
  test("verifies real deliveries", async () => {
    await kit.events.deliver(await kit.events.write());
    const { headers, body } = await kit.sandbox.receiver.next();
    const { keys } = present(await kit.api.GET("/v1/routing/capabilities"));
    const now = await kit.sandbox.clock.now();
    const { hmac_secret: secret } = kit.sandbox.description.receiver;
    for (const verify of await verifiers({ secret, publicKey: keys.notifications.public_key }))
      expect(verify(headers, Buffer.from(body), now)).toEqual(JSON.parse(body));
  });

  test("verifies the vectors, and nothing that differs from them", async () => {
    const { headers, secret } = vectors;
    const body = Buffer.from(vectors.body);
    for (const verify of await verifiers({ secret, publicKey: vectors.public_key })) {
      expect(verify(headers, body, timestamp + webhookTolerance)).toEqual(JSON.parse(vectors.body));
      expect(() => verify(headers, body, timestamp + webhookTolerance + 1)).toThrow();
      expect(() => verify(headers, body, timestamp - webhookTolerance - 1)).toThrow();
      expect(() => verify(headers, Buffer.from(`${vectors.body} `), timestamp)).toThrow();
      for (const name of ["webhook-id", "webhook-timestamp", "webhook-signature"]) {
        expect(() => verify({ ...headers, [name]: `${timestamp + 1}` }, body, timestamp)).toThrow();
        expect(() => verify({ ...headers, [name]: undefined }, body, timestamp)).toThrow();
      }
    }
  });

  test("verifies receipts from the served JWKS, and none that a reviewer signed", async () => {
    const verify = await code("receipt.mjs");
    const { receipt } = await kit.events.deliver(await kit.events.write());
    const jwks: unknown = await (await fetch(`${kit.base}/.well-known/jwks.json`)).json();
    await expect(verify(jwks, receipt?.jws)).resolves.toMatchObject({ receipt_id: receipt?.id });
    const reviewer = await ed25519Key(hexToBytes(kit.sandbox.description.reviewer.private_key));
    const forged = await signDeliveryReceipt(
      {
        receipt_id: receipt?.id ?? "",
        event_id: receipt?.event_id ?? "",
        body_sha256: sha256Hex(new Uint8Array()),
        receiver: "http://127.0.0.1/",
        received_at: "2026-01-01T00:00:00Z",
      },
      reviewer,
    );
    await expect(verify(jwks, forged)).rejects.toThrow("no applicable key");
  });

  test("verifies the receipt of the vectors", async () => {
    const verify = await code("receipt.mjs");
    await expect(verify(vectors.jwks, vectors.receipt)).resolves.toEqual({
      receipt_id: "rcp_abcdefghij234567abcd",
      event_id: "evt_abcdefghij234567abcd",
      body_sha256: vectors.body_sha256,
      receiver: "http://127.0.0.1:4020/v1/routing/notification-receiver",
      received_at: "2026-01-01T00:00:00Z",
    });
  });
});

test("the vectors are what the service signs", async () => {
  const key = await ed25519Key(hexToBytes(vectors.private_key));
  const { body, secret, headers } = vectors;
  expect(signWebhook({ id: headers["webhook-id"], timestamp, body }, { key, secret })).toEqual(headers);
  expect(Buffer.from(key.publicKey).toString("base64url")).toBe(vectors.public_key);
  expect(sha256Hex(new TextEncoder().encode(body))).toBe(vectors.body_sha256);
});

test("the guide lists every event with its data", () => {
  const rows = guide.split("\n").filter((line) => /^- `[a-z]+\.[a-z]+` /.test(line));
  expect(rows).toEqual(
    eventTypeNames.map((type) => {
      const { description, data } = eventTypes[type];
      const names = Object.keys(data.shape).map((name) => `\`${name}\``);
      return `- \`${type}\` (${names.join(", ")}): ${description}`;
    }),
  );
});

test("the pauses are as long as the guide says", () => {
  const of = { seed: "guide", eventId: "evt_abcdefghij234567abcd", retryAfterSeconds: null };
  for (const [attempt, least] of [500, 1_000, 2_000, 4_000].entries()) {
    const pause = pauseAfter(attempt + 1, of);
    expect(pause).toBeGreaterThanOrEqual(least);
    expect(pause).toBeLessThan(least * 1.5);
    expect(pauseAfter(attempt + 1, of)).toBe(pause);
    expect(pauseAfter(attempt + 1, { ...of, seed: "another" })).not.toBe(pause);
  }
  expect(guide.replaceAll(/<!-- .*? -->/g, "")).toContain(`up to ${longestRetryAfter} seconds`);
  for (const asked of ["3600", "9".repeat(20), "9".repeat(400), "Thu, 01 Jan 1970 01:00:00 GMT"])
    expect(readAskedPause(asked, 0)).toBe(longestRetryAfter);
  expect(
    ["0", "00000000000000000007", "Thu, 01 Jan 1970 00:00:07 GMT"].map((asked) => readAskedPause(asked, 0)),
  ).toEqual([0, 7, 7]);
  for (const nothing of ["", "-1", "1.5", "1e3", "0x10", "soon", "2030-01-01"])
    expect(readAskedPause(nothing, 0)).toBeNull();
});
