// Sells one purchase, as sell.mjs does, with one mistake: after a lost response, it sends the request under a new key.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

const { urls, accounts, wallets } = JSON.parse(readFileSync(process.env.ROUTING_SANDBOX_FILE, "utf8"));
let credential = "";

async function post(url, body, authorization) {
  for (let attempt = 1; attempt <= 10; attempt += 1) {
    const headers = {
      "content-type": "application/json",
      // The mistake: this key is another one in each attempt.
      "idempotency-key": randomUUID(),
      authorization: `Bearer ${authorization ?? credential}`,
    };
    const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) })
      .then(async (response) => ({ status: response.status, body: await response.json() }))
      .catch(() => null);
    if (answer?.status === 200 || answer?.status === 201) return answer.body;
    if (answer?.status === 401 && authorization === undefined) await renew();
    else if (answer !== null && answer.status >= 400 && answer.status < 500 && answer.status !== 429)
      throw new Error(answer.body.detail);
    else await pause(100);
  }
  throw new Error(`${url} has no outcome.`);
}

async function renew() {
  ({ credential } = await post(`${urls.api}/v1/routing/access`, {}, accounts[0].key));
}

await renew();
const { merchant } = await post(`${urls.control}/given`, { merchant: { state: "funded" } });
const purchases = `${urls.api}/v1/routing/programs/${merchant.program}/purchases`;
const order = {
  merchant_id: merchant.id,
  buyer: wallets.buyer.address,
  beneficiary: wallets.beneficiary.address,
  amount: "25000000",
  terms: { sku: "course-42" },
};
const purchase = await post(purchases, order);
const offer = { commitment_hash: purchase.commitment.hash };
const { purchase: active } = await post(`${purchases}/${purchase.id}/activate`, offer);
console.log(`${active.id} is ${active.status}`);
