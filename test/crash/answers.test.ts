import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openDirectoryStore } from "../../server/store/directory.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { codeOf, expectBooksToBalance, expectOneRecordEach, operationIn } from "./books.ts";
import { controlSandbox, isRunning } from "./control.ts";
import { sendUntilDone, start } from "./crash-series.ts";
import { type ExactAnswer, Storefront, send } from "./storefront.ts";

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
  // And the first key gets the success of its effect, whoever finished it.
  const late = await send(second.description, credential, request);
  expect(late).toMatchObject({ status: 200, replayed: false });
  expect(operationIn(late)).toEqual(operationIn(answer));
  expect(await send(second.description, credential, request)).toEqual({ ...late, replayed: true });
  await expectBooksToBalance(second.description, credential, [request]);
});

test.each(["offer", "collect_refund"] as const)(
  "keys that were answered 202 for an %s before a kill get its success once another key has finished it, also after the next kill",
  { timeout: 60_000 },
  async (kind) => {
    const folder = await temporaryFolder();
    const first = await start(folder);
    const storefront = await Storefront.open(first.description);
    const request = await storefront.prepare(kind);
    const { credential } = storefront;
    const [other, last] = ["other", "last"].map((name) => ({ ...request, key: `${request.key}-${name}` }));
    if (other === undefined || last === undefined) throw new Error("There are two more keys.");
    await controlSandbox(first.description, "POST", "/faults", { point: "after_signed", action: "hold" });
    expect((await send(first.description, credential, request)).status).toBe(202);
    await controlSandbox(first.description, "POST", "/faults", { point: "before_mined", action: "hold" });
    expect((await send(first.description, credential, other)).status).toBe(202);
    await first.end("SIGKILL");

    const second = await start(folder);
    const answer = await sendUntilDone(second.description, credential, last);
    expect(answer.status).toBe(request.success);
    await second.end("SIGKILL");

    await using third = await start(folder);
    for (const one of [request, other]) {
      const late = await send(third.description, credential, one);
      expect(late, late.text).toMatchObject({ status: request.success, replayed: false });
      expect(operationIn(late)).toEqual(operationIn(answer));
      expect(eventIn(late)).toBe(eventIn(answer));
      expect(await send(third.description, credential, one)).toEqual({ ...late, replayed: true });
    }
    expect(await send(third.description, credential, last)).toEqual({ ...answer, replayed: true });
    await expectBooksToBalance(third.description, credential, [request]);
  },
);

function eventIn({ text }: ExactAnswer): unknown {
  return JSON.parse(text).event_id;
}
