import { expect } from "vitest";
import { z } from "zod";
import type { FaultPoint } from "../../relayer/relayer.ts";
import type { SandboxDescription } from "../../sandbox/options/description.ts";
import { purchaseSchema } from "../../server/schemas/purchases.ts";
import { controlSandbox } from "../kit/control.ts";
import { readTransactions } from "./books.ts";
import type { RelayedRequest } from "./storefront.ts";

const named = z.looseObject({ id: z.string(), purchase_id: z.string().nullable() });
const listed = z.looseObject({ data: z.array(z.looseObject({ id: z.string(), status: z.string() })) });
const operations = z.looseObject({ data: z.array(named) });
const events = z.looseObject({ data: z.array(z.looseObject({ type: z.string(), subject: z.string() })) });
const timeline = z.looseObject({
  purchase: z.looseObject({ status: z.string() }),
  operations: z.array(named),
});
const found = z.looseObject({ data: z.array(named) });

/**
 * Expects every reader to tell the same of a request that crashed at a point, once the sandbox was started again and before the request is
 * repeated: what the relayer has done by itself is not recorded yet, and an award is due once its operation may be sent.
 */
export async function expectReadersToAgree(
  description: SandboxDescription,
  credential: string,
  { kind, purchase: id }: RelayedRequest,
  point: FaultPoint,
): Promise<void> {
  const explorer = async (path: string) => await controlSandbox(description, "GET", `/explorer${path}`);
  const { data: relayed } = await readTransactions(description, credential);
  const purchase = await readPurchase(description, credential, id);
  const operation = relayed.find(
    ({ kind: one, decoded }) => one === kind && decoded.args["id"] === purchase.commitment.hash,
  );
  const { data } = operations.parse(await explorer(`/operations?q=${operation?.operation_id ?? "none"}`));
  const { refund } = purchase;
  const happened = events
    .parse(await explorer(`/events?q=${id}`))
    .data.filter(({ subject }) => subject === id)
    .map(({ type }) => type);
  const { purchase: shown, operations: own } = timeline.parse(await explorer(`/purchases/${id}`));
  const list = listed.parse(await explorer(`/purchases?q=${id}`));
  expect([shown.status, ...list.data.map(({ status }) => status)]).toEqual([
    purchase.status,
    purchase.status,
  ]);
  if (kind === "offer") {
    expect(purchase).toMatchObject({ status: "created", route: null });
    expect(happened).toEqual(["purchase.created"]);
    return;
  }
  if (point === "before_intent") {
    expect([operation, refund, purchase.status]).toEqual([undefined, null, "approved"]);
    expect(happened[0]).toBe("purchase.decided");
    return;
  }
  expect(purchase.status).toBe("refund_due");
  expect(refund).toMatchObject({
    id: operation?.subject.id,
    status: "due",
    operation_id: operation?.operation_id,
    transaction_hash: operation?.status === "confirmed" ? operation.hash : null,
    event_id: purchase.event_id,
  });
  expect(happened.slice(0, 2)).toEqual(["refund.due", "purchase.decided"]);
  expect(data).toMatchObject([{ id: operation?.operation_id, purchase_id: id }]);
  expect(own.at(-1)).toMatchObject({ id: operation?.operation_id, purchase_id: id });
  expect(found.parse(await explorer(`/search?q=${refund?.id}`)).data).toMatchObject([{ purchase_id: id }]);
}

async function readPurchase({ urls, accounts }: SandboxDescription, credential: string, id: string) {
  const url = `${urls.api}/v1/routing/programs/${accounts[0]?.program}/purchases/${id}`;
  const response = await fetch(url, { headers: { Authorization: `Bearer ${credential}` } });
  const purchase: z.output<typeof purchaseSchema> = purchaseSchema.parse(await response.json());
  return purchase;
}
