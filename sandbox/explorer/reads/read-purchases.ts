import type { z } from "zod";
import { toTimestamp } from "../../../protocol/values/time.ts";
import { copyFields } from "../../../server/http/answers/copy-fields.ts";
import { purchaseStatusSchema, purchaseTextsSchema } from "../../../server/schemas/purchases.ts";
import { asJournaled, currentPurchase } from "../../../server/store/records/status-after-reorg.ts";
import type { PurchaseRecord } from "../../../server/store/records.ts";
import type { Sources } from "../sources.ts";
import { type FiguresView, type PurchaseView, type PurchaseViews, purchaseViewSchema } from "../views.ts";
import { pageQuery, readPage } from "./page.ts";
import { readFigures } from "./read-figures.ts";
import { viewBlockPoint } from "./view-block-point.ts";

/** The query of the purchases. */
export const purchasesQuery = pageQuery.extend({ status: purchaseStatusSchema.optional() });

/** Reads a page of the purchases of all programs, with their money at one block. */
export async function readPurchases(
  query: z.output<typeof purchasesQuery>,
  sources: Sources,
): Promise<PurchaseViews> {
  const { services, node, reader, labels } = sources;
  const journaled = asJournaled(services, await services.relayer.unknownOutcomes());
  const { cursor, status, program, q } = query;
  const searching = status !== undefined || (q !== undefined && q !== "");
  const keep = async (purchase: PurchaseRecord) =>
    mentions(purchase, q) &&
    (status === undefined || (await currentPurchase(purchase, journaled)).status === status);
  const filter = program === undefined ? {} : { program };
  const page = await readPage(services.store, "purchases", filter, {
    cursor,
    order: query.order,
    limit: query.limit,
    ...(searching ? { keep } : {}),
  });
  const records = await Promise.all(
    page.data.map(async ({ value }) => await currentPurchase(value, journaled)),
  );
  const ids = [...new Set(records.map(({ merchant_id }) => merchant_id))];
  const merchants = await Promise.all(ids.map(async (id) => await services.store.get("merchants", id)));
  const names = new Map(merchants.map((merchant, index) => [ids[index], merchant?.value.name]));
  return await reader.atOneHead(async (head) => {
    const figures = await readFigures(records, head, node, services.deployment);
    const data = records.flatMap((record, index) => {
      const found = figures[index];
      return found === undefined
        ? []
        : [viewListedPurchase(record, names.get(record.merchant_id), found, labels)];
    });
    return { data, next_cursor: page.next_cursor, as_of: viewBlockPoint(head) };
  });
}

/** A purchase in the shape that is answered. */
export function viewListedPurchase(
  purchase: PurchaseRecord,
  merchantName: string | undefined,
  figures: FiguresView,
  labels: Sources["labels"],
): PurchaseView {
  return {
    ...copyFields(purchaseViewSchema, purchase),
    merchant_name: merchantName ?? purchase.merchant_id,
    merchant: labels.view(purchase.merchant),
    buyer: labels.view(purchase.buyer),
    beneficiary: labels.view(purchase.beneficiary),
    deadlines: {
      offer_at: toTimestamp(purchase.offer_deadline),
      pay_at: toTimestamp(purchase.pay_deadline),
      claim_at: toTimestamp(purchase.claim_deadline),
    },
    figures,
    created_at: toTimestamp(purchase.created_at),
  };
}

/** Returns whether a purchase has a text in one of its ids, hashes, addresses or texts. */
function mentions(purchase: PurchaseRecord, text: string | undefined): boolean {
  if (text === undefined || text === "") return true;
  const wanted = text.toLowerCase();
  const { id, program, merchant_id, commitment_hash, merchant, buyer, beneficiary } = purchase;
  const texts = Object.values(copyFields(purchaseTextsSchema, purchase));
  const paid = purchase.receipts.map(({ transaction_hash }) => transaction_hash);
  return [id, program, merchant_id, commitment_hash, merchant, buyer, beneficiary, ...texts, ...paid].some(
    (field) => field?.toLowerCase().includes(wanted),
  );
}
