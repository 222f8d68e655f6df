import { type Address, toHex } from "viem";
import { hashCommitment } from "../../protocol/messages/commitment.ts";
import { deriveKey } from "../../protocol/signatures/key-derivation.ts";
import { hashJson } from "../../protocol/values/canonical-json.ts";
import { sameAddress } from "../../protocol/values/same-address.ts";
import { toTimestamp } from "../../protocol/values/time.ts";
import { prefetch } from "../../relayer/prefetch.ts";
import { commitmentOf, commitmentSigner, domainOf } from "../binding/commitment-of.ts";
import { fundingOf } from "../binding/read-funding.ts";
import type { ChainFunding } from "../chain/chain-reader.ts";
import type { Deployment } from "../chain/deployment.ts";
import { assertNoFieldErrors, type FieldError } from "../errors/problem.ts";
import { copyFields } from "../http/answers/copy-fields.ts";
import { defineOperation } from "../http/operation.ts";
import type { Services } from "../http/services.ts";
import { once } from "../lib/once.ts";
import { defaultPeriods, limitTexts } from "../limits.ts";
import { assertEnrolled } from "../merchants/merchant-steps.ts";
import { findUnable } from "../merchants/parties.ts";
import {
  type CreatePurchase,
  createPurchaseBody,
  type Deadlines,
  purchaseSchema,
  purchaseTextsSchema,
} from "../schemas/purchases.ts";
import { findMerchant } from "../store/records/find.ts";
import { nextId } from "../store/records/next-id.ts";
import type { MerchantRecord, PurchaseRecord } from "../store/records.ts";
import { viewPurchase } from "./views.ts";

/** `POST …/purchases`: a signed, immutable purchase commitment with a buyer wallet link. */
export const createPurchase = defineOperation({
  number: 6,
  id: "createPurchase",
  method: "post",
  path: "/v1/routing/programs/{program}/purchases",
  summary: "Create a purchase",
  description:
    "Creates a purchase: the program's commitment signer signs its immutable commitment (EIP-712). The buyer pays at `wallet_url`. " +
    `By default the offer deadline is ${limitTexts.offer_deadline} from now, the pay deadline ${limitTexts.pay_deadline} and the claim deadline ${limitTexts.claim_deadline}.`,
  authorization: { kind: "scope", scope: "purchases:write" },
  idempotent: true,
  effect: false,
  body: createPurchaseBody,
  responses: { 201: { description: "The purchase.", schema: purchaseSchema } },
  errors: ["not_found", "merchant_not_enrolled"],
  events: ["purchase.created"],
  async handle({ services, program, body, now }) {
    const { store, deployment } = services;
    const merchant = (await findMerchant(store, program.id, body.merchant_id)).value;
    const deadlines = fillDeadlines(body, now);
    // A chain that reorganizes meanwhile is read again, for the same purchase.
    const draft = once(async () => await draftPurchase({ ...body, ...deadlines }, merchant, now, services));
    // The signature, which takes longer than an answer of the node, is made while the node reads the purchase.
    const sign = once(async () => await signDraft(await draft(), services));
    const onChain = await services.chain.purchaseUnder(fundingOf(merchant), async (funding) => {
      await assertEnrolled(merchant, funding, services);
      assertNoFieldErrors([
        ...findInTerms({ ...deadlines, amount: BigInt(body.amount) }, merchant, funding, now),
        ...findInParties(body, merchant, deployment),
      ]);
      const { commitment_hash, buyer } = await draft();
      prefetch(sign());
      return { id: commitment_hash, buyer };
    });
    const signed = await sign();
    const { id, commitment_hash, amount } = signed;
    return {
      kind: "write",
      status: 201,
      event: {
        type: "purchase.created",
        data: { purchase_id: id, merchant_id: merchant.id, commitment_hash, amount },
      },
      write: (event_id) => {
        const purchase: PurchaseRecord = { ...signed, event_id };
        return {
          changes: [{ kind: "insert", collection: "purchases", key: id, value: purchase }],
          body: viewPurchase(purchase, { claim: null, decision: null, refund: null }, onChain, services),
        };
      },
    };
  },
});

/** Returns the deadlines of a purchase: those that are given, and for the others the default that is not before them. */
export function fillDeadlines(
  body: { readonly [D in keyof Deadlines]?: number | undefined },
  now: number,
): Deadlines {
  return {
    offer_deadline: body.offer_deadline ?? now + defaultPeriods.offer_deadline,
    pay_deadline: body.pay_deadline ?? Math.max(now + defaultPeriods.pay_deadline, body.offer_deadline ?? 0),
    claim_deadline:
      body.claim_deadline ??
      Math.max(now + defaultPeriods.claim_deadline, body.pay_deadline ?? 0, body.offer_deadline ?? 0),
  };
}

/** The record of a purchase without the signature of its commitment, and without its event. */
type Draft = Omit<PurchaseRecord, "commitment_signature" | "event_id">;

/** Makes the record of a purchase, with the hash of its commitment, which the program's commitment signer has to sign. */
async function draftPurchase(
  asked: CreatePurchase & Deadlines,
  merchant: MerchantRecord,
  now: number,
  services: Services,
): Promise<Draft> {
  const { deployment, settings } = services;
  const id = await nextId("pur", services);
  const draft: Omit<Draft, "commitment_hash"> = {
    ...asked,
    ...copyFields(purchaseTextsSchema, asked),
    id,
    program: merchant.program,
    status: "created",
    route: null,
    salt: toHex(deriveKey(settings.seed, `salt/${id}`)),
    terms_hash: hashJson(asked.terms),
    merchant: merchant.wallet,
    beneficiary: asked.beneficiary ?? asked.buyer,
    receipts: [],
    claim_id: null,
    decision_id: null,
    refund_id: null,
    created_at: now,
  };
  return { ...draft, commitment_hash: hashCommitment(domainOf(deployment), commitmentOf(draft, deployment)) };
}

/** Has the program's commitment signer sign the commitment of a draft. */
async function signDraft(draft: Draft, services: Services): Promise<Omit<PurchaseRecord, "event_id">> {
  const signer = commitmentSigner(draft.program, services);
  return { ...draft, commitment_signature: await signer.sign({ hash: draft.commitment_hash }) };
}

/** Everything in the terms that the contract would refuse. */
function findInTerms(
  terms: Deadlines & { amount: bigint },
  merchant: MerchantRecord,
  { collected }: Pick<ChainFunding, "collected">,
  now: number,
): FieldError[] {
  const { offer_deadline: offer, pay_deadline: pay, claim_deadline: claim } = terms;
  const { valid_until: end } = merchant.funding;
  const cap = BigInt(merchant.funding.cap);
  const remaining = cap - collected;
  const errors: FieldError[] = [];
  const find = (pointer: string, code: string, detail: string) => errors.push({ pointer, code, detail });
  if (offer <= now) find("/offer_deadline", "not_in_future", `must be after now (${now})`);
  if (pay < offer) find("/pay_deadline", "out_of_order", `must not be before offer_deadline (${offer})`);
  if (claim < pay) find("/claim_deadline", "out_of_order", `must not be before pay_deadline (${pay})`);
  if (end <= now)
    find(
      "/merchant_id",
      "funding_ended",
      `is of a merchant whose funding authorization was valid until ${toTimestamp(end)}; let its wallet revoke the authorization and enroll under a new merchant`,
    );
  else if (claim > end)
    find(
      "/claim_deadline",
      "after_funding",
      `must not be after the end of the merchant's funding authorization (${end})`,
    );
  if (terms.amount > cap)
    find("/amount", "above_funding_cap", `must not be above the merchant's funding cap (${cap})`);
  else if (terms.amount > remaining)
    find(
      "/amount",
      "above_funding_remaining",
      `must not be above what is left under the merchant's funding cap (${remaining})`,
    );
  return errors;
}

/** Every party that cannot act, or that the contract would refuse because it is the merchant. */
function findInParties(
  given: { buyer: Address; beneficiary?: Address | undefined },
  merchant: MerchantRecord,
  deployment: Deployment,
): FieldError[] {
  const parties = [
    { pointer: "/buyer", address: given.buyer },
    ...(given.beneficiary === undefined ? [] : [{ pointer: "/beneficiary", address: given.beneficiary }]),
  ];
  return parties.flatMap(({ pointer, address }) => {
    if (sameAddress(address, merchant.wallet))
      return [{ pointer, code: "same_party", detail: "must not be the merchant's wallet" }];
    return findUnable(pointer, address, deployment) ?? [];
  });
}
