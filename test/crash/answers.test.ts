import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openDirectoryStore } from "../../server/store/directory.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { codeOf, expectBooksToBalance, expectOneRecordEach } from "./books.ts";
import { controlSandbox, isRunning } from "./control.ts";
import { sendUntilDone, start } from "./crash-series.ts";
import { Storefront, send } from "./storefront.ts";

test("what was answered, or only committed, before a kill is answered again to the byte", {
  timeout: 60_000,
}, async () => {
  const folder = await temporaryFolder();
  const first = await start(folder);
  const storefront = await Storefront.open(first.description);
  const [answered, unread] = [await storefront.prepare("offer"), await storefront.prepare("collect_refund")];
  const { credential } = storefront;
  const answer = await send(first.description, credential, answered);
  expect(answer).toMatchObject({ status: 200, replayed: false });

  // The outcome is on disk; whatever becomes of the answer, nobody reads it.
  const lost = send(first.description, credential, unread).catch(() => null);
  const journal = join(folder, "store", "store.journal");
  const committed = async () =>
    (await readFile(journal, "utf8"))
      .split("\n")
      .some((line) => line.includes(unread.key) && line.includes('"state":"done"'));
  await expect.poll(committed, { interval: 1 }).toBe(true);
  await first.end("SIGKILL");
  await lost;

  await using second = await start(folder);
  expect(await send(second.description, credential, answered)).toEqual({ ...answer, replayed: true });
  const replayed = await send(second.description, credential, unread);
  expect(replayed).toMatchObject({ status: 201, replayed: true });
  await expectBooksToBalance(second.description, credential, [answered, unread]);
  await second.end("SIGTERM");
  const store = await openDirectoryStore(join(folder, "store"));
  await expectOneRecordEach(store, [
    { request: answered, answer },
    { request: unread, answer: replayed },
  ]);
  await store.close();
});

test("a key whose request died stands for that request and no other", { timeout: 60_000 }, async () => {
  const folder = await temporaryFolder();
  const first = await start(folder);
  const storefront = await Storefront.open(first.description);
  const request = await storefront.prepare("offer");
  const { credential } = storefront;
  await controlSandbox(first.description, "POST", "/faults", { point: "after_confirmed", action: "crash" });
  await expect(send(first.description, credential, request)).rejects.toThrow();
  await expect.poll(() => isRunning(first.description.pid)).toBe(false);

  await using second = await start(folder);
  const other = { ...request, body: { commitment_hash: `0x${"00".repeat(32)}` } };
  const refused = await send(second.description, credential, other);
  expect([refused.status, codeOf(refused)]).toEqual([422, "idempotency_key_reused"]);
  // Another key that means the same effect finds the same operation.
  const renamed = { ...request, key: `${request.key}-again` };
  const answer = await sendUntilDone(second.description, credential, renamed);
  expect(answer.status).toBe(200);
  const late = await send(second.description, credential, request);
  expect([late.status, codeOf(late)]).toEqual([409, "state_conflict"]);
  await expectBooksToBalance(second.description, credential, [request]);
});
