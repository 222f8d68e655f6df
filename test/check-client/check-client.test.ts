import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
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

async function sendOnce(
  sandbox: Sandbox,
  merchant_id: string,
  key: string,
  signal: AbortSignal | null = null,
): Promise<string> {
  const { data, response } = await sandbox.client.POST("/v1/routing/programs/{program}/purchases", {
    params: { path: { program: "prg_demo" }, header: { "Idempotency-Key": key } },
    body: { merchant_id, ...sale(sandbox) },
    signal,
  });
  if (data === undefined) throw new Error(`it got ${response.status}`);
  return data.id;
}

/** Activates a purchase; gives up after a short time. */
async function activateSoon(sandbox: Sandbox, id: string, commitment_hash: `0x${string}`): Promise<void> {
  await sandbox.client.POST("/v1/routing/programs/{program}/purchases/{id}/activate", {
    params: { path: { program: "prg_demo", id }, header: { "Idempotency-Key": randomUUID() } },
    body: { commitment_hash },
    signal: AbortSignal.timeout(300),
  });
}

/** Receives events in their order, and takes one with a lower number than the last for one that it has had. */
async function receiveInOrder(sandbox: Sandbox, act: (purchase: string) => Promise<void>, count: number) {
  let highest = 0;
  let received = 0;
  const all = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    const { type, sequence, data } = JSON.parse(await text(request));
    const isNew = sequence > highest;
    highest = Math.max(highest, sequence);
    if (type === "purchase.created" && isNew) await act(data.purchase_id);
    response.writeHead(204).end();
    if (type === "purchase.created") received += 1;
    if (received === count) all.resolve();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  await sandbox.receiver.pin(`http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/`);
  await sandbox.deliverAll();
  await all.promise;
  server.close();
  server.closeAllConnections();
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

  test("finds that a client asks with another key after it has given up", async () => {
    const { cases } = await checkSale(async (sandbox) => {
      const { id, commitment } = (await sandbox.given.purchase({ state: "created" })).purchase;
      const send = async () => await activateSoon(sandbox, id, commitment.hash);
      await send().catch(send);
    }, "activatePurchase/slow");
    expect(cases).toMatchObject([
      {
        verdict: "acted_twice",
        cause: expect.stringMatching(
          /^activatePurchase of pur_\w+ was requested again with another Idempotency-Key \([\w-]+, then [\w-]+\) \d+ ms after the client stopped waiting for its response\.$/,
        ),
      },
    ]);
  });

  test("judges a write that the client has given up when the service has ended it", async () => {
    const { cases } = await checkSale(async (sandbox, merchant) => {
      await sendOnce(sandbox, merchant, randomUUID(), AbortSignal.timeout(300)).catch(() => {});
    }, "createPurchase/slow");
    expect(cases).toMatchObject([{ verdict: "safe" }]);
  });

  test("names the event that a client has lost because a later one came first", async () => {
    const { cases } = await checkSale(async (sandbox, merchant) => {
      await sendOnce(sandbox, merchant, "order-1001");
      await sendOnce(sandbox, merchant, "order-1002");
      const activate = async (id: string) => {
        const { value } = (await sandbox.store.get("purchases", id)) ?? {};
        await activateSoon(sandbox, id, value?.commitment_hash ?? "0x");
      };
      await receiveInOrder(sandbox, activate, 2);
    }, "purchase.created/event-order");
    expect(cases[0]).toMatchObject({
      verdict: "lost",
      cause: expect.stringMatching(
        /^purchase\.created evt_\w+ came \d+ ms after the later purchase\.created evt_\w+; the client reported success; missing: 1 activation, /,
      ),
    });
  });

  test("allows the number of keys of either run without a fault", async () => {
    let runs = 0;
    const { cases } = await checkSale(async (sandbox, merchant) => {
      const id = await sendOnce(sandbox, merchant, "order-1001");
      runs += 1;
      for (let count = 0; count < Math.min(runs, 2); count += 1)
        await sandbox.client.POST("/v1/routing/programs/{program}/purchases/{id}/reconcile", {
          params: { path: { program: "prg_demo", id }, header: { "Idempotency-Key": randomUUID() } },
          body: {},
        });
      await receiveInOrder(sandbox, async () => {}, 1);
    }, "purchase.created/event-twice");
    expect(cases).toMatchObject([{ verdict: "safe" }]);
  });

  test("asks whether a misspelled operation is meant", async () => {
    const checking = checkSale(async (sandbox, merchant) => {
      await sendOnce(sandbox, merchant, randomUUID());
    }, "createpurchase");
    await expect(checking).rejects.toThrow("Did you mean createPurchase?");
  });
});
