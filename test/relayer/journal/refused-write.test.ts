import { expect, test } from "vitest";
import type { RelayerJournal } from "../../../relayer/relayer.ts";
import { openRelayerKits } from "../../kit/relayer-kit.ts";
import { type HeldDisk, holdDisk } from "../../server/store/directory/held-disk.ts";

const openKit = openRelayerKits();
const refusal = { name: "StoreUnavailableError" };

/** A disk that refuses what is written after one look at the journal, as soon as a second look has seen it. */
class RefusingDisk {
  #read: "budget" | "lastNonce" | null = null;
  #looks = 0;
  #held: HeldDisk | null = null;
  #writes: Promise<void>[] = [];

  /** Waits for two looks of a kind. */
  refuse(read: "budget" | "lastNonce"): void {
    this.#read = read;
  }

  wrapJournal = (journal: RelayerJournal): RelayerJournal => ({
    ...journal,
    ahead: () => {
      const { budget, lastNonce, write } = journal.ahead();
      return {
        budget: async (program) => {
          const found = await budget(program);
          await this.#look("budget");
          return found;
        },
        lastNonce: async (signer, epoch) => {
          const found = await lastNonce(signer, epoch);
          await this.#look("lastNonce");
          return found;
        },
        write: async (step) => {
          const written = write(step);
          this.#writes.push(written);
          await written;
        },
      };
    },
  });

  async #look(read: "budget" | "lastNonce"): Promise<void> {
    if (read !== this.#read) return;
    this.#looks += 1;
    if (this.#looks === 1) {
      this.#held = await holdDisk();
      this.#writes = [];
    }
    if (this.#looks !== 2 || this.#held === null) return;
    (await this.#held.next()).fail();
    await Promise.allSettled(this.#writes);
    this.#held.release();
  }
}

test("if the disk refuses a nonce, the next one is refused too, and both are assigned later without a gap", async () => {
  const disk = new RefusingDisk();
  const kit = await openKit({ wrapJournal: disk.wrapJournal });
  const intents = [await kit.offer("first"), await kit.offer("second")];
  await kit.faults.set({ layer: "relayer", point: "after_intent", action: "hold", count: 2 });
  for (const intent of intents)
    expect(await kit.relayer.submit(intent)).toMatchObject({ status: "accepted", nonce: null });

  disk.refuse("lastNonce");
  const refused = await Promise.allSettled(intents.map((intent) => kit.relayer.submit(intent)));
  expect(refused).toMatchObject([
    { status: "rejected", reason: refusal },
    { status: "rejected", reason: refusal },
  ]);
  expect(await kit.mined()).toEqual([]);
  const operations = await Promise.all(intents.map((intent) => kit.relayer.submit(intent)));
  expect(operations.map(({ status, nonce }) => [status, nonce]).toSorted()).toEqual([
    ["confirmed", 0],
    ["confirmed", 1],
  ]);
  await kit.expectBooksToBalance();
});

test("if the disk refuses a reservation, the next one is refused too, and neither stays in the budget", async () => {
  const disk = new RefusingDisk();
  const kit = await openKit({ wrapJournal: disk.wrapJournal });
  const intents = [await kit.offer("first"), await kit.offer("second")];
  const before = await kit.relayer.budget(intents[0]?.program ?? "");
  disk.refuse("budget");
  const refused = await Promise.allSettled(intents.map((intent) => kit.relayer.submit(intent)));
  expect(refused).toMatchObject([
    { status: "rejected", reason: refusal },
    { status: "rejected", reason: refusal },
  ]);
  expect(await kit.relayer.budget(intents[0]?.program ?? "")).toEqual(before);
  const operations = await Promise.all(intents.map((intent) => kit.relayer.submit(intent)));
  expect(operations.map(({ status, sequence }) => [status, sequence]).toSorted()).toEqual([
    ["confirmed", 1],
    ["confirmed", 2],
  ]);
  await kit.expectBooksToBalance();
});

test("a nonce that is being written stays assigned if the node does not answer", async () => {
  const holding = Promise.withResolvers<HeldDisk>();
  const asked = Promise.withResolvers<void>();
  let looks = 0;
  const kit = await openKit({
    wrapJournal: (journal) => ({
      ...journal,
      ahead: () => {
        const ahead = journal.ahead();
        const lastNonce: typeof ahead.lastNonce = async (...parts) => {
          holding.resolve(await holdDisk());
          return await ahead.lastNonce(...parts);
        };
        return { ...ahead, lastNonce };
      },
    }),
    chain: {
      identity: async () => {
        looks += 1;
        // The first look is made when the operation is accepted, the second one before it is sent.
        if (looks !== 2) return kit.chain.deployment;
        asked.resolve();
        throw new Error("ECONNREFUSED");
      },
    },
  });
  const intent = await kit.offer("claimed");
  const submitted = kit.relayer.submit(intent);
  using disk = await holding.promise;
  const sync = await disk.next();
  await asked.promise;
  sync.pass();
  disk.release();
  expect(await submitted).toMatchObject({ status: "signed", status_reason: "rpc_unavailable", nonce: 0 });
  await kit.expectExactlyOnce(await kit.relayer.submit(intent));
});
