import { maxUint256 } from "viem";
import { mapFields } from "../../server/lib/map-fields.ts";
import { fillDeadlines } from "../../server/purchases/create-purchase.ts";
import { purchaseTexts } from "../../server/schemas/purchases.ts";
import { walletNames } from "../chain/genesis/roles.ts";
import { type components, unwrap } from "../client/api-client.ts";
import { definedOnly } from "../lib/defined-only.ts";
import { needsOwnChain } from "../lib/errors/needs-own-chain.ts";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import type { GivenActors } from "./actors/actors.ts";
import type { ProgramApi } from "./actors/program-api.ts";
import { fundAward, merchantOf, requireRemaining, succeed, walletOf } from "./give-merchant.ts";
import { invalidOption, type PurchasePlan, requireOtherThan } from "./options.ts";
import { requirePurchaseMeans } from "./require-means.ts";

type Schemas = components["schemas"];
type Merchant = Schemas["Merchant"];
type Purchase = Schemas["Purchase"];

/** The inputs of each step of making a purchase. */
interface PurchaseSetting {
  plan: PurchasePlan;
  merchant: Merchant;
  actors: GivenActors;
  api: ProgramApi;
}

/** Seconds until a purchase that is to expire does: few, so that no credential expires with it. */
export const shortTermSeconds = 3_600;

/** Makes a purchase in a state, and its merchant where it has none. */
export async function givePurchase(
  plan: PurchasePlan,
  actors: GivenActors,
): Promise<{ merchant: Merchant; purchase: Purchase }> {
  if (plan.state === "expired" && !actors.chain.isOwn) throw needsOwnChain("The state expired");
  requireDeadlines(plan, await actors.clock.now());
  await requirePurchaseMeans(plan, actors);
  const merchant = await merchantOf(plan, actors);
  requireRemaining(merchant, plan);
  requireOtherThan(
    walletNames.find(
      (name) => Object.hasOwn(actors.wallets, name) && actors.wallets[name].address === merchant.wallet,
    ),
    plan,
  );
  const setting = { plan, merchant, actors, api: actors.api(merchant.program) };
  return { merchant, purchase: await makeInState(setting) };
}

async function makeInState(setting: PurchaseSetting): Promise<Purchase> {
  const { plan, api, actors } = setting;
  const { state } = plan;
  const created = await create(setting);
  if (state === "created") return created;
  const active = await activate(created, setting);
  if (state === "active") return active;
  if (state === "expired") {
    await actors.clock.travelTo(active.deadlines.pay_deadline + 1);
    return await read(active, api);
  }
  const transaction_hash = await pay(active, setting);
  if (state === "partially_paid" || state === "paid") return await read(active, api);
  const reconciled = await api.retrying.reconcile(active, { transaction_hashes: [transaction_hash] });
  if (state === "reconciled") return reconciled;
  await decideClaim(reconciled, setting);
  return await read(reconciled, api);
}

async function read({ program, id }: Purchase, { retrying }: ProgramApi): Promise<Purchase> {
  const params = { path: { program, id } };
  return unwrap(await retrying.GET("/v1/routing/programs/{program}/purchases/{id}", { params }));
}

async function create({ plan, merchant, actors, api }: PurchaseSetting): Promise<Purchase> {
  const { state, amount, terms = { sku: "course-42", title: "A course" }, deadlines = {} } = plan;
  const soon = state === "expired" ? (await actors.clock.now()) + shortTermSeconds : null;
  return await api.retrying.createPurchase(merchant, {
    buyer: actors.wallets[plan.buyer].address,
    beneficiary: actors.wallets[plan.beneficiary].address,
    amount,
    terms,
    ...definedOnly(mapFields(purchaseTexts, (_, name) => plan[name])),
    ...(soon === null ? {} : { offer_deadline: soon, pay_deadline: soon }),
    ...definedOnly(deadlines),
  });
}

/** Refuses deadlines that have passed or are out of order, before anything is created. @throws GivenInvalidError */
function requireDeadlines({ state, deadlines = {} }: PurchasePlan, now: number): void {
  const soon =
    state === "expired"
      ? { offer_deadline: now + shortTermSeconds, pay_deadline: now + shortTermSeconds }
      : {};
  const all = fillDeadlines({ ...soon, ...definedOnly(deadlines) }, now);
  for (const [name, deadline] of Object.entries(definedOnly(deadlines)))
    if (deadline <= now)
      throw invalidOption(
        `deadlines.${name}`,
        deadline,
        `is not after the time of the sandbox, ${now}`,
        `Pass a later time, such as ${now + shortTermSeconds} for ${shortTermSeconds / 60} minutes from now.`,
      );
  for (const [earlier, later] of [
    ["offer_deadline", "pay_deadline"],
    ["pay_deadline", "claim_deadline"],
  ] as const)
    if (all[later] < all[earlier])
      throw invalidOption(
        `deadlines.${later}`,
        all[later],
        `is before deadlines.${earlier}, ${deadlines[earlier] === undefined ? "by default " : ""}${all[earlier]}`,
        `Pass deadlines.${earlier}, too, of ${all[later]} or earlier.`,
      );
}

async function activate(
  created: Purchase,
  { plan, merchant, actors, api }: PurchaseSetting,
): Promise<Purchase> {
  if (plan.route === "registrar_offer") return await api.retrying.activate(created);
  const { transaction_hash } = succeed(await walletOf(merchant, actors.wallets).register(created));
  return await api.retrying.register(created, { transaction_hash });
}

async function pay(active: Purchase, { plan, actors }: PurchaseSetting) {
  const buyer = actors.wallets[plan.buyer];
  const amount = BigInt(plan.paid);
  if (plan.permit === true)
    return succeed(await buyer.pay(active, { amount, permit: true })).transaction_hash;
  // The buyer's allowance may be meant for another purchase: what it was before is left.
  const allowance = BigInt(active.figures.approved) + amount;
  succeed(await buyer.approve(active, allowance < maxUint256 ? allowance : maxUint256));
  return succeed(await buyer.pay(active, amount)).transaction_hash;
}

/** Takes a reconciled purchase through claim, decision and refund, as far as its state says. */
async function decideClaim(
  reconciled: Purchase,
  { plan, merchant, actors, api }: PurchaseSetting,
): Promise<void> {
  const { state, claimed, reason = "The course was cancelled.", award } = plan;
  const beneficiary = actors.wallets[plan.beneficiary];
  const { body } = succeed(await beneficiary.claim(reconciled, { amount: BigInt(claimed), reason }));
  const claim = await api.retrying.claim(reconciled, body);
  if (state === "claimed") return;
  const decision = await actors.reviewer.decide(reconciled, claim, { award });
  if (state === "approved" || state === "denied") return;
  await fundAward(merchant, plan, actors);
  const isHeld = state === "refund_due";
  if (isHeld) await actors.holdCollection(reconciled.program, decision.decision_hash);
  const refund = await (isHeld ? api.untilAnswered : api.retrying).refund(reconciled, decision);
  if (isHeld && refund.status === "collected")
    throw new SandboxError(
      "given_refused",
      `The refund ${refund.id} is collected already: another process leads, where the fault that holds it has no effect, or a fault lost its response, and the repeated request continued it. End that process or clear the faults, then try again.`,
    );
}
