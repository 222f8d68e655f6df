import { z } from "zod";
import { requestAccess } from "../sandbox/client/access/request-access.ts";
import type { Sandbox } from "../sandbox/create-sandbox.ts";
import { fetchDirect } from "../sandbox/lib/http/direct/fetch-direct.ts";
import { readJson } from "../sandbox/lib/read-json.ts";
import type { ClientRequest } from "./client-requests.ts";

const purchaseSchema = z.object({
  id: z.string(),
  program: z.string(),
  status: z.string(),
  payment_status: z.string(),
  figures: z.object({
    paid: z.string(),
    outstanding: z.string(),
    refunded: z.string(),
    reconciled: z.string(),
  }),
});
const answerSchema = z.union([
  purchaseSchema,
  z.object({ purchase: purchaseSchema }).transform(({ purchase }) => purchase),
]);

type PurchaseFigures = z.output<typeof purchaseSchema>;

/** A figure of which the client has another value than the chain. */
export interface StaleFigure {
  purchase: string;
  /** The field, as in `paid`. */
  field: string;
  /** The value that the client has last read. */
  read: string;
  /** The value that the API answers now. */
  actual: string;
}

/** Returns the figures of purchases that the client has last read, in any answer, and that differ from those of the chain now. */
export async function findStaleFigures(
  requests: readonly ClientRequest[],
  sandbox: Sandbox,
): Promise<StaleFigure[]> {
  const last = new Map<string, PurchaseFigures>();
  for (const { status, answer } of requests.toSorted(byEnd)) {
    if (status === null || status >= 300 || answer === null) continue;
    const { data } = answerSchema.safeParse(readJson(answer));
    if (data !== undefined) last.set(data.id, data);
  }
  const found: StaleFigure[] = [];
  for (const account of sandbox.description.accounts) {
    const known = [...last.values()].filter(({ program }) => program === account.program);
    if (known.length === 0) continue;
    const { api } = sandbox.description.urls;
    const { credential } = await requestAccess(api, account.key, fetchDirect);
    for (const before of known) {
      const response = await fetchDirect(
        `${api}/v1/routing/programs/${account.program}/purchases/${before.id}`,
        {
          headers: { authorization: `Bearer ${credential}` },
        },
      );
      found.push(...compare(before, answerSchema.parse(await response.json())));
    }
  }
  return found;
}

function byEnd(left: ClientRequest, right: ClientRequest): number {
  return left.startedAt + left.durationMs - right.startedAt - right.durationMs;
}

function compare(before: PurchaseFigures, now: PurchaseFigures): StaleFigure[] {
  const flat = ({ status, payment_status, figures }: PurchaseFigures) =>
    Object.entries({ ...figures, status, payment_status });
  const actual = new Map(flat(now));
  return flat(before).flatMap(([field, read]) => {
    const value = actual.get(field) ?? "";
    return value === read ? [] : [{ purchase: before.id, field, read, actual: value }];
  });
}
