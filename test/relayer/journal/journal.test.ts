import { existsSync } from "node:fs";
import { cp, stat } from "node:fs/promises";
import { join } from "node:path";
import { zeroAddress, zeroHash } from "viem";
import { expect, test, vi } from "vitest";
import type { RelayOperationRecord, RelayOperationStatus } from "../../../relayer/relayer.ts";
import { openDirectoryStore } from "../../../server/store/directory/directory-store.ts";
import { openEphemeralStore } from "../../../server/store/journaled/journaled-store.ts";
import { relayerJournal } from "../../../server/store/stored-relayer-journal.ts";
import { relayOperation } from "../../kit/relay-operation.ts";
import { temporaryFolder } from "../../temporary-folder.ts";

const program = "prg_demo";
const other = `0x${"11".repeat(20)}` as const;
const otherEpoch = `0x${"22".repeat(32)}` as const;

test("operations are listed by sequence, whenever their status has changed", async () => {
  const journal = relayerJournal(openEphemeralStore());
  for (const sequence of [1, 2, 3, 4, 5]) await journal.write({ operation: record(sequence, "broadcast") });
  // The later ones are confirmed first.
  for (const sequence of [5, 3, 4, 1]) await journal.write({ operation: record(sequence, "confirmed") });

  const confirmed = await journal.list(program, { limit: 10, status: "confirmed" });
  expect(confirmed.map(({ sequence }) => sequence)).toEqual([1, 3, 4, 5]);
  const all = await journal.list(program, { limit: 10 });
  expect(all.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5]);
  expect(await journal.list("prg_other", { limit: 10 })).toEqual([]);
});

test("a page continues after an operation that is no longer in the list", async () => {
  const journal = relayerJournal(openEphemeralStore());
  for (const sequence of [1, 2, 3]) await journal.write({ operation: record(sequence, "broadcast") });
  const [first] = await journal.list(program, { limit: 1, status: "broadcast" });
  await journal.write({ operation: record(1, "confirmed") });
  const rest = await journal.list(program, {
    limit: 10,
    status: "broadcast",
    after: first?.operation_id ?? "",
  });
  expect(rest.map(({ sequence }) => sequence)).toEqual([2, 3]);
});

test("nonces are counted for each signer in each epoch, and found from any of them", async () => {
  const folder = await temporaryFolder();
  const store = await openDirectoryStore(folder);
  const journal = relayerJournal(store);
  // Written to the end in another order than they were claimed in.
  for (const nonce of [2, 0, 1]) await journal.write({ operation: record(nonce + 1, "signed", { nonce }) });
  await journal.write({ operation: record(4, "signed", { nonce: 7, from: other }) });
  await journal.write({ operation: record(5, "signed", { nonce: 9, epoch: otherEpoch }) });
  await journal.write({ operation: record(6, "accepted") });

  const expectNonces = async (opened: typeof journal) => {
    expect(await opened.lastNonce(zeroAddress, zeroHash)).toBe(2);
    expect(await opened.lastNonce(other, zeroHash)).toBe(7);
    expect(await opened.lastNonce(zeroAddress, otherEpoch)).toBe(9);
    expect(await opened.lastNonce(other, otherEpoch)).toBeUndefined();
    const claimed = await opened.claimed(zeroAddress, 1, zeroHash);
    expect(claimed.map(({ nonce }) => nonce)).toEqual([1, 2]);
  };
  await expectNonces(journal);
  await store.import(await store.export());
  await expectNonces(journal);
  await store.close();
  const reopened = await openDirectoryStore(folder);
  await expectNonces(relayerJournal(reopened));
  await reopened.close();
});

test("an attempt that was superseded is found by its nonce and by its operation, and is not listed", async () => {
  const folder = await temporaryFolder();
  const store = await openDirectoryStore(folder);
  const journal = relayerJournal(store);
  await journal.write({ operation: record(1, "confirmed", { nonce: 0 }) });
  const first = record(2, "reverted", { nonce: 1, superseded: true });
  const second = record(2, "broadcast", { nonce: 3, superseded: true, attempt: 2 });
  const current = record(2, "accepted", { attempt: 3 });
  await journal.write({ operation: { ...current, attempt: 2 }, superseded: first });
  await journal.write({ operation: current, superseded: second });
  await journal.write({ operation: record(3, "broadcast", { nonce: 2 }) });

  const expectAttempts = async (opened: typeof journal) => {
    expect(await opened.read("op_2")).toEqual(current);
    expect(await opened.read("op_2/1")).toBeUndefined();
    expect(await opened.superseded(current)).toEqual([first, second]);
    expect(await opened.reread(first)).toEqual(first);
    expect(await opened.reread({ ...first, superseded: false })).toEqual(current);
    const unsettled = await opened.unsettled();
    expect(unsettled.map(({ sequence, attempt }) => [sequence, attempt])).toEqual([
      [2, 3],
      [2, 2],
      [3, 1],
    ]);
    const listed = await opened.list(program, { limit: 10 });
    expect(listed.map(({ sequence, attempt }) => [sequence, attempt])).toEqual([
      [1, 1],
      [2, 3],
      [3, 1],
    ]);
    expect(await opened.lastNonce(zeroAddress, zeroHash)).toBe(3);
    const nonces = (records: RelayOperationRecord[]) => records.map(({ nonce }) => nonce);
    expect(nonces(await opened.claimed(zeroAddress, 1, zeroHash))).toEqual([1, 2, 3]);
    expect(nonces(await opened.claimedBelow(zeroAddress, 3, zeroHash, 2))).toEqual([2, 1]);
  };
  await expectAttempts(journal);
  await store.import(await store.export());
  await expectAttempts(journal);
  await store.close();
  const reopened = await openDirectoryStore(folder);
  await expectAttempts(relayerJournal(reopened));
  await reopened.close();
});

test("a journal that has grown long is compacted, and a kill at any time afterwards loses nothing", async () => {
  const folder = await temporaryFolder();
  const compactAbove = 20_000;
  const store = await openDirectoryStore(folder, compactAbove);
  const journal = relayerJournal(store);
  let longest = 0;
  for (let sequence = 1; sequence <= 200; sequence += 1) {
    await journal.write({ operation: record(sequence, "signed", { nonce: sequence - 1 }) });
    // Commits continue while the journal is compacted, and no copy of a folder that changes is one moment of it.
    await vi.waitUntil(() => !existsSync(join(folder, "store.journal.compacting")), {
      interval: 1,
    });
    longest = Math.max(longest, (await stat(join(folder, "store.journal"))).size);
  }
  const { size } = await stat(join(folder, "store.json"));
  expect(size).toBeGreaterThan(compactAbove);
  expect(longest).toBeLessThan(2 * size + compactAbove);

  // A killed process leaves the files as they are now.
  const copy = await temporaryFolder();
  await cp(folder, copy, { recursive: true });
  const reopened = await openDirectoryStore(copy);
  expect(await relayerJournal(reopened).list(program, { limit: 1_000 })).toEqual(
    await journal.list(program, { limit: 1_000 }),
  );
  await relayerJournal(reopened).write({ operation: record(201, "accepted") });
  await reopened.close();
  await store.close();
});

function record(
  sequence: number,
  status: RelayOperationStatus,
  fields: Partial<RelayOperationRecord> = {},
): RelayOperationRecord {
  const subject = { type: "purchase", id: `pur_${sequence}` } as const;
  return relayOperation({ operation_id: `op_${sequence}`, program, subject, sequence, status, ...fields });
}
