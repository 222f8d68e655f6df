import { type Hex, hashMessage } from "viem";
import { hashClaim, hashReason } from "../../protocol/claim.ts";
import { hashId } from "../../protocol/id.ts";
import { toTimestamp } from "../../protocol/time.ts";
import {
  type Expectation,
  expectClaim,
  expectEnrollment,
  expectFundingApproval,
  expectPaymentApproval,
  expectPayments,
  expectRegistration,
} from "../binding/expectations.ts";
import { assertBound, requireBound } from "../binding/require-bound.ts";
import type { ChainPurchase } from "../chain/chain.ts";
import { domainOf } from "../domain/commitment-of.ts";
import { findMerchant, findPurchase } from "../domain/find.ts";
import { readClaimedPayments } from "../domain/payments.ts";
import { requireSignature } from "../domain/require-signature.ts";
import { submissionKey } from "../domain/submitted.ts";
import { Problem } from "../errors/problem.ts";
import { defineOperation, type OperationContext } from "../http/operation.ts";
import {
  merchantActions,
  purchaseActions,
  submitMerchantActionBody,
  submitPurchaseActionBody,
  type WalletAction,
  walletSubmissionSchema,
} from "../schemas/wallet.ts";
import type { PurchaseRecord, SubmissionRecord } from "../store/records.ts";
import type { Stored } from "../store/store.ts";
import { enrollmentMessageOf } from "../views/merchant.ts";

interface Submission {
  action: WalletAction;
  transaction_hash?: Hex | undefined;
  signature?: Hex | undefined;
  amount?: string | undefined;
  reason?: string | undefined;
}

type Context = OperationContext<Submission>;

function submitWalletAction(type: "merchant" | "purchase") {
  const names: readonly WalletAction[] = type === "merchant" ? merchantActions : purchaseActions;
  const check = type === "merchant" ? checkMerchantAction : checkPurchaseAction;
  return defineOperation({
    number: null,
    id: type === "merchant" ? "submitMerchantWalletAction" : "submitPurchaseWalletAction",
    method: "post",
    path: `/wallet/{program}/${type}/{id}`,
    summary: `Submit what the wallet of a ${type} did`,
    description:
      `Checks a transaction or a signature exactly as the program operation would and records it for that operation. Actions: ${names.join(", ")}. ` +
      "Needs no credential: only what the bound wallet itself sent or signed is accepted.",
    authorization: { kind: "wallet" },
    idempotent: true,
    effect: false,
    body: type === "merchant" ? submitMerchantActionBody : submitPurchaseActionBody,
    responses: { 200: { description: "The submission as it was recorded.", schema: walletSubmissionSchema } },
    errors: [
      "not_found",
      "signature_invalid",
      "signer_mismatch",
      "transaction_not_found",
      "transaction_unconfirmed",
      "transaction_reverted",
      "transaction_already_used",
      "binding_mismatch",
      "deadline_passed",
      "claim_window_closed",
      "rpc_unavailable",
      "chain_mismatch",
      "storage_unavailable",
    ],
    events: ["wallet.submitted"],
    async handle(context) {
      const { services, program, id, body, now } = context;
      if (body.transaction_hash === undefined && body.signature === undefined)
        throw refused("/transaction_hash", "missing", "send a transaction_hash or a signature");
      await check(context);
      const key = submissionKey(program.id, id, body.action);
      const before = await services.store.get("submissions", key);
      const transaction_hash = body.transaction_hash ?? before?.value.transaction_hash ?? null;
      const signature = body.signature ?? before?.value.signature ?? null;
      // Transactions are public: whoever sends one again changes nothing and causes nothing.
      if (before?.value.transaction_hash === transaction_hash && before.value.signature === signature)
        return {
          kind: "write",
          status: 200,
          write: () => ({ changes: [], body: viewSubmission(before.value) }),
        };
      return {
        kind: "write",
        status: 200,
        event: {
          type: "wallet.submitted",
          data: { subject: { type, id }, action: body.action, transaction_hash },
        },
        write: (event_id) => {
          const submission: SubmissionRecord = {
            program: program.id,
            subject: id,
            action: body.action,
            transaction_hash,
            signature,
            submitted_at: now,
            event_id,
          };
          return {
            changes: [
              before
                ? { ...before, kind: "update", collection: "submissions", value: submission }
                : { kind: "insert", collection: "submissions", key, value: submission },
            ],
            body: viewSubmission(submission),
          };
        },
      };
    },
  });
}

function viewSubmission({ action, transaction_hash, signature, submitted_at, event_id }: SubmissionRecord) {
  return {
    submission: { action, transaction_hash, signature, submitted_at: toTimestamp(submitted_at) },
    event_id,
  };
}

/** What the wallet of a merchant did. */
export const submitMerchantWalletAction = submitWalletAction("merchant");

/** What a wallet of a purchase did. */
export const submitPurchaseWalletAction = submitWalletAction("purchase");

async function checkMerchantAction({ services, program, id, body }: Context): Promise<void> {
  const merchant = (await findMerchant(services.store, program.id, id)).value;
  if (body.action === "fund") {
    await requireTransaction(expectFundingApproval(merchant, services), { id, body, services });
    return;
  }
  if (body.transaction_hash !== undefined) {
    const query = { program: hashId(program.id), merchantRef: hashId(id), wallet: merchant.wallet };
    const { authorization } = await services.chain.funding(query);
    await requireTransaction(expectEnrollment(merchant, authorization, services), { id, body, services });
  }
  if (body.signature !== undefined) {
    const digest = hashMessage(enrollmentMessageOf(merchant, services));
    await requireSignature({ wallet: merchant.wallet, digest, signature: body.signature }, services);
  }
}

async function checkPurchaseAction({ services, program, id, body }: Context): Promise<void> {
  const stored = await findPurchase(services.store, program.id, id);
  const purchase = stored.value;
  const onChain = await services.chain.purchase({ id: purchase.commitment_hash, buyer: purchase.buyer });
  switch (body.action) {
    case "register":
      return await requireTransaction(expectRegistration(purchase, onChain.exists, services), {
        id,
        body,
        services,
      });
    case "approve": {
      const amount = BigInt(body.amount ?? purchase.amount);
      return await requireTransaction(expectPaymentApproval(purchase, amount, services), {
        id,
        body,
        services,
      });
    }
    case "pay":
      return await checkPayment(stored, onChain, { id, body, services });
    default:
      return await checkClaim(purchase, onChain.exists, { id, body, services });
  }
}

type Given = Pick<Context, "id" | "body" | "services">;

async function requireTransaction(expected: Expectation, { id, body, services }: Given): Promise<void> {
  const hash = givenHash(body);
  await requireBound(hash, expected, { key: hash, step: stepOf[body.action], subject: id }, services);
}

/** The step of the program operation that each action serves. */
const stepOf: { readonly [A in WalletAction]: string } = {
  enroll: "enrollment",
  fund: "funding approval",
  register: "registration",
  approve: "payment approval",
  pay: "payment",
  claim: "claim",
};

async function checkPayment(
  stored: Stored<PurchaseRecord>,
  onChain: ChainPurchase,
  { body, services }: Given,
): Promise<void> {
  const hash = givenHash(body);
  const observed = await services.chain.observe(hash);
  const { call, payments } = await readClaimedPayments(observed, stored, onChain, services);
  const expected = expectPayments(call, payments, stored.value, services);
  await assertBound(observed, expected, { key: hash, step: "payment", subject: hash }, services);
}

async function checkClaim(
  purchase: PurchaseRecord,
  exists: boolean,
  { id, body, services }: Given,
): Promise<void> {
  if (body.amount === undefined) throw refused("/amount", "missing", "send the claimed amount");
  if (body.reason === undefined) throw refused("/reason", "missing", "send the reason that was signed");
  const { beneficiary } = purchase;
  const claimHash = hashClaim(domainOf(services.deployment), {
    commitment: purchase.commitment_hash,
    beneficiary,
    requestedAmount: BigInt(body.amount),
    reasonHash: hashReason(body.reason),
  });
  if (body.signature !== undefined)
    await requireSignature({ wallet: beneficiary, digest: claimHash, signature: body.signature }, services);
  if (body.transaction_hash !== undefined)
    await requireTransaction(expectClaim(purchase, claimHash, exists, services), { id, body, services });
}

function givenHash(body: Submission): Hex {
  if (body.transaction_hash === undefined)
    throw refused("/transaction_hash", "missing", "send the transaction's hash");
  return body.transaction_hash;
}

function refused(pointer: string, code: string, detail: string): Problem {
  return new Problem("validation_failed", `${pointer} ${detail}`, { errors: [{ pointer, code, detail }] });
}
