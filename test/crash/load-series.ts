import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { activationSchema, purchaseSchema } from "../../server/schemas/purchases.ts";
import { readDirectory } from "../../server/store/directory/directory-store.ts";
import type { StoreImage } from "../../server/store/store.ts";
import { actorsOf } from "../../testkit/demo/actors.ts";
import { silentPrinter } from "../../testkit/demo/printer.ts";
import { Session } from "../../testkit/demo/session.ts";
import { enrollMerchant } from "../../testkit/demo/show-merchant.ts";
import type { StartedSandbox } from "../end-to-end/started-sandbox.ts";
import { mineBySeconds } from "../kit/control.ts";
import { expectBooksToBalance } from "./books.ts";
import { type Mining, start } from "./crash-series.ts";
import { randomNumbers } from "./random-numbers.ts";
import { type ExactAnswer, type RelayedRequest, send } from "./storefront.ts";

/** The number of clients that write at the same time. */
const clients = 6;

/** The number of kills before chain and records are compared. */
const batch = 10;

/** A request that a client sent, and what it was answered before the kill. */
interface SentRequest {
  request: Pick<RelayedRequest, "path" | "key" | "body">;
  answer: ExactAnswer | null;
}

/**
 * Kills a real sandbox at random moments while clients create purchases, activate them and have their events delivered, and expects every
 * acknowledged write to be there, none to be half there, and every repeated request to be done once.
 *
 * @param seed - makes the moments; what a machine has done by then differs anyway.
 */
export function killUnderLoad(mining: Mining, runs: number, seed: number): void {
  const random = randomNumbers(seed);
  let folder: string;
  let sandbox: StartedSandbox;
  let merchant: string;
  let credential: string;
  let sentAtAll = 0;
  let unanswered = 0;
  const offers: RelayedRequest[] = [];

  const restart = async () => {
    sandbox = await start(folder);
    if (mining === "interval") await mineBySeconds(sandbox.description);
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "routing-sandbox-load-"));
    sandbox = await start(folder);
    const session = await Session.open(actorsOf(sandbox.description), silentPrinter);
    ({ id: merchant } = await enrollMerchant(session));
    ({ credential } = session);
    if (mining === "interval") await mineBySeconds(sandbox.description);
  }, 60_000);

  afterAll(async () => {
    process.stdout.write(
      `${runs} kills under load: ${unanswered} of ${sentAtAll} requests were unanswered\n`,
    );
    await sandbox.end("SIGTERM");
    await rm(folder, { recursive: true, force: true });
  });

  test.each(Array.from({ length: Math.ceil(runs / batch) }, (_, round) => round))(
    `seed ${seed}, round %i: kills at random moments under load`,
    async (round) => {
      for (let run = 0; run < Math.min(batch, runs); run += 1) {
        const sent: SentRequest[] = [];
        const name = (client: number) => `load-${seed}-${round}-${run}-${client}`;
        const write = writer(sandbox, merchant, credential, sent);
        const writing = Array.from(
          { length: clients },
          async (_, client) => await write(name(client)).catch(() => undefined),
        );
        await after(random() * 500);
        await sandbox.end("SIGKILL");
        await Promise.all(writing);
        expectNothingHalf(await readDirectory(join(folder, "store")), sent);
        await restart();
        for (const one of sent) offers.push(...(await expectDoneOnce(sandbox, credential, one)));
        sentAtAll += sent.length;
        unanswered += sent.filter(({ answer }) => answer === null).length;
      }
      await expectBooksToBalance(sandbox.description, credential, offers);
    },
    120_000,
  );
}

/** Returns what writes for a client until the sandbox is killed, and notes what it has sent. */
function writer({ description }: StartedSandbox, merchant: string, credential: string, sent: SentRequest[]) {
  const { accounts, wallets } = description;
  const program = `/v1/routing/programs/${accounts[0]?.program}`;
  const request = async (path: string, key: string, body: RelayedRequest["body"]) => {
    const one: SentRequest = { request: { path: `${program}${path}`, key, body }, answer: null };
    sent.push(one);
    one.answer = await send(description, credential, one.request);
    return one.answer;
  };
  return async (client: string): Promise<void> => {
    for (let count = 1; ; count += 1) {
      const created = await request("/purchases", `${client}-create-${count}`, {
        merchant_id: merchant,
        buyer: wallets["buyer"]?.address ?? "",
        beneficiary: wallets["beneficiary"]?.address ?? "",
        amount: "1000",
        terms: { client, count },
      });
      const { id, commitment, event_id } = purchaseSchema.parse(JSON.parse(created.text));
      await request("/notifications", `${client}-deliver-${count}`, { event_id });
      await request(`/purchases/${id}/activate`, `${client}-activate-${count}`, {
        commitment_hash: commitment.hash,
      });
    }
  };
}

/**
 * Repeats a request until it is done; what was acknowledged before the kill is answered with the same bytes.
 *
 * @returns the offer that it has the relayer make, if any.
 */
async function expectDoneOnce(
  { description }: StartedSandbox,
  credential: string,
  { request, answer: before }: SentRequest,
): Promise<RelayedRequest[]> {
  let answer = await send(description, credential, request);
  while (answer.status === 202) answer = await send(description, credential, request);
  expect([200, 201]).toContain(answer.status);
  if (before !== null && before.status !== 202) expect(answer).toEqual({ ...before, replayed: true });
  expect(await send(description, credential, request)).toEqual({ ...answer, replayed: true });
  if (!request.path.endsWith("/activate")) return [];
  const { purchase } = activationSchema.parse(JSON.parse(answer.text));
  const { id, commitment } = purchase;
  return [{ ...request, kind: "offer", success: 200, purchase: id, commitment: commitment.hash }];
}

/** Checks that a kill left complete commits: each record with its event and its stored answer, each event with its record. */
function expectNothingHalf(image: StoreImage, sent: readonly SentRequest[]): void {
  const { collections } = image;
  const values = <T>(records: { [key: string]: { value: T } } = {}) =>
    Object.values(records).map(({ value }) => value);
  const events = values(collections.events);
  for (const program of new Set(events.map((event) => event.program))) {
    const sequences = events.filter((event) => event.program === program).map(({ sequence }) => sequence);
    expect(sequences).toEqual(sequences.map((_, index) => index + 1));
    expect(image.counters[`outbox/${program}`]).toBe(sequences.length);
  }
  const subjects = (type: string) =>
    events.flatMap((event) => (event.type === type ? [event.subject] : [])).toSorted();
  const purchases = values(collections.purchases);
  expect(subjects("purchase.created")).toEqual(purchases.map(({ id }) => id).toSorted());
  const active = purchases.flatMap(({ id, status }) => (status === "active" ? [id] : [])).toSorted();
  expect(subjects("purchase.activated")).toEqual(active);
  const uses = values(collections.used_transactions).flatMap(({ step, subject }) =>
    step === "offer" ? [subject] : [],
  );
  expect(uses.toSorted()).toEqual(active);
  for (const { event_id, status } of values(collections.notifications))
    expect(collections.events?.[event_id]?.value.delivery).toBe(
      status === "pending" ? "undelivered" : status,
    );
  const answers = new Map(
    Object.entries(collections.idempotency ?? {}).map(([key, { value }]) => [
      key.split("\n").at(-1),
      value.response,
    ]),
  );
  for (const { request, answer } of sent)
    if (answer !== null && answer.status !== 202)
      expect(answers.get(request.key)).toEqual({ status: answer.status, body: answer.text });
}
