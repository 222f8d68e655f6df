import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { compactVerify, createLocalJWKSet, decodeProtectedHeader } from "jose";
import { Webhook } from "standardwebhooks";
import { beforeAll, beforeEach, expect, test, vi } from "vitest";
import { z } from "zod";
import { createSandbox } from "../../../sandbox/create-sandbox.ts";
import type { Snapshot } from "../../../sandbox/snapshots/snapshot.ts";
import { startSandbox } from "../../end-to-end/started-sandbox.ts";
import { present } from "../../kit/answer.ts";
import { TestKit } from "../../kit/test-kit.ts";
import { temporaryFolder } from "../../temporary-folder.ts";

const jwksSchema = z.object({
  keys: z.array(z.looseObject({ kty: z.string(), kid: z.string() })),
});

let kit: TestKit;
let start: Snapshot;

beforeAll(async () => {
  kit = await TestKit.shared();
  start = await kit.sandbox.snapshot();
});

beforeEach(async () => {
  await start.restore();
});

async function jwks(api = kit.sandbox.description.urls.api) {
  return jwksSchema.parse(await (await fetch(`${api}/.well-known/jwks.json`)).json());
}

async function publicKeys() {
  const { keys } = present(await kit.api.GET("/v1/routing/capabilities"));
  return keys;
}

test("receipts are signed with the new key, and those signed before still verify from the JWKS", async () => {
  const before = await kit.events.deliver(await kit.events.write());
  const listed = await jwks();
  await kit.sandbox.rotateKeys();
  await kit.sandbox.rotateKeys("receipts");
  const after = await kit.events.deliver(await kit.events.write());
  const jwsOf = ({ receipt }: typeof before) => receipt?.jws ?? "";
  expect(decodeProtectedHeader(jwsOf(after)).kid).toBe((await publicKeys()).receipts.key_id);
  expect(decodeProtectedHeader(jwsOf(after)).kid).not.toBe(decodeProtectedHeader(jwsOf(before)).kid);
  const now = await jwks();
  for (const one of [before, after])
    await expect(compactVerify(jwsOf(one), createLocalJWKSet(now))).resolves.toBeDefined();
  await expect(compactVerify(jwsOf(after), createLocalJWKSet(listed))).rejects.toThrow("no applicable key");
  expect(now.keys.map(({ kid }) => kid)).toEqual(expect.arrayContaining(listed.keys.map(({ kid }) => kid)));
  expect(now.keys).toHaveLength(listed.keys.length + 5);
});

test("rotations and restores at the same time follow each other, and each rotation gives a new key", {
  tags: "thorough",
}, async () => {
  const dataDirectory = await temporaryFolder();
  await using sandbox = await createSandbox({ seed: "rotation", dataDirectory });
  const { api } = sandbox.description.urls;
  const listed = (await jwks(api)).keys.length;
  await Promise.all(Array.from({ length: 12 }, async () => await sandbox.rotateKeys("receipts")));
  expect((await jwks(api)).keys).toHaveLength(listed + 12);
  const before = await sandbox.snapshot();
  await Promise.all([
    ...Array.from({ length: 6 }, async () => await sandbox.rotateKeys()),
    ...Array.from({ length: 3 }, async () => await before.restore()),
  ]);
  const published = JSON.parse(await readFile(join(dataDirectory, "sandbox.json"), "utf8"));
  expect(published.reviewer).toEqual(sandbox.description.reviewer);
});

test("a duplicate gets its first receipt even after a rotation", async () => {
  const event = await kit.events.write();
  const first = await kit.events.receive({ ...(await kit.events.sign(event.id, event.body)) }, event.body);
  await kit.sandbox.rotateKeys("receipts");
  const again = await kit.events.receive({ ...(await kit.events.sign(event.id, event.body)) }, event.body);
  expect(again.text).toBe(first.text);
});

test("notifications are signed with the new keys and with those before, which receivers may still have", async () => {
  const secrets = [kit.sandbox.description.receiver.hmac_secret];
  for (const rotation of [1, 2]) {
    await kit.sandbox.rotateKeys("notifications");
    secrets.unshift(kit.sandbox.description.receiver.hmac_secret);
    await kit.events.deliver(await kit.events.write());
    const { headers, body, verified } = await kit.sandbox.receiver.next();
    expect(verified).toBe(true);
    const schemes = headers["webhook-signature"]?.split(" ").map((entry) => entry.split(",")[0]);
    expect(schemes).toEqual(["v1", "v1", "v1a", "v1a"]);
    vi.useFakeTimers({ toFake: ["Date"], now: (await kit.sandbox.clock.now()) * 1_000 });
    try {
      for (const secret of secrets.slice(0, 2))
        expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
      for (const secret of secrets.slice(2))
        expect(() => new Webhook(secret).verify(body, headers)).toThrow("No matching signature");
    } finally {
      vi.useRealTimers();
    }
    expect(new Set(secrets).size).toBe(rotation + 1);
  }
});

test("the receiver no longer accepts signatures of the key before the rotation", async () => {
  const event = await kit.events.write();
  await kit.sandbox.rotateKeys("notifications");
  const refused = await kit.events.receive({ ...(await kit.events.sign(event.id, event.body)) }, event.body);
  expect(refused.body).toMatchObject({ code: "signature_invalid" });
});

test("program and capabilities show the key that signs now", async () => {
  const before = await publicKeys();
  await kit.sandbox.rotateKeys();
  const after = await publicKeys();
  const program = present(
    await kit.api.GET("/v1/routing/programs/{program}", { params: { path: { program: kit.program } } }),
  );
  expect(after.notifications).not.toEqual(before.notifications);
  expect(after.receipts).not.toEqual(before.receipts);
  expect(program.keys.notifications).toEqual(after.notifications);
  const { key_id, public_key } = kit.sandbox.description.reviewer;
  expect(program.keys.reviewer).toEqual({ key_id, public_key });
});

test("a restore undoes a rotation, and the same rotation gives the same keys again", async () => {
  const before = await publicKeys();
  const { reviewers } = kit.sandbox.description;
  await kit.sandbox.rotateKeys();
  const rotated = await publicKeys();
  const { reviewers: rotatedReviewers } = kit.sandbox.description;
  await start.restore();
  expect(await publicKeys()).toEqual(before);
  expect(kit.sandbox.description.reviewers).toEqual(reviewers);
  expect(kit.sandbox.description.receiver.hmac_secret).toBe((await kit.events.keys()).secret);
  await kit.sandbox.rotateKeys();
  expect(await publicKeys()).toEqual(rotated);
  expect(kit.sandbox.description.reviewers).toEqual(rotatedReviewers);
});

test("the reviewers of all programs rotate, and their old keys stay in the JWKS as reviewers' keys", async () => {
  const { reviewers } = kit.sandbox.description;
  await kit.sandbox.rotateKeys("reviewer");
  const { reviewers: rotated } = kit.sandbox.description;
  const ids = [...rotated, ...reviewers].map(({ key_id }) => key_id);
  expect(new Set(ids).size).toBe(4);
  const listed = (await jwks()).keys.filter(({ purpose }) => purpose === "reviewer");
  expect(listed.map(({ kid }) => kid)).toEqual(ids);
});

test("a kept sandbox remembers a rotation that was made over the control API, and writes the new secret to sandbox.json", async () => {
  const folder = await temporaryFolder();
  const first = await startSandbox(folder, "--mode", "deterministic");
  const rotation = await fetch(`${first.description.urls.control}/keys/rotate`, { method: "POST" });
  expect(await rotation.json()).toEqual({ rotated: ["notifications", "receipts", "reviewer"] });
  const listed = await jwks(first.description.urls.api);
  const published = JSON.parse(await readFile(join(folder, "sandbox.json"), "utf8"));
  await first.end("SIGKILL");
  await using second = await createSandbox({ dataDirectory: folder });
  expect(await jwks(second.description.urls.api)).toEqual(listed);
  expect(second.description.receiver.hmac_secret).toBe(published.receiver.hmac_secret);
  expect(second.description.reviewers).toEqual(published.reviewers);
  expect(second.description.receiver.hmac_secret).not.toBe(first.description.receiver.hmac_secret);
  expect(second.description.reviewer.key_id).not.toBe(first.description.reviewer.key_id);
});
