import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { Json } from "../../../protocol/values/json.ts";
import { createApiClient, unwrap } from "../../../sandbox/client/api-client.ts";
import { signVerdict } from "../../../sandbox/given/actors/reviewer.ts";
import { merchantSchema } from "../../../server/schemas/merchants.ts";
import { activationSchema, purchaseSchema } from "../../../server/schemas/purchases.ts";
import { claimSchema, decisionSchema } from "../../../server/schemas/refunds.ts";
import { type Actors, actorsOf } from "../../../testkit/demo/actors.ts";
import { silentPrinter } from "../../../testkit/demo/printer.ts";
import { Session } from "../../../testkit/demo/session.ts";
import { codeOf } from "../../crash/books.ts";
import { send } from "../../crash/storefront.ts";
import { controlSandbox } from "../../kit/control.ts";
import { hasPostgres, inPostgres, type PostgresServer, startPostgres } from "../../kit/postgres-server.ts";
import { joinAs, type RunningProcess, runSandbox } from "./joined-process.ts";

type Merchant = z.infer<typeof merchantSchema>;
type Purchase = z.infer<typeof purchaseSchema>;

/** The number of times that each operation is sent to both processes at once. */
const rounds = 10;
const amount = 25_000_000n;

describe.skipIf(!hasPostgres)(`an identical request at two processes at once ${inPostgres}`, () => {
  let server: PostgresServer;
  let owner: RunningProcess;
  let member: RunningProcess;
  let actors: Actors;
  let credential: string;
  let keys = 0;

  beforeAll(async () => {
    server = await startPostgres();
    const store = server.url("identical");
    // However slow the machine is, nothing is answered before it is done.
    owner = await runSandbox({ store, receiptTimeoutMs: 120_000 });
    member = await joinAs(owner.description, "--store", store);
    actors = actorsOf(owner.description);
    ({ credential } = await Session.open(actors, silentPrinter));
  });

  afterAll(async () => {
    await member.end("SIGTERM");
    await owner.end("SIGTERM");
    await server.close();
  });

  /** Sends one request to both processes at once, and expects one effect and the same bytes. */
  const sendTwice = async <T extends z.ZodType>(
    status: number,
    answer: T,
    path: string,
    body: { readonly [name: string]: Json },
  ): Promise<z.output<T>> => {
    keys += 1;
    const request = { path, body, key: `identical-${keys}` };
    const both = [owner.description, member.description];
    if (keys % 2 === 0) both.reverse();
    const answers = await Promise.all(both.map((one) => send(one, credential, request)));
    const [first] = answers;
    expect(answers.map((one) => [one.status, one.text])).toEqual([
      [status, first?.text],
      [status, first?.text],
    ]);
    expect(answers.map(({ replayed }) => replayed).toSorted()).toEqual([false, true]);
    return answer.parse(JSON.parse(first?.text ?? ""));
  };
  const path = (below: string) => `/v1/routing/programs/${actors.program}${below}`;
  const submit = async (type: "merchant" | "purchase", id: string, body: { readonly [name: string]: Json }) =>
    await sendTwice(200, z.unknown(), `/wallet/${actors.program}/${type}/${id}`, body);

  /** Creation, the wallet's submissions and the enrollment of a merchant; an earlier one with this wallet is ended. */
  const enroll = async (before: Merchant | null): Promise<Merchant> => {
    const { merchant: wallet } = actors;
    if (before !== null) await wallet.revokeFunding(before);
    const body = { wallet: wallet.address, name: "Corner Books", funding_cap: "500000000" };
    const created = await sendTwice(201, merchantSchema, path("/merchants"), body);
    const enrollment = await wallet.enroll(created);
    await submit("merchant", created.id, { action: "enroll", ...enrollment.body });
    const funding = await wallet.fund(created);
    await submit("merchant", created.id, { action: "fund", transaction_hash: funding.transaction_hash });
    const enrolled = await sendTwice(
      200,
      merchantSchema,
      path(`/merchants/${created.id}/enrollment`),
      enrollment.body,
    );
    expect(enrolled.status).toBe("enrolled");
    return enrolled;
  };

  /** A purchase that became active by one route or the other. */
  const activate = async (merchant: Merchant, route: Purchase["route"]): Promise<Purchase> => {
    const { buyer, beneficiary } = actors;
    const created = await sendTwice(201, purchaseSchema, path("/purchases"), {
      merchant_id: merchant.id,
      buyer: buyer.address,
      beneficiary: beneficiary.address,
      amount: amount.toString(),
      terms: { keys },
    });
    if (route === "registrar_offer") {
      const body = { commitment_hash: created.commitment.hash };
      const at = path(`/purchases/${created.id}/activate`);
      return (await sendTwice(200, activationSchema, at, body)).purchase;
    }
    const { transaction_hash } = await actors.merchant.register(created);
    await submit("purchase", created.id, { action: "register", transaction_hash });
    return await sendTwice(200, purchaseSchema, path(`/purchases/${created.id}/registration`), {
      transaction_hash,
    });
  };

  const pay = async (purchase: Purchase): Promise<void> => {
    const approval = await actors.buyer.approve(purchase, amount);
    const { transaction_hash } = approval;
    await submit("purchase", purchase.id, { action: "approve", amount: amount.toString(), transaction_hash });
    const payment = await actors.buyer.pay(purchase, amount);
    await submit("purchase", purchase.id, { action: "pay", transaction_hash: payment.transaction_hash });
    await sendTwice(200, z.unknown(), path(`/purchases/${purchase.id}/reconcile`), {});
  };

  const claim = async (purchase: Purchase) => {
    const { body } = await actors.beneficiary.claim(purchase, { amount, reason: "Arrived broken." });
    const { requested_amount, ...rest } = body;
    await submit("purchase", purchase.id, { action: "claim", amount: requested_amount, ...rest });
    return await sendTwice(201, claimSchema, path(`/purchases/${purchase.id}/claims`), body);
  };

  const decide = async (purchase: Purchase, filed: z.infer<typeof claimSchema>) => {
    const { now: decidedAt } = unwrap(await createApiClient(actors.apiUrl).GET("/v1/routing/capabilities"));
    const verdict = { award: amount.toString(), decidedAt };
    const body = signVerdict(actors.reviewers, purchase, filed, verdict);
    return await sendTwice(201, decisionSchema, path(`/purchases/${purchase.id}/decisions`), { ...body });
  };

  test("has one effect and gets the stored bytes from the other process, whichever write it is", {
    timeout: 300_000,
  }, async () => {
    let merchant: Merchant | null = null;
    for (let round = 0; round < rounds; round += 1) {
      merchant = await enroll(merchant);
      const purchase = await activate(merchant, round % 2 === 0 ? "registrar_offer" : "merchant_direct");
      await pay(purchase);
      const decision = await decide(purchase, await claim(purchase));
      const refunds = path(`/purchases/${purchase.id}/refunds`);
      await sendTwice(201, z.unknown(), refunds, { decision_id: decision.id });
      await sendTwice(200, z.unknown(), path("/notifications"), {});
    }
  });

  test("is refused by both when it may not be done, and the key stays free", async () => {
    const body = { wallet: actors.stranger.address, name: "Corner Books", funding_cap: "1" };
    const created = await sendTwice(201, merchantSchema, path("/merchants"), body);
    const request = { path: path(`/merchants/${created.id}/enrollment`), key: "refused-by-both" };
    const unbound = { ...request, body: { transaction_hash: `0x${"11".repeat(32)}`, signature: "0x11" } };
    const both = [owner.description, member.description];
    const refused = await Promise.all(both.map((one) => send(one, credential, unbound)));
    expect(refused.map((answer) => [answer.status, codeOf(answer)])).toEqual([
      [409, "transaction_not_found"],
      [409, "transaction_not_found"],
    ]);
    const { body: bound } = await actors.stranger.enroll(created);
    const answer = await send(member.description, credential, { ...request, body: bound });
    expect([answer.status, answer.replayed]).toEqual([200, false]);
  });

  test("that is a signed event gets the same receipt from both", async () => {
    const arrivals = z.object({
      data: z.array(z.object({ headers: z.record(z.string(), z.string()), body: z.string() })),
    });
    for (let round = 0; round < 5; round += 1) {
      const body = { wallet: actors.beneficiary.address, name: "Corner Books", funding_cap: "1" };
      const { event_id } = await sendTwice(201, merchantSchema, path("/merchants"), body);
      // The pinned receiver sees the event, signed, and does not take it.
      await controlSandbox(owner.description, "POST", "/faults", {
        layer: "delivery",
        action: "reset",
        count: 5,
      });
      await sendTwice(200, z.unknown(), path("/notifications"), { event_id });
      const listed = await fetch(`${owner.description.urls.control}/receiver/deliveries`);
      const { data } = arrivals.parse(await listed.json());
      const { headers, body: event } = data.at(-1) ?? { headers: {}, body: "" };
      const signed = Object.entries(headers).filter(([name]) => /^(webhook-|content-type)/.test(name));
      const answers = await Promise.all(
        [owner.description, member.description].map(async ({ urls }) => {
          const url = `${urls.api}/v1/routing/notification-receiver`;
          const response = await fetch(url, {
            method: "POST",
            headers: Object.fromEntries(signed),
            body: event,
          });
          return [response.status, await response.text()] as const;
        }),
      );
      expect(answers).toEqual([
        [200, answers[0]?.[1]],
        [200, answers[0]?.[1]],
      ]);
    }
  });
});
