import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RelayOperationKind } from "../../relayer/relayer.ts";
import { openDirectoryStore } from "../../server/store/directory/directory-store.ts";
import { cli } from "../cli/program.ts";
import type { StartedSandbox } from "../end-to-end/started-sandbox.ts";
import { expectBooksToBalance, expectOneRecordEach } from "./books.ts";
import { sendUntilDone, start } from "./crash-series.ts";
import { randomNumbers } from "./random-numbers.ts";
import { type ExactAnswer, type RelayedRequest, Storefront, send } from "./storefront.ts";

/** The number of requests that are prepared at a time. */
const batch = 10;

/** No start lasts longer than this, so that a kill in it falls anywhere. */
const startMs = 600;

/**
 * Kills a real sandbox at random moments of one kind of relayed operation, every fourth time once more while it starts again, and
 * expects exactly one effect of each repeated request.
 *
 * @param seed - makes the moments; what a machine has done by then differs anyway.
 */
export function killAtRandom(kind: RelayOperationKind, runs: number, seed: number): void {
  const random = randomNumbers(seed);
  let folder: string;
  let sandbox: StartedSandbox;
  let storefront: Storefront;
  const done: { request: RelayedRequest; answer: ExactAnswer }[] = [];
  // Grows to the longest time that an answer has taken.
  let longestMs = 100;
  let killedFirst = 0;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "routing-sandbox-crash-"));
    sandbox = await start(folder);
    storefront = await Storefront.open(sandbox.description);
  }, 60_000);

  afterAll(async () => {
    process.stdout.write(`${kind}: ${killedFirst} of ${runs} were killed before they answered\n`);
    await sandbox.end("SIGTERM");
    await rm(folder, { recursive: true, force: true });
  });

  const rounds = Array.from({ length: runs / batch }, (_, round) => round);
  test.each(rounds)(
    `seed ${seed}, round %i: ${batch} kills at random moments`,
    async () => {
      storefront = await storefront.reopen(sandbox.description);
      const requests: RelayedRequest[] = [];
      for (let index = 0; index < batch; index += 1) requests.push(await storefront.prepare(kind));
      const { credential } = storefront;
      for (const [index, request] of requests.entries()) {
        const killed = await killDuring(sandbox, credential, request, random() * longestMs);
        longestMs = Math.max(longestMs, killed.tookMs);
        if (killed.answer === null) killedFirst += 1;
        if (index % 4 === 3) await killWhileItStarts(folder, random() * startMs);

        sandbox = await start(folder);
        const answer = await repeat(sandbox, credential, request, killed.answer);
        done.push({ request, answer });
      }
      await expectBooksToBalance(
        sandbox.description,
        credential,
        done.map(({ request }) => request),
      );
    },
    120_000,
  );

  test(`every ${kind} has one record, one event and one stored answer`, async () => {
    await sandbox.end("SIGTERM");
    const store = await openDirectoryStore(join(folder, "store"));
    expect(done).toHaveLength(runs);
    await expectOneRecordEach(store, done);
    await store.close();
    sandbox = await start(folder);
  }, 60_000);
}

/** Sends a request and kills the sandbox after a time. @returns its answer, if that came first, and how long it took. */
async function killDuring(
  { description, end }: StartedSandbox,
  credential: string,
  request: RelayedRequest,
  delayMs: number,
): Promise<{ answer: ExactAnswer | null; tookMs: number }> {
  const began = performance.now();
  const answering = send(description, credential, request).then(
    (answer) => ({ answer, tookMs: performance.now() - began }),
    () => ({ answer: null, tookMs: 0 }),
  );
  await after(delayMs);
  await end("SIGKILL");
  return await answering;
}

/** Repeats a request until it is done, and expects the answer that came before the kill, if that was a success. */
async function repeat(
  { description }: StartedSandbox,
  credential: string,
  request: RelayedRequest,
  first: ExactAnswer | null,
): Promise<ExactAnswer> {
  const answer = await sendUntilDone(description, credential, request);
  if (first?.status === request.success) expect(answer).toEqual({ ...first, replayed: true });
  const again = await send(description, credential, request);
  expect(again).toEqual({ ...answer, replayed: true });
  return answer;
}

async function killWhileItStarts(folder: string, delayMs: number): Promise<void> {
  const ports = ["api", "docs", "rpc", "control"].flatMap((name) => [`--${name}-port`, "0"]);
  const options = ["start", "--data-dir", folder, "--mode", "deterministic", ...ports];
  const child = spawn(process.execPath, [cli, ...options], { stdio: "ignore" });
  const exited = once(child, "exit");
  await after(delayMs);
  child.kill("SIGKILL");
  await exited;
}
