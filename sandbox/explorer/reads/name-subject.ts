import type { Store } from "../../../server/store/store.ts";
import type { SubjectNames } from "../views.ts";

/** Reads the names by which a person knows a purchase or a merchant, by its id. */
export async function nameSubject(id: string, store: Pick<Store, "get">): Promise<SubjectNames> {
  const purchase = await store.get("purchases", id);
  const merchant = await store.get("merchants", purchase?.value.merchant_id ?? id);
  return {
    merchant_name: merchant?.value.name ?? null,
    reference: (purchase ?? merchant)?.value.reference ?? null,
  };
}
