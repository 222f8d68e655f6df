import type { components } from "../../../sandbox/service/client/api-client.ts";
import { givenAccounts } from "../../../sandbox/service/keys/keys.ts";
import { deliveryFault } from "../faults.ts";
import { answered, refused } from "../rules.ts";
import type { ResolvedStep } from "../step.ts";
import type { Walk } from "../walk.ts";

/** Sends an earlier write again, with its key and its bytes. */
export async function repeat(walk: Walk, { about }: ResolvedStep): Promise<void> {
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
    answered(status),
    { step, text },
  );
}

/** Issues the credential of another program, if there is one. */
export async function issueForeign(walk: Walk): Promise<void> {
  const { seed, accounts } = walk.sandbox.description;
  const other = givenAccounts(seed, accounts)[1];
  if (other !== undefined) walk.credentials.foreign = await walk.issue(other.id);
}

/** Where time moves to, in seconds after a deadline: the next block is the last one within it, the first one after it, or a later one. */
const aroundDeadline = { all: -1, part: 0, over: 10 } as const;

/** Moves ahead: by a minute, or to a deadline of a purchase. */
export async function travel(walk: Walk, { choice, about, amount }: ResolvedStep): Promise<void> {
  const { now, purchases } = walk.model;
  const purchase = purchases.find(({ by }) => by === about);
  if (about !== null && purchase === undefined) return;
  const deadlines = purchase && [purchase.offerDeadline, purchase.payDeadline, purchase.claimDeadline];
  const deadline = deadlines?.[(choice % 4) - 1];
  const left = deadline === undefined ? 0 : deadline - now + aroundDeadline[amount];
  const seconds = left < 1 ? 60 : left;
  await walk.travel(seconds, `Time moves ahead by ${seconds} s`);
}

/** Removes the newest block, if it has what a wallet sent last. */
export async function reorg(walk: Walk): Promise<void> {
  await walk.reorg("A reorg removes the block of that transaction");
}

/** Delivers the oldest event that is not delivered. */
export async function deliver(
  walk: Walk,
  { fault, choice }: Pick<ResolvedStep, "fault" | "choice">,
): Promise<void> {
  const { model } = walk;
  const event = model.events.find(({ delivery }) => delivery === "undelivered");
  const failures = fault === "none" || event === undefined || !walk.mayFailDeliveries ? 0 : 1 + (choice % 2);
  if (failures > 0)
    await walk.request(
      { title: `Have ${failures} deliveries fail`, control: "POST /faults", body: deliveryFault(failures) },
      answered(201),
    );
  const status = walk.mayFailDeliveries ? { status: "delivered" } : {};
  const accepted = await walk.write({
    title: "Deliver the oldest event",
    line: `POST ${walk.program}/notifications`,
    body: {},
    expected: event === undefined ? refused(404, "outbox_empty") : answered(200, { notification: status }),
  });
  if (failures > 0)
    await walk.request({ title: "Clear the failures", control: "DELETE /faults" }, answered(200));
  if (accepted === null || event === undefined) return;
  const { notification }: components["schemas"]["NotificationDelivery"] = JSON.parse(accepted.text);
  event.delivery = notification.status === "delivered" ? "delivered" : "exhausted";
}

/** Takes a snapshot, to which a later step returns. */
export async function snapshot(walk: Walk): Promise<void> {
  await walk.save("Take a snapshot");
}

/** Restores the snapshot, if there is one. */
export async function restore(walk: Walk): Promise<void> {
  await walk.restore("Restore the snapshot");
}
