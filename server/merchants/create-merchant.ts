import { type Address, toHex } from "viem";
import {
  fundingAuthorizationTypedData,
  hashFundingAuthorization,
} from "../../protocol/messages/funding-authorization.ts";
import { deriveKey } from "../../protocol/signatures/key-derivation.ts";
import { hashId } from "../../protocol/values/id.ts";
import { authorizationOf, commitmentSigner, domainOf } from "../binding/commitment-of.ts";
import { assertNoFieldErrors, type FieldError } from "../errors/problem.ts";
import { defineOperation } from "../http/operation.ts";
import type { Services } from "../http/services.ts";
import { defaultPeriods } from "../limits.ts";
import { createMerchantBody, merchantSchema } from "../schemas/merchants.ts";
import { findMerchantId } from "../store/records/find.ts";
import { nextId } from "../store/records/next-id.ts";
import type { MerchantRecord } from "../store/records.ts";
import { findUnable } from "./parties.ts";
import { viewMerchant } from "./views.ts";

/** `POST …/merchants`: a merchant with a signed funding authorization and a wallet link. */
export const createMerchant = defineOperation({
  number: 4,
  id: "createMerchant",
  method: "post",
  path: "/v1/routing/programs/{program}/merchants",
  summary: "Create a merchant",
  description:
    "Creates a merchant: the program's commitment signer authorizes its wallet to fund refunds up to a cap. The wallet enrolls at `wallet_url`. " +
    "A wallet that is already enrolled in the program is refused, because the contract would refuse its enrollment.",
  authorization: { kind: "scope", scope: "merchants:write" },
  idempotent: true,
  effect: false,
  body: createMerchantBody,
  responses: {
    201: {
      description: "The merchant, with status `pending` until its enrollment is confirmed.",
      schema: merchantSchema,
    },
  },
  errors: [],
  events: ["merchant.created"],
  async handle({ services, program, body, now }) {
    const { chain } = services;
    const validUntil = body.funding_valid_until ?? now + defaultPeriods.funding_valid_until;
    assertNoFieldErrors([
      ...(validUntil > now
        ? []
        : [{ pointer: "/funding_valid_until", code: "not_in_future", detail: `must be after now (${now})` }]),
      ...(await findInWallet(body.wallet, program.id, services)),
    ]);
    const id = await nextId("mer", services);
    const party = { id, program: program.id, wallet: body.wallet };
    const funding = await authorizeFunding(
      party,
      { cap: body.funding_cap, valid_until: validUntil },
      services,
    );
    const onChain = await chain.funding({
      program: hashId(program.id),
      merchantRef: hashId(id),
      wallet: body.wallet,
    });
    return {
      kind: "write",
      status: 201,
      event: {
        type: "merchant.created",
        data: { merchant_id: id, wallet: body.wallet, funding_cap: body.funding_cap },
      },
      write: (event_id) => {
        const merchant: MerchantRecord = {
          id,
          program: program.id,
          name: body.name,
          wallet: body.wallet,
          reference: body.reference ?? null,
          status: "pending",
          funding,
          enrollment: null,
          created_at: now,
          event_id,
        };
        return {
          changes: [{ kind: "insert", collection: "merchants", key: id, value: merchant }],
          body: viewMerchant(merchant, onChain, services),
        };
      },
    };
  },
});

/** Has the program's commitment signer authorize a wallet to fund refunds. */
async function authorizeFunding(
  party: Pick<MerchantRecord, "id" | "program" | "wallet">,
  bounds: Pick<MerchantRecord["funding"], "cap" | "valid_until">,
  services: Services,
): Promise<MerchantRecord["funding"]> {
  const { deployment, settings } = services;
  const terms = { ...bounds, salt: toHex(deriveKey(settings.seed, `salt/${party.id}`)) };
  const authorization = authorizationOf({ ...party, funding: terms }, deployment);
  const domain = domainOf(deployment);
  const signer = commitmentSigner(party.program, services);
  const signature = await signer.signTypedData(fundingAuthorizationTypedData(domain, authorization));
  return { ...terms, hash: hashFundingAuthorization(domain, authorization), signature };
}

/**
 * Finds the reasons why a wallet cannot enroll as a merchant: it cannot act, or it is enrolled in the program already.
 */
async function findInWallet(wallet: Address, program: string, services: Services): Promise<FieldError[]> {
  const pointer = "/wallet";
  const unable = findUnable(pointer, wallet, services.deployment);
  if (unable !== null) return [unable];
  const merchantRef = await services.chain.enrolledAs({ program: hashId(program), wallet });
  if (merchantRef === null) return [];
  const known = (await findMerchantId(services.store, program, merchantRef)) ?? merchantRef;
  const detail = `is enrolled as ${known} in this program; use another wallet, or let it revoke that funding`;
  return [{ pointer, code: "already_enrolled", detail }];
}
