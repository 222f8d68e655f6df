import { afterAll, beforeAll, expect, test } from "vitest";
import { type FaultAction, faultPlacements, type RelayOperationKind } from "../../relayer/relayer.ts";
import { createSandbox, type Sandbox } from "../../sandbox/create-sandbox.ts";
import type { FaultRequest } from "../../sandbox/faults/fault-request.ts";
import type { Snapshot } from "../../sandbox/snapshots/snapshot.ts";
import { controlSandbox, mineBySeconds } from "../kit/control.ts";
import { codeOf, expectBooksToBalance, expectOneRecordEach, operationIn, readTransactions } from "./books.ts";
import { type Mining, sendUntilDone } from "./crash-series.ts";
import { type ExactAnswer, type RelayedRequest, Storefront, send } from "./storefront.ts";

/** The number of relayed transactions before the one with the fault: as many as the deepest reorg removes. */
const fillers = 5;

/** A fault of the relayer. */
export type RelayerFault = Extract<FaultRequest, { layer: "relayer" }>;

/** Every fault of the relayer but the death of the process, at every point where it can act. */
export const relayerFaults: readonly RelayerFault[] = (Object.keys(faultPlacements) as FaultAction[])
  .filter((action) => action !== "crash")
  .flatMap((action) =>
    faultPlacements[action].flatMap((point) => {
      const fault = { layer: "relayer", point, action } as const;
      return action === "reorg" ? [1, 2, 3, 4, 5].map((depth) => ({ ...fault, depth })) : [fault];
    }),
  );

/**
 * Sends one relayed request for each fault, again and again until it is done, and expects exactly one effect, or none at all when
 * another program has used its nonce.
 */
export function meetFaults(chosen: readonly RelayerFault[], kind: RelayOperationKind, mining: Mining): void {
  let sandbox: Sandbox;
  let snapshot: Snapshot;
  let request: RelayedRequest;
  let credential: string;
  const before: RelayedRequest[] = [];

  beforeAll(async () => {
    sandbox = await createSandbox({ seed: "faults", receiptTimeoutMs: mining === "automine" ? 200 : 1_500 });
    const { description } = sandbox;
    const storefront = await Storefront.open(description);
    request = await storefront.prepare(kind);
    for (let filler = 0; filler < fillers; filler += 1) before.push(await storefront.prepare("offer"));
    credential = storefront.credential;
    snapshot = await sandbox.snapshot();
  }, 60_000);

  afterAll(async () => {
    await sandbox.close();
  });

  test.each(chosen)(
    `$action at $point (depth $depth): ${kind} under ${mining}`,
    async (fault) => {
      const { description, store } = sandbox;
      if (mining === "interval") {
        await sandbox.chain.client.setIntervalMining({ interval: 0 });
        await sandbox.chain.client.setAutomine(true);
      }
      await snapshot.restore();
      // After the restore, because no snapshot outlives a reorg that takes the block it was taken at.
      for (const filler of before) await sendUntilDone(description, credential, filler);
      if (mining === "interval") await mineBySeconds(description);
      const placed = await controlSandbox(description, "POST", "/faults", { ...fault });
      expect(placed).toMatchObject({ ...fault, hits: 0, remaining: 1 });

      const answer = await sendUntilSettled(sandbox, credential, request);
      const taken = codeIn(answer) === "outcome_unknown";
      expect(taken).toBe(fault.action === "foreign_nonce" && fault.point === "broadcast");
      await awaitSettled(
        sandbox,
        credential,
        (status) => status === "confirmed" || (taken && status === "needs_attention"),
      );

      const done = taken ? before : [...before, request];
      const foreign = fault.action === "foreign_nonce" ? 1 : 0;
      const operations = await expectBooksToBalance(description, credential, done, foreign);
      const moved = operations.filter(({ reorg_count }) => reorg_count > 0);
      if (fault.action !== "reorg") expect(moved).toEqual([]);
      else if (mining === "automine" && fault.point === "after_confirmed")
        expect(moved).toHaveLength(fault.depth ?? 0);
      if (taken) return;
      await expectOneRecordEach(store, [{ request, answer }]);
      const again = await send(description, credential, request);
      expect(again).toEqual({ ...answer, replayed: true });
    },
    60_000,
  );
}

/** Waits until every relayed transaction has an end. */
async function awaitSettled(
  { description }: Sandbox,
  credential: string,
  isEnd: (status: string) => boolean,
): Promise<void> {
  await expect
    .poll(
      async () => (await readTransactions(description, credential)).data.every(({ status }) => isEnd(status)),
      { timeout: 20_000 },
    )
    .toBe(true);
}

/** Repeats a request until it is done or only a person can find its outcome; does meanwhile what a person would. */
async function sendUntilSettled(
  sandbox: Sandbox,
  credential: string,
  request: RelayedRequest,
): Promise<ExactAnswer> {
  const { description, relayer, faults } = sandbox;
  const operations = new Set<string>();
  for (;;) {
    const answer = await send(description, credential, request);
    const [fault] = faults.list();
    if (fault !== undefined) expect(fault.hits).toBe(1);
    if (answer.status === request.success) {
      const { operation_id } = operationIn(answer);
      expect([...operations.add(operation_id)]).toEqual([operation_id]);
      return answer;
    }
    if (answer.status === 202) {
      const { operation_id } = operationIn(answer);
      expect([...operations.add(operation_id)]).toEqual([operation_id]);
      if (fault?.action === "pause_mining") await controlSandbox(description, "DELETE", "/faults");
      continue;
    }
    expect([answer.status, codeOf(answer)]).toEqual([409, "outcome_unknown"]);
    const waiting = await relayer.list(description.accounts[0]?.program ?? "", {
      limit: 1,
      status: "needs_attention",
    });
    const [stopped] = waiting;
    if (stopped?.status_reason !== "foreign_nonce") {
      expect(stopped).toMatchObject({ status_reason: "nonce_taken", hashes: [{ purpose: "original" }] });
      return answer;
    }
    await relayer.resume(stopped.operation_id);
  }
}

function codeIn(answer: ExactAnswer): string | null {
  return answer.status < 400 ? null : codeOf(answer);
}
