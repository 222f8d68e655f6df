import type { components } from "../../../sandbox/client/api-client.ts";
import { givenAccounts } from "../../../sandbox/service/keys.ts";
import { deliveryAnswer, refusalAnswer, successAnswer } from "../rules.ts";
import { verifyPurchase } from "../verify.ts";
import type { Walk } from "../walk.ts";
import { deliveryFault } from "./faults.ts";
import { refund } from "./refunds.ts";
import type { ResolvedStep } from "./step.ts";

/** Sends an earlier write again, with its key and its bytes. */
async function repeat(walk: Walk, { about }: ResolvedStep): Promise<void> {
  const before = walk.model.writes.find(({ by }) => by === about);
  if (before === undefined) return;
  const { step, line, key, body, status, text, wallet } = before;
  await walk.request(
    {
      title: `Send step ${step} again`,
      api: line,
      ...(wallet ? {} : { as: walk.credentials.own }),
      idempotency_key: key,
      body: JSON.parse(body),
    },
    successAnswer(status),
    { step, text },
  );
}

/** Issues the credential of another program, if there is one. */
async function issueForeign(walk: Walk): Promise<void> {
  const { seed, accounts } = walk.sandbox.description;
  const other = givenAccounts(seed, accounts)[1];
  if (other !== undefined) walk.credentials.foreign = await walk.issue(other.id);
}

/** Seconds after a deadline at which a travel stops: the next block is the last one within it, the first one after it, or a later one. */
const stops = [-1, 0, 10] as const;
const lastStop = { all: -1, part: 0, over: 10 } as const;

/** Moves ahead: by a minute, or around a deadline of a purchase, which is read and asked for what it takes at each stop. */
async function travel(walk: Walk, step: ResolvedStep): Promise<void> {
  const { choice, about, amount } = step;
  const purchase = walk.model.purchases.find(({ by }) => by === about);
  if (about !== null && purchase === undefined) return;
  const deadlines = purchase && [purchase.offerDeadline, purchase.payDeadline, purchase.claimDeadline];
  const deadline = deadlines?.[(choice % 4) - 1];
  const move = async (seconds: number) => {
    await walk.travel(seconds, `Time moves ahead by ${seconds} s`);
    await walk.followChain();
  };
  if (purchase === undefined || deadline === undefined || deadline + lastStop[amount] <= walk.model.now)
    return await move(60);
  for (const stop of stops) {
    const seconds = deadline + stop - walk.model.now;
    if (seconds < 1 || stop > lastStop[amount]) continue;
    await move(seconds);
    // No purchase is refunded by a decision that does not exist: the refusal names what it takes now.
    await refund(walk, { ...step, mistake: "value", fault: "none" }, purchase);
    await verifyPurchase(walk, purchase);
  }
}

/** Removes the newest block, if it has what a wallet sent last. */
async function reorg(walk: Walk): Promise<void> {
  await walk.reorg("A reorg removes the block of that transaction");
}

/** How many deliveries fail, and with which status: some, all that are made, more than are made, and one after which none is made. */
const failed = [
  { failures: 1, code: 503 },
  { failures: 2, code: 503 },
  { failures: 4, code: 503 },
  { failures: 5, code: 503 },
  { failures: 6, code: 503 },
  { failures: 1, code: 410 },
] as const;

const unfailed = { failures: 0, code: 503 } as const;

/** Delivers the oldest event that is not delivered. */
export async function deliver(
  walk: Walk,
  { fault, choice }: Pick<ResolvedStep, "fault" | "choice">,
): Promise<void> {
  const { model } = walk;
  const event = model.events.find(({ delivery }) => delivery === "undelivered");
  const mayFail = fault !== "none" && event !== undefined && walk.mayFailDeliveries;
  const { failures, code } = mayFail ? (failed[choice % failed.length] ?? unfailed) : unfailed;
  if (failures > 0) {
    const title = `Have ${failures} deliveries fail with ${code}`;
    await walk.request(
      { title, control: "POST /faults", body: deliveryFault(code, failures) },
      successAnswer(201),
    );
  }
  const status = walk.mayFailDeliveries ? deliveryAnswer(failures, code) : {};
  const accepted = await walk.write({
    title: "Deliver the oldest event",
    line: `POST ${walk.program}/notifications`,
    body: {},
    expected:
      event === undefined ? refusalAnswer(404, "outbox_empty") : successAnswer(200, { notification: status }),
  });
  if (failures > 0)
    await walk.request({ title: "Clear the failures", control: "DELETE /faults" }, successAnswer(200));
  if (accepted === null || event === undefined) return;
  const { notification }: components["schemas"]["NotificationDelivery"] = JSON.parse(accepted.text);
  event.delivery = notification.status === "delivered" ? "delivered" : "exhausted";
  event.id = notification.event_id;
}

/** Sends one of the newest delivered events to the caller's receiver once more, whose backend must process it once. */
async function resend(walk: Walk, { choice }: ResolvedStep): Promise<void> {
  const sent = walk.model.events.filter(({ id }) => id !== null);
  const event = sent.at(-1 - (choice % Math.max(1, sent.length)));
  if (event === undefined || event.id === null) return;
  const title = `Send event ${walk.model.events.indexOf(event) + 1} again`;
  const body = { event_id: event.id };
  await walk.request({ title, control: "POST /receiver/resend", body }, successAnswer(200));
}

/** Takes a snapshot, to which a later step returns. */
async function snapshot(walk: Walk): Promise<void> {
  await walk.save("Take a snapshot");
}

/** Restores the snapshot, if there is one. */
async function restore(walk: Walk): Promise<void> {
  await walk.restore("Restore the snapshot");
}

/** The steps about no merchant and no purchase. */
export const surroundingMoves = { repeat, issueForeign, travel, reorg, deliver, resend, snapshot, restore };
