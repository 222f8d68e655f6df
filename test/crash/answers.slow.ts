import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isRunning } from "../../sandbox/lib/processes/processes.ts";
import { openDirectoryStore } from "../../server/store/directory/directory-store.ts";
import type { StartedSandbox } from "../end-to-end/started-sandbox.ts";
import { controlSandbox } from "../kit/control.ts";
import { codeOf, expectBooksToBalance, expectOneRecordEach, operationIn } from "./books.ts";
import { sendUntilDone, start } from "./crash-series.ts";
import { type ExactAnswer, type RelayedRequest, Storefront, send } from "./storefront.ts";

// The sandbox that one kill is survived by is the one that the next kill hits.
let folder: string;
let sandbox: StartedSandbox;
let credential: string;
const requests = new Map<string, RelayedRequest>();
const finished: RelayedRequest[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "routing-sandbox-answers-"));
  sandbox = await start(folder);
  const storefront = await Storefront.open(sandbox.description);
  for (const name of ["crashes", "offer", "answered"]) requests.set(name, await storefront.prepare("offer"));
  for (const name of ["collect_refund", "unread"])
    requests.set(name, await storefront.prepare("collect_refund"));
  credential = storefront.credential;
}, 60_000);

afterAll(async () => {
  await sandbox.end("SIGTERM");
  await rm(folder, { recursive: true, force: true });
});

function prepared(name: string): RelayedRequest {
  const request = requests.get(name);
  if (request === undefined) throw new Error(`Nothing is prepared for ${name}.`);
  return request;
}

/** Expects the books to balance with these requests, which are done now, and with all before them. */
async function expectBooksOf(...done: RelayedRequest[]): Promise<void> {
  finished.push(...done);
  await expectBooksToBalance(sandbox.description, credential, finished);
}

test("a key whose request crashed belongs to that request and no other", async () => {
  const { description } = sandbox;
  const request = prepared("crashes");
  await controlSandbox(description, "POST", "/faults", {
    layer: "relayer",
    point: "after_confirmed",
    action: "crash",
  });
  await expect(send(description, credential, request)).rejects.toThrow();
  await expect.poll(() => isRunning({ pid: description.pid, started: null })).toBe(false);

  sandbox = await start(folder);
  const other = { ...request, body: { commitment_hash: `0x${"00".repeat(32)}` } };
  const refused = await send(sandbox.description, credential, other);
  expect([refused.status, codeOf(refused)]).toEqual([422, "idempotency_key_reused"]);
  // Another key that means the same effect finds the same operation.
  const renamed = { ...request, key: `${request.key}-again` };
  const answer = await sendUntilDone(sandbox.description, credential, renamed);
  expect(answer.status).toBe(200);
  // And the first key gets the success of its effect, no matter which process finished it.
  const late = await send(sandbox.description, credential, request);
  expect(late).toMatchObject({ status: 200, replayed: false });
  expect(operationIn(late)).toEqual(operationIn(answer));
  expect(await send(sandbox.description, credential, request)).toEqual({ ...late, replayed: true });
  await expectBooksOf(request);
});

test.each(["offer", "collect_refund"] as const)(
  "keys that were answered 202 for an %s before a kill get its success once another key has finished it, also after the next kill",
  async (kind) => {
    const { description } = sandbox;
    const request = prepared(kind);
    const [other, last] = ["other", "last"].map((name) => ({ ...request, key: `${request.key}-${name}` }));
    if (other === undefined || last === undefined) throw new Error("There are two more keys.");
    await controlSandbox(description, "POST", "/faults", {
      layer: "relayer",
      point: "after_signed",
      action: "hold",
    });
    expect((await send(description, credential, request)).status).toBe(202);
    await controlSandbox(description, "POST", "/faults", {
      layer: "relayer",
      point: "before_mined",
      action: "hold",
    });
    expect((await send(description, credential, other)).status).toBe(202);
    await sandbox.end("SIGKILL");

    sandbox = await start(folder);
    const answer = await sendUntilDone(sandbox.description, credential, last);
    expect(answer.status).toBe(request.success);
    await sandbox.end("SIGKILL");

    sandbox = await start(folder);
    for (const one of [request, other]) {
      const late = await send(sandbox.description, credential, one);
      expect(late, late.text).toMatchObject({ status: request.success, replayed: false });
      expect(operationIn(late)).toEqual(operationIn(answer));
      expect(eventIn(late)).toBe(eventIn(answer));
      expect(await send(sandbox.description, credential, one)).toEqual({ ...late, replayed: true });
    }
    expect(await send(sandbox.description, credential, last)).toEqual({ ...answer, replayed: true });
    await expectBooksOf(request);
  },
);

test("an answer that was sent, or only committed, before a kill is sent again byte for byte", async () => {
  const { description } = sandbox;
  const [answered, unread] = [prepared("answered"), prepared("unread")];
  const answer = await send(description, credential, answered);
  expect(answer).toMatchObject({ status: 200, replayed: false });

  // The outcome is on disk; the answer is not read, whatever it is.
  const lost = send(description, credential, unread).catch(() => null);
  const journal = join(folder, "store", "store.journal");
  const committed = async () =>
    (await readFile(journal, "utf8"))
      .split("\n")
      .some((line) => line.includes(unread.key) && line.includes('"state":"done"'));
  await expect.poll(committed, { interval: 1 }).toBe(true);
  await sandbox.end("SIGKILL");
  await lost;

  sandbox = await start(folder);
  expect(await send(sandbox.description, credential, answered)).toEqual({ ...answer, replayed: true });
  const replayed = await send(sandbox.description, credential, unread);
  expect(replayed).toMatchObject({ status: 201, replayed: true });
  await expectBooksOf(answered, unread);
  await sandbox.end("SIGTERM");
  const store = await openDirectoryStore(join(folder, "store"));
  await expectOneRecordEach(store, [
    { request: answered, answer },
    { request: unread, answer: replayed },
  ]);
  await store.close();
});

function eventIn({ text }: ExactAnswer): unknown {
  return JSON.parse(text).event_id;
}
