/**
 * A backend that sells one purchase and refunds it: run it with node. Its first argument is the mistake that it makes; without one it makes
 * none. It uses nothing of the package, as a backend in another language would.
 */
import { createHmac, createPrivateKey, randomUUID, sign, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";

/** The mistakes that the client can make. */
export type Mistake =
  | "new-key"
  | "new-key-after-4xx"
  | "no-retry"
  | "accepts-202"
  | "pays-again"
  | "no-dedupe"
  | "verifies-parsed-body"
  | "accepts-any-signature"
  | "keeps-credential"
  | "keeps-figure";

const mistake = process.argv[2] ?? "none";
const has = (one: Mistake) => mistake === one;

const { urls, accounts, wallets, reviewer, receiver } = JSON.parse(
  readFileSync(process.env["ROUTING_SANDBOX_FILE"] ?? "", "utf8"),
);

// biome-ignore lint/suspicious/noExplicitAny: a backend reads JSON.
type Body = any;

let credential = "";

async function renew(): Promise<void> {
  const answer = await request(
    "POST",
    `${urls.api}/v1/routing/access`,
    {},
    { authorization: `Bearer ${accounts[0].key}` },
  );
  credential = answer.credential;
}

/** Sends a request until its outcome is known. */
async function request(
  method: string,
  url: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<Body> {
  let key = randomUUID();
  for (let attempt = 1; ; attempt += 1) {
    const answer = await attemptOnce(method, url, body, {
      ...(credential === "" ? {} : { authorization: `Bearer ${credential}` }),
      "idempotency-key": key,
      ...headers,
    });
    if (answer !== null && answer.status < 300 && (answer.status !== 202 || has("accepts-202")))
      return answer.body;
    if (has("no-retry") || attempt === 10)
      throw new Error(`${method} ${url}: ${answer?.status ?? "no response"}`);
    const isUnauthorized = answer?.status === 401 && !("authorization" in headers);
    if (isUnauthorized && !has("keeps-credential")) await renew();
    else if (answer !== null && answer.status >= 400 && answer.status < 500 && answer.status !== 429)
      throw new Error(`${method} ${url}: ${answer.status} ${JSON.stringify(answer.body)}`);
    if (has("new-key")) key = randomUUID();
    if (has("new-key-after-4xx") && answer !== null && answer.status >= 400 && answer.status < 500)
      key = randomUUID();
    if (has("pays-again") && answer === null && url.endsWith("/reconcile"))
      await act("pay", "buyer", `?amount=${price}`);
    if (!isUnauthorized) await pause(50);
  }
}

/** Returns null when no complete response came. */
async function attemptOnce(
  method: string,
  url: string,
  body: object | undefined,
  headers: Record<string, string>,
) {
  try {
    const response = await fetch(url, {
      method,
      headers: { "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  } catch {
    return null;
  }
}

async function rpc(method: string, params: unknown[]): Promise<Body> {
  const answer: Body = await (
    await fetch(urls.rpc, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    })
  ).json();
  if (answer.error !== undefined) throw new Error(answer.error.message);
  return answer.result;
}

const price = "10000000";
const programUrl = `${urls.api}/v1/routing/programs/prg_demo`;
let purchase: Body;
const of = (step: string) => `${programUrl}/purchases/${purchase.id}${step}`;

/** Does an action of the purchase's wallet route. */
async function act(name: string, wallet: string, query = ""): Promise<{ hash: string; signature: string }> {
  const { actions } = await request("GET", `${purchase.wallet_url}${query}`);
  const found = actions.find((one: Body) => one.name === name);
  if (!found.allowed) throw new Error(found.why_not);
  const from = wallets[wallet].address;
  const signature =
    found.sign?.typed_data === undefined
      ? ""
      : await rpc("eth_signTypedData_v4", [from, found.sign.typed_data]);
  const { to, data } = found.transaction;
  const { transactionHash: hash } = await rpc("eth_sendTransactionSync", [{ from, to, data }]);
  return { hash, signature };
}

/** Pays until a fresh read says that the payment is on the chain. */
async function payFor(): Promise<void> {
  await act("approve", "buyer");
  for (;;) {
    await act("pay", "buyer", `?amount=${price}`);
    await request("POST", of("/reconcile"), {});
    if (has("keeps-figure")) return;
    const { figures } = await request("GET", of(""));
    if (figures.paid === price) return;
  }
}

async function refund({ claim_id, claim_hash }: { claim_id: string; claim_hash: string }): Promise<void> {
  const { now } = await request("GET", `${urls.api}/v1/routing/capabilities`);
  const decision = {
    award: price,
    claim_id,
    decided_at: now,
    outcome: "approved",
    reviewer_key_id: reviewer.key_id,
  };
  const signed = {
    award: price,
    chain_id: 31_337,
    claim_hash,
    claim_id,
    commitment_hash: purchase.commitment.hash,
    decided_at: now,
    outcome: "approved",
    program: "prg_demo",
    purchase: purchase.id,
    reviewer_key_id: reviewer.key_id,
  };
  const der = Buffer.concat([
    Buffer.from("302e020100300506032b657004220420", "hex"),
    Buffer.from(reviewer.private_key, "hex"),
  ]);
  const privateKey = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const bytes = Buffer.from(`routing-sandbox/decision/v1\n${JSON.stringify(signed)}`);
  const approval = sign(null, bytes, privateKey).toString("base64url");
  const { id } = await request("POST", of("/decisions"), { ...decision, approval });
  await request("POST", of("/refunds"), { decision_id: id });
}

/** The handling of each event, done or in progress: a second delivery is answered when it has ended. */
const handled = new Map<string, Promise<void>>();

function isSigned(headers: IncomingMessage["headers"], raw: Buffer): boolean {
  if (has("accepts-any-signature")) return true;
  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures } = headers;
  if (!(Math.abs(Date.now() / 1_000 - Number(timestamp)) <= 300)) return false;
  const body = has("verifies-parsed-body") ? JSON.stringify(JSON.parse(raw.toString())) : raw;
  const key = Buffer.from(receiver.hmac_secret.replace("whsec_", ""), "base64");
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
  return String(signatures)
    .split(" ")
    .filter((one) => one.startsWith("v1,"))
    .map((one) => Buffer.from(one.slice(3), "base64"))
    .some((one) => one.length === expected.length && timingSafeEqual(one, expected));
}

const server = createServer(async (incoming, response) => {
  const raw = await buffer(incoming);
  if (!isSigned(incoming.headers, raw)) return void response.writeHead(401).end();
  const event = JSON.parse(raw.toString());
  const handling = has("no-dedupe") ? undefined : handled.get(event.id);
  try {
    await (handling ?? handle(event));
    response.writeHead(204).end();
  } catch (error) {
    console.error(error);
    response.writeHead(500).end();
  }
});

function handle(event: Body): Promise<void> {
  const handling = event.type === "purchase.claimed" ? refund(event.data) : Promise.resolve();
  handled.set(event.id, handling);
  handling.catch(() => handled.delete(event.id));
  return handling;
}

async function main(): Promise<void> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  await request("POST", `${urls.control}/receiver/pin`, { url: `http://127.0.0.1:${port}/` });
  await renew();
  const { merchant } = await request("POST", `${urls.control}/given`, { merchant: { state: "funded" } });
  purchase = await request("POST", `${programUrl}/purchases`, {
    merchant_id: merchant.id,
    buyer: wallets.buyer.address,
    beneficiary: wallets.beneficiary.address,
    amount: "25000000",
    terms: { sku: "course-42" },
  });
  await request("POST", of("/activate"), { commitment_hash: purchase.commitment.hash });
  await payFor();
  if (has("keeps-figure")) return;
  const { hash, signature } = await act("claim", "beneficiary", `?amount=${price}&reason=late`);
  const claim = await request("POST", of("/claims"), {
    transaction_hash: hash,
    requested_amount: price,
    reason: "late",
    signature,
  });
  await request("POST", `${programUrl}/notifications`, { event_id: claim.event_id });
  const { status, figures } = await request("GET", of(""));
  if (status !== "refunded" && !has("accepts-202"))
    throw new Error(`The purchase is ${status}, not refunded.`);
  console.log(`refunded ${figures.refunded}`);
}

try {
  await main();
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  server.close();
  server.closeAllConnections();
}
