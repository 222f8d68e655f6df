import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type ClientReport, checkClient, type Sandbox } from "../../testkit/index.ts";

/** Checks a client whose only write creates a purchase, with faults of that write. */
async function checkSale(
  sell: (sandbox: Sandbox, merchant: string) => Promise<unknown>,
  only: string,
): Promise<ClientReport> {
  return await checkClient({
    given: async ({ given }) => await given.merchant({ state: "funded" }),
    run: async (sandbox) => {
      const [merchant] = await sandbox.store.list("merchants", {});
      await sell(sandbox, merchant?.key ?? "");
    },
    only,
  });
}

const sale = ({ wallets }: Sandbox) => ({
  buyer: wallets.buyer.address,
  beneficiary: wallets.beneficiary.address,
  amount: "25000000",
  terms: { sku: "course-42" },
});

async function sendOnce(sandbox: Sandbox, merchant_id: string, key: string): Promise<void> {
  const { response } = await sandbox.client.POST("/v1/routing/programs/{program}/purchases", {
    params: { path: { program: "prg_demo" }, header: { "Idempotency-Key": key } },
    body: { merchant_id, ...sale(sandbox) },
  });
  if (!response.ok) throw new Error(`it got ${response.status}`);
}

describe("checkClient", () => {
  test("finds that a client creates a purchase twice after a lost response, and that the package's client does not", async () => {
    const wrong = await checkSale(async (sandbox, merchant) => {
      const send = async () => await sendOnce(sandbox, merchant, randomUUID());
      await send().catch(send);
    }, "createPurchase/answer-lost");
    expect(wrong).toMatchObject({
      passed: false,
      totals: { acted_twice: 1 },
      clean: {
        writes: [
          { n: 1, operation: "issueAccess" },
          { n: 2, operation: "createPurchase" },
        ],
        events: [],
      },
      cases: [
        { n: 2, operation: "createPurchase", fault: "answer-lost", verdict: "acted_twice", trace: null },
      ],
    });
    expect(wrong.cases[0]?.cause).toMatch(
      /^2 purchases in place of 1 \(pur_\w+, pur_\w+\); createPurchase was requested again with another Idempotency-Key \([\w-]+, then [\w-]+\) \d+ ms after its response was lost\.$/,
    );
    const right = await checkSale(
      async (sandbox, merchant) =>
        await sandbox.client.retrying.createPurchase({ id: merchant, program: "prg_demo" }, sale(sandbox)),
      "createPurchase/answer-lost",
    );
    expect(right).toMatchObject({ passed: true, totals: { safe: 1 } });
  });
});
