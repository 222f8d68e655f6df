import { beforeAll, expect, test } from "vitest";
import type { Sandbox } from "../../../sandbox/create-sandbox.ts";
import { actorsOf } from "../../../testkit/demo/actors.ts";
import { silentPrinter } from "../../../testkit/demo/printer.ts";
import { Session } from "../../../testkit/demo/session.ts";
import { enrollMerchant } from "../../../testkit/demo/show-merchant.ts";
import { type DemoPurchase, demoSteps } from "../../../testkit/demo/show-purchase.ts";
import { freshSandbox } from "../../kit/fresh-sandbox.ts";

let sandbox: Sandbox;
let session: Session;
const purchases: DemoPurchase[] = [];

beforeAll(async () => {
  sandbox = await freshSandbox();
  session = await Session.open(actorsOf(sandbox.description), silentPrinter);
  const merchant = await enrollMerchant(session);
  for (let number = 1; number <= 20; number += 1)
    purchases.push(
      await demoSteps.createPurchase(session, merchant, `purchase-${number}`, `${number}000000`),
    );
});

/** A hundred requests at once: new merchants, offers that the relayer has to send, and reads. */
function hundredRequests(round: number) {
  const { api, actors } = session;
  const creations = Array.from({ length: 60 }, (_, number) =>
    api.POST("/v1/routing/programs/{program}/merchants", {
      params: session.write(`${round}-merchant-${number}`),
      body: { wallet: actors.stranger.address, name: `Store ${round}-${number}`, funding_cap: "1" },
    }),
  );
  const offers = purchases.map(({ id, commitment }) =>
    api.POST("/v1/routing/programs/{program}/purchases/{id}/activate", {
      params: session.write(`${round}-${id}`, id),
      body: { commitment_hash: commitment.hash },
    }),
  );
  const reads = purchases.map(({ program, id }) =>
    api.GET("/v1/routing/programs/{program}/purchases/{id}", { params: { path: { program, id } } }),
  );
  return [...creations, ...offers, ...reads];
}

test("a hundred requests in flight are each answered as before or as after the snapshots and restores among them", async () => {
  const start = await sandbox.snapshot();
  const before = await sandbox.fingerprint();
  const underWay: ReturnType<typeof hundredRequests> = [];
  for (let round = 0; round < 2; round += 1) {
    underWay.push(...hundredRequests(round));
    await sandbox.snapshot();
    underWay.push(...hundredRequests(round + 10));
    await start.restore();
  }
  const answers = await Promise.all(underWay);
  expect(answers).toHaveLength(400);
  const statuses = new Set(answers.map(({ response }) => response.status));
  // A repeat of an offer that the restored moment has not seen is done; one that another key has done meanwhile conflicts.
  expect([...statuses].filter((status) => ![200, 201, 202, 409].includes(status))).toEqual([]);
  for (const { response, error } of answers)
    if (response.status === 409)
      expect(error).toMatchObject({ code: "state_conflict", current_state: "active" });

  const { store } = sandbox;
  const created = answers.flatMap(({ response, data }) =>
    response.status === 201 ? [JSON.stringify(data)] : [],
  );
  const merchants = (await store.list("merchants", {})).filter(({ value }) => value.name.startsWith("Store"));
  for (const { value } of merchants)
    expect(created.some((body) => body.includes(value.id) && body.includes(value.name))).toBe(true);
  const events = (await store.list("events", {})).map(({ value }) => value.sequence);
  expect(events).toEqual(events.map((_, index) => index + 1));
  const operations = await sandbox.relayer.list("prg_demo", { limit: 100 });
  for (const { hash, status } of operations) {
    expect(status).toBe("confirmed");
    const receipt = await sandbox.chain.client.getTransactionReceipt({ hash: hash ?? "0x" });
    expect(receipt.status).toBe("success");
  }
  const active = (await store.list("purchases", {})).filter(({ value }) => value.status === "active");
  expect(active).toHaveLength(operations.length);

  await start.restore();
  expect(await sandbox.fingerprint()).toEqual(before);
});

test("a client that gives up while a snapshot holds it back leaves nothing that a later one waits for", async () => {
  const url = `${sandbox.description.urls.api}/v1/routing/capabilities`;
  for (let round = 0; round < 5; round += 1) {
    const gone = new AbortController();
    const taken = sandbox.snapshot();
    const requests = Array.from({ length: 10 }, () =>
      fetch(url, { signal: gone.signal }).then(
        ({ status }) => status,
        () => "gone",
      ),
    );
    setImmediate(() => gone.abort());
    const snapshot = await taken;
    await Promise.all(requests);
    await snapshot.restore();
  }
  expect((await fetch(url)).status).toBe(200);
});

test("a wallet that waits for a transaction which a restore removed throws transaction_dropped", async () => {
  const snapshot = await sandbox.snapshot();
  await sandbox.chain.client.setAutomine(false);
  const { stranger } = sandbox.wallets;
  const hash = await stranger.submit({ to: stranger.address, data: "0x" });
  const receipt = stranger.receipt(hash);
  await Promise.all([
    expect(receipt).rejects.toMatchObject({ code: "transaction_dropped" }),
    snapshot.restore(),
  ]);
  await sandbox.chain.client.setAutomine(true);
});
