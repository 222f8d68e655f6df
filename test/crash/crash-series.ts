import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { FaultPoint, RelayOperationKind } from "../../relayer/relayer.ts";
import { isRunning } from "../../sandbox/lib/processes/processes.ts";
import type { SandboxDescription } from "../../sandbox/options/description.ts";
import { openDirectoryStore } from "../../server/store/directory/directory-store.ts";
import { type StartedSandbox, startSandbox } from "../end-to-end/started-sandbox.ts";
import { controlSandbox, mineBySeconds } from "../kit/control.ts";
import { expectBooksToBalance, expectOneRecordEach, operationIn } from "./books.ts";
import { expectReadersToAgree } from "./readers.ts";
import { type ExactAnswer, type RelayedRequest, Storefront, send } from "./storefront.ts";

/** When blocks are mined during the requests: one for each transaction, or one each second. */
export type Mining = "automine" | "interval";

/**
 * Kills a real sandbox at named points of one kind of relayed operation, restarts it each time, repeats the request, and
 * expects exactly one effect.
 */
export function crashAt(points: readonly FaultPoint[], kind: RelayOperationKind, mining: Mining): void {
  let folder: string;
  let sandbox: StartedSandbox;
  let credential: string;
  const requests = new Map<FaultPoint, RelayedRequest>();
  const done: { request: RelayedRequest; answer: ExactAnswer }[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "routing-sandbox-crash-"));
    sandbox = await start(folder);
    const storefront = await Storefront.open(sandbox.description);
    for (const point of points) requests.set(point, await storefront.prepare(kind));
    credential = storefront.credential;
    if (mining === "interval") await mineBySeconds(sandbox.description);
  }, 60_000);

  afterAll(async () => {
    await sandbox.end("SIGTERM");
    await rm(folder, { recursive: true, force: true });
  });

  test.each(points)(
    `killed at %s, the repeated ${kind} has one effect`,
    async (point) => {
      const request = requests.get(point);
      if (request === undefined) throw new Error(`Nothing is prepared for ${point}.`);
      await controlSandbox(sandbox.description, "POST", "/faults", {
        layer: "relayer",
        point,
        action: "crash",
      });
      await expect(send(sandbox.description, credential, request)).rejects.toThrow();
      await expect.poll(() => isRunning({ pid: sandbox.description.pid, started: null })).toBe(false);
      await expectNoOutcome(folder, request, point);

      sandbox = await start(folder);
      await expectReadersToAgree(sandbox.description, credential, request, point);
      if (mining === "interval") await mineBySeconds(sandbox.description);
      const answer = await sendUntilDone(sandbox.description, credential, request);
      const again = await send(sandbox.description, credential, request);
      expect(again).toEqual({ ...answer, replayed: true });
      done.push({ request, answer });
      const operations = await expectBooksToBalance(
        sandbox.description,
        credential,
        done.map((one) => one.request),
      );
      expect(operations).toContainEqual(operationIn(answer));
    },
    30_000,
  );

  test(`every ${kind} has one record, one event and one stored answer`, async () => {
    await sandbox.end("SIGTERM");
    const store = await openDirectoryStore(join(folder, "store"));
    expect(done).toHaveLength(points.length);
    await expectOneRecordEach(store, done);
    await store.close();
  });
}

/** Starts the sandbox of a folder as a person starts it. */
export async function start(folder: string): Promise<StartedSandbox> {
  return await startSandbox(folder, "--mode", "deterministic");
}

/** Sends a request until it is done; every answer before is a 202 about the same operation. */
export async function sendUntilDone(
  description: SandboxDescription,
  credential: string,
  request: RelayedRequest,
): Promise<ExactAnswer> {
  const operations = new Set<string>();
  for (;;) {
    const answer = await send(description, credential, request);
    expect([202, request.success], answer.text).toContain(answer.status);
    operations.add(operationIn(answer).operation_id);
    expect(operations.size).toBe(1);
    if (answer.status !== 202) return answer;
  }
}

/** The points before which nothing of a relayed request is recorded but its key and the relayer's intent. */
const beforeClaim: readonly FaultPoint[] = ["before_intent", "after_intent", "simulate", "nonce"];

/** Checks that the killed process stored no outcome of the request. An award is due before its collection can be sent. */
async function expectNoOutcome(folder: string, request: RelayedRequest, point: FaultPoint): Promise<void> {
  const copy = await mkdtemp(join(tmpdir(), "routing-sandbox-copy-"));
  await cp(join(folder, "store"), copy, { recursive: true });
  const store = await openDirectoryStore(copy);
  const purchase = (await store.get("purchases", request.purchase))?.value;
  const awarded = beforeClaim.includes(point) ? "approved" : "refund_due";
  expect(purchase?.status).toBe(request.kind === "offer" ? "created" : awarded);
  const kept = (await store.list("idempotency", {})).filter(({ key }) => key.endsWith(`\n${request.key}`));
  expect(kept).toMatchObject([{ value: { state: "in_progress", response: null } }]);
  await store.close();
  await rm(copy, { recursive: true, force: true });
}
