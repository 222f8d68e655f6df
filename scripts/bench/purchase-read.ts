/** Requests per second of a purchase's read, compared with an Express handler that only makes the chain reads, and with Prism's mock. */
import { actorsOf } from "../../testkit/demo/actors.ts";
import { silentPrinter } from "../../testkit/demo/printer.ts";
import { Session } from "../../testkit/demo/session.ts";
import { enrollMerchant } from "../../testkit/demo/show-merchant.ts";
import { demoSteps } from "../../testkit/demo/show-purchase.ts";
import type { Benchmark } from "./benchmark.ts";
import { requestsPerSecond } from "./load.ts";
import { serveExpress, servePrism, serveSandbox } from "./serve.ts";

const price = 25_000_000n;
const opened = new AsyncDisposableStack();
const { description } = opened.use(await serveSandbox());
const actors = actorsOf(description);
const session = await Session.open(actors, silentPrinter);
const merchant = await enrollMerchant(session);
const purchase = await demoSteps.createPurchase(session, merchant, "purchase", price.toString());
await demoSteps.activate(session, purchase, "activate");
await demoSteps.approve(session, actors.buyer, purchase, price);
await demoSteps.pay(session, purchase, price / 2n);
await demoSteps.pay(session, purchase, price / 2n);
await demoSteps.reconcile(session, purchase, "reconcile");

const path = `/v1/routing/programs/${actors.program}/purchases/${purchase.id}`;
const headers = { Authorization: `Bearer ${session.credential}` };
const { token, registrar } = description.contracts;
const reads = {
  rpc: description.urls.rpc,
  registrar,
  token,
  id: purchase.commitment.hash,
  buyer: purchase.buyer,
};
const viem = opened.use(await serveExpress("purchaseReads", { ...reads, transport: "fetch" })).url;
const socket = opened.use(await serveExpress("purchaseReads", { ...reads, transport: "socket" })).url;
const prism = opened.use(await servePrism()).url;

/** The benchmark `purchase-read`. */
export const benchmark: Benchmark = {
  title: "Requests per second of GET …/purchases/{id} with two payments, ten connections",
  baseline: "Express, its chain reads by viem",
  unit: "per second",
  rounds: 5,
  subjects: {
    "Express, its chain reads by viem": async () => await requestsPerSecond({ url: `${viem}${path}` }),
    "Express, its chain reads by our socket": async () =>
      await requestsPerSecond({ url: `${socket}${path}` }),
    "purchase read": async () => await requestsPerSecond({ url: `${description.urls.api}${path}`, headers }),
    "Prism's mock of the read": async () => await requestsPerSecond({ url: `${prism}${path}`, headers }),
  },
  bars: { "purchase read": { atLeast: 0.7 } },
  close: async () => await opened.disposeAsync(),
};
