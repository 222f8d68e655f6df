import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { createSandbox } from "../../sandbox/create-sandbox.ts";
import { createApiClient, unwrap } from "../../sandbox/service/client/api-client.ts";
import type { SandboxDescription } from "../../sandbox/state/description.ts";
import { storageSizes } from "../../server/store/tables/record-storage.ts";
import { controlSandbox } from "../kit/control.ts";
import { freshSandbox } from "../kit/fresh-sandbox.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { kill } from "./kill.ts";
import { startSandbox } from "./started-sandbox.ts";

/** Each has three records; so many that the first ones are packed. */
const enough = Math.ceil((storageSizes.queue + 3 * storageSizes.block) / 3);

const page = z.object({
  data: z.array(z.looseObject({ id: z.string(), delivery: z.string().optional() })),
  next_cursor: z.string().nullable(),
});

test("older records are read, changed, listed and found after a stop and after a kill, and a damaged byte of them stops the start", {
  timeout: 180_000,
}, async () => {
  const folder = await temporaryFolder();
  const first = await createSandbox({ dataDirectory: folder, mode: "live" });
  const purchase = await makePurchase(first.description);
  for (let made = 1; made < enough; made += 1) await makePurchase(first.description);
  const events = await readAll(first.description, "events");
  const purchases = await readAll(first.description, "purchases");
  expect(purchases.length).toBe(enough);
  await first.close();
  const file = join(folder, "store", "store.json");
  const [, block = ""] = (await readFile(file, "utf8")).split("\n");
  expect(block).toContain('{"block":"');

  const second = await startSandbox(folder);
  expect(await readAll(second.description, "events")).toEqual(events);
  expect(await readPurchase(second.description, purchase.id)).toEqual(purchase);
  const delivered = await deliverOldest(second.description);
  expect(delivered.notification).toMatchObject({ event_id: events[0]?.id, status: "delivered" });
  const changed = [{ ...events[0], delivery: "delivered" }, ...events.slice(1)];
  expect(await readAll(second.description, "events")).toEqual(changed);
  await kill(second, "all at once");

  const third = await createSandbox({ dataDirectory: folder });
  expect(await readAll(third.description, "events")).toEqual(changed);
  expect(await readAll(third.description, "purchases")).toEqual(purchases);
  expect(await readPurchase(third.description, purchase.id)).toEqual(purchase);
  await third.close();

  const bytes = await readFile(file);
  const line = bytes.indexOf('{"block":"');
  const at = line + 2_000;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  await writeFile(file, bytes);
  const start = bytes.lastIndexOf("\n", line) + 1;
  await expect(createSandbox({ dataDirectory: folder })).rejects.toThrow(
    `store.json, line 2: it does not match its checksum (byte ${start})`,
  );
  expect(await readFile(file)).toEqual(bytes);
});

test("a restore brings back older records as they were", { timeout: 120_000 }, async () => {
  const sandbox = await freshSandbox();
  const purchase = await makePurchase(sandbox.description);
  for (let made = 1; made < enough; made += 1) await makePurchase(sandbox.description);
  const events = await readAll(sandbox.description, "events");
  const [fingerprint, snapshot] = [await sandbox.fingerprint(), await sandbox.snapshot()];
  await deliverOldest(sandbox.description);
  await makePurchase(sandbox.description);
  await snapshot.restore();
  expect(await sandbox.fingerprint()).toEqual(fingerprint);
  expect(await readAll(sandbox.description, "events")).toEqual(events);
  expect(await readPurchase(sandbox.description, purchase.id)).toEqual(purchase);
  expect((await deliverOldest(sandbox.description)).notification.event_id).toBe(events[0]?.id);
});

async function makePurchase(description: SandboxDescription) {
  const given = z.object({ purchase: z.looseObject({ id: z.string() }) });
  const body = { purchase: { state: "created" } };
  const { purchase } = given.parse(await controlSandbox(description, "POST", "/given", body));
  return await readPurchase(description, purchase.id);
}

/** The part of a purchase that does not change with the chain. */
async function readPurchase(description: SandboxDescription, id: string) {
  const { api, program } = await client(description);
  const params = { path: { program, id } };
  const purchase = unwrap(await api.GET("/v1/routing/programs/{program}/purchases/{id}", { params }));
  const { commitment, terms, amount, created_at, event_id } = purchase;
  return { id: purchase.id, commitment, terms, amount, created_at, event_id };
}

/** All records that the explorer lists of a kind, the oldest first. */
async function readAll({ urls }: SandboxDescription, kind: "events" | "purchases") {
  const found: z.infer<typeof page>["data"] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const query = new URLSearchParams({ order: "oldest", ...(cursor === "" ? {} : { cursor }) });
    const response: Response = await fetch(`${urls.control}/explorer/${kind}?${query}`);
    const { data, next_cursor } = page.parse(await response.json());
    found.push(...data.map(({ id, delivery }) => (delivery === undefined ? { id } : { id, delivery })));
    cursor = next_cursor;
  }
  return found;
}

async function deliverOldest(description: SandboxDescription) {
  const { api, program } = await client(description);
  const params = { path: { program }, header: { "Idempotency-Key": "deliver-the-oldest" } };
  return unwrap(await api.POST("/v1/routing/programs/{program}/notifications", { params, body: {} }));
}

async function client({ urls, accounts }: SandboxDescription) {
  const [{ key, program } = { key: "", program: "" }] = accounts;
  const { credential } = unwrap(
    await createApiClient(urls.api, key).POST("/v1/routing/access", { body: {} }),
  );
  return { api: createApiClient(urls.api, credential), program };
}
