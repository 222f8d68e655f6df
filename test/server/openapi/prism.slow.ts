import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { present, problem } from "../../kit/answer.ts";
import { TestKit } from "../../kit/test-kit.ts";

// Prism validates every request and every answer that passes it, and answers itself when one breaks the description.
const prism = fileURLToPath(new URL("../../../node_modules/.bin/prism", import.meta.url));

let kit: TestKit;
let proxy: ChildProcess;

beforeAll(async () => {
  kit = await TestKit.shared();
  const description = `${kit.base}/v1/routing/openapi.json`;
  proxy = spawn(process.execPath, [prism, "proxy", description, kit.base, "--errors", "--port", "0"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  kit.base = await listening(proxy);
  await kit.renew();
}, 60_000);

afterAll(async () => {
  const exited = once(proxy, "exit");
  proxy.kill();
  await exited;
});

/** The proxy's URL, once it says that it listens; what else it says is read and dropped. */
async function listening({ stdout }: ChildProcess): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let told = "";
  stdout?.on("data", (chunk: Buffer) => {
    told = (told + chunk.toString()).slice(-10_000);
    const url = /listening on (http:\/\/[^\s]+)/.exec(told)?.[1];
    if (url !== undefined) resolve(url);
  });
  stdout?.once("end", () => reject(new Error(`Prism ended: ${told}`)));
  return await promise;
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The receiver must listen on a port.");
  return address.port;
}

test("Prism catches an answer that is not as described", async () => {
  const wrong = createServer((_request, response) => {
    response.writeHead(200, { "Content-Type": "application/json", "X-Request-Id": "no" });
    response.end('{"service":"another"}');
  });
  await new Promise<void>((resolve) => wrong.listen(0, "127.0.0.1", resolve));
  const other = spawn(
    process.execPath,
    [
      prism,
      "proxy",
      "docs/openapi/routing.json",
      `http://127.0.0.1:${portOf(wrong)}`,
      "--errors",
      "--port",
      "0",
    ],
    { stdio: ["ignore", "pipe", "inherit"], cwd: fileURLToPath(new URL("../../..", import.meta.url)) },
  );
  const exited = once(other, "exit");
  const url = await listening(other);
  const { status } = await fetch(`${url}/v1/routing/capabilities`);
  other.kill();
  await exited;
  wrong.close();
  expect(status).toBe(500);
}, 60_000);

test("a whole lifecycle passes Prism: enrollment, both routes, payment, claim, decision, refund, notification", async () => {
  const merchant = await kit.enrolledMerchant();
  const purchase = await kit.paidPurchase(merchant);
  const claim = await kit.claim(purchase);
  const decision = present(
    await kit.api.POST("/v1/routing/programs/{program}/purchases/{id}/decisions", {
      params: kit.write(purchase.id),
      body: kit.decision(purchase, claim),
    }),
  );
  const transaction_hash = await kit.act("merchant", "merchant", merchant.id, "fund");
  present(
    await kit.api.POST("/wallet/{program}/merchant/{id}", {
      params: kit.write(merchant.id),
      body: { action: "fund", transaction_hash },
    }),
  );
  const params = kit.write(purchase.id);
  const body = { decision_id: decision.id };
  const refund = async () =>
    present(await kit.api.POST("/v1/routing/programs/{program}/purchases/{id}/refunds", { params, body }));
  const first = await refund();
  expect(first.refund.status).toBe("collected");
  expect(await refund()).toEqual(first);

  const direct = await kit.createPurchase(merchant);
  const register = await kit.act("merchant", "purchase", direct.id, "register");
  present(
    await kit.api.POST("/wallet/{program}/purchase/{id}", {
      params: kit.write(direct.id),
      body: { action: "register", transaction_hash: register },
    }),
  );
  const registered = present(
    await kit.api.POST("/v1/routing/programs/{program}/purchases/{id}/registration", {
      params: kit.write(direct.id),
      body: {},
    }),
  );
  expect(registered).toMatchObject({ status: "active", route: "merchant_direct" });

  const path = { program: kit.program };
  present(await kit.api.GET("/v1/routing/capabilities"));
  present(await kit.api.GET("/v1/routing/programs/{program}", { params: { path } }));
  const { data } = present(
    await kit.api.GET("/v1/routing/programs/{program}/transactions", { params: { path } }),
  );
  expect(data.map(({ kind }) => kind)).toEqual(["offer", "collect_refund"]);
  const read = present(
    await kit.api.GET("/v1/routing/programs/{program}/purchases/{id}", {
      params: { path: { ...path, id: purchase.id } },
    }),
  );
  expect(read.status).toBe("refunded");
});

test("an event passes Prism on its way to the receiver, and its duplicate gets the same bytes", async () => {
  // The deliveries themselves go past Prism, and are to leave the event to the requests below.
  await kit.sandbox.faults.set({ layer: "delivery", action: "answer", status: 503, count: 5 });
  const { notification } = present(
    await kit.api.POST("/v1/routing/programs/{program}/notifications", { params: kit.write(), body: {} }),
  );
  expect(notification.status).toBe("exhausted");
  const { headers, body } = await kit.sandbox.receiver.next();
  const send = async () =>
    await kit.raw("/v1/routing/notification-receiver", { method: "POST", headers, body });
  const answers = [await send(), await send()];
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(answers[1]?.text).toBe(answers[0]?.text);
  const path = { program: kit.program };
  const receipts = present(
    await kit.api.GET("/v1/routing/programs/{program}/notification-receipts", { params: { path } }),
  );
  expect(receipts.data).toHaveLength(1);
});

test("refusals pass Prism as problems", async () => {
  const merchant = await kit.createMerchant("1000", "other_merchant");
  const refusals = [
    await kit.get(kit.path("/purchases/pur_aaaaaaaaaaaaaaaaaaaa")),
    await kit.get("/v1/routing/programs/prg_other"),
    await kit.post(kit.path("/purchases"), {
      merchant_id: merchant.id,
      buyer: kit.wallet("buyer").address,
      amount: "1000",
      terms: {},
    }),
    await kit.post(kit.path(`/merchants/${merchant.id}/enrollment`), {
      transaction_hash: `0x${"5c".repeat(32)}`,
      signature: "0x00",
    }),
    await kit.get(kit.path("/transactions?cursor=nothing")),
    await kit.raw(kit.path(""), { headers: { Authorization: "Bearer rsc_unknown" } }),
  ];
  expect(refusals.map((answer) => problem(answer).code)).toEqual([
    "not_found",
    "program_mismatch",
    "merchant_not_enrolled",
    "transaction_not_found",
    "validation_failed",
    "credential_invalid",
  ]);
});
