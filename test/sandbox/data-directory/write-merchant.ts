import { randomUUID } from "node:crypto";
import type { Sandbox } from "../../../sandbox/create-sandbox.ts";
import { createMerchant } from "../scenarios/create-merchant.ts";

/** Writes through the API, and returns the id of the merchant that was acknowledged; null when the write was refused. */
export async function writeMerchant(sandbox: Sandbox): Promise<string | null> {
  const answer = await createMerchant(sandbox, randomUUID()).catch(() => null);
  return answer?.data?.id ?? null;
}
