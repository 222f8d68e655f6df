import type { Json } from "../../protocol/values/json.ts";
import { permitPayment } from "../binding/permits.ts";
import { bindingErrors } from "../binding/require-bound.ts";
import { signatureErrors } from "../binding/require-signature.ts";
import type { ErrorCode } from "../errors/catalogue.ts";
import { assertNoFieldErrors } from "../errors/problem.ts";
import { defineOperation, type OperationContext, type Outcome } from "../http/operation.ts";
import type { Services } from "../http/services.ts";
import {
  type SubmitMerchantAction,
  type SubmitPurchaseAction,
  submitMerchantActionBody,
  submitPurchaseActionBody,
  walletSubmissionSchema,
} from "../schemas/wallets.ts";
import { findPurchase } from "../store/records/find.ts";
import {
  findRecorded,
  type GivenEvidence,
  isSameHex,
  stateOf,
  submissionKey,
  submissionsOf,
} from "../store/records/submissions.ts";
import type { SubmissionRecord } from "../store/records.ts";
import type { Stored } from "../store/store.ts";
import { viewTransactionRequest } from "../transactions/views.ts";
import {
  type CheckedSubmission,
  checkMerchantSubmission,
  checkPurchaseSubmission,
} from "./check-submission.ts";
import { viewSubmission } from "./views.ts";

const common = {
  number: null,
  method: "post",
  authorization: { kind: "wallet" },
  idempotent: true,
  effect: false,
  responses: { 200: { description: "The recorded submission.", schema: walletSubmissionSchema } },
  events: ["wallet.submitted"],
} as const;

const description =
  "Checks a transaction or a signature of the bound wallet as the program operation does, and records it for that operation. " +
  "Needs no credential. " +
  "Under any Idempotency-Key, a second submission gets the first response.";

const errors = [
  "state_conflict",
  ...signatureErrors,
  ...bindingErrors,
  "deadline_passed",
] as const satisfies ErrorCode[];

/** Records a wallet action of a merchant. */
export const submitMerchantWalletAction = defineOperation({
  ...common,
  id: "submitMerchantWalletAction",
  path: "/wallet/{program}/merchant/{id}",
  summary: "Submit a wallet action of a merchant",
  description,
  body: submitMerchantActionBody,
  errors,
  handle: async (context) => await record("merchant", context, checkMerchantSubmission),
});

/** The operation that submits an action of a purchase's wallet. */
export const submitPurchaseWalletAction = defineOperation({
  ...common,
  id: "submitPurchaseWalletAction",
  path: "/wallet/{program}/purchase/{id}",
  summary: "Submit a wallet action of a purchase",
  description,
  body: submitPurchaseActionBody,
  errors: [...errors, "claim_window_closed"],
  handle: async (context) => await record("purchase", context, checkPurchaseSubmission),
});

/**
 * Records what a wallet did, once. Transactions and signatures are public: a stranger that submits one again must not make the store
 * grow, so that neither an event nor an answer is stored for it.
 */
async function record<B extends SubmitMerchantAction | SubmitPurchaseAction>(
  type: "merchant" | "purchase",
  context: OperationContext<B>,
  check: (
    context: OperationContext<B>,
    submissions: readonly Stored<SubmissionRecord>[],
  ) => Promise<CheckedSubmission>,
): Promise<Outcome> {
  const { services, program, id, body } = context;
  assertEvidence(body);
  const submissions = await submissionsOf(services.store, program.id, id, body.action);
  const recorded = findRecorded(submissions, body);
  if (recorded !== undefined) return await repeat(recorded, services);
  const checked = await check(context, submissions);
  const key = submissionKey(program.id, id, body.action, checked.about);
  const before = submissions.find((submission) => submission.key === key);
  const evidence = await addEvidence(before?.value, checked, services);
  if (before !== undefined && isSameEvidence(before.value, evidence))
    return await repeat(before.value, services);
  const { amount, reason } = checked;
  const submitted = {
    program: program.id,
    subject: id,
    action: body.action,
    ...(amount === undefined ? {} : { amount }),
    ...(reason === undefined ? {} : { reason }),
    ...evidence,
  };
  return await submit({ key, submitted, before }, type, context);
}

/** Writes a submission, which keeps what it had before. */
async function submit(
  {
    key,
    submitted,
    before,
  }: {
    key: string;
    submitted: Omit<SubmissionRecord, "submitted_at" | "event_id" | "earlier">;
    before: Stored<SubmissionRecord> | undefined;
  },
  type: "merchant" | "purchase",
  { services, now }: Pick<OperationContext, "services" | "now">,
): Promise<Outcome> {
  const { subject: id, action, transaction_hash } = submitted;
  const transaction = await transactionOf(submitted, services);
  return {
    kind: "write",
    status: 200,
    event: { type: "wallet.submitted", data: { subject: { type, id }, action, transaction_hash } },
    write: (event_id) => {
      const earlier = before && [...(before.value.earlier ?? []), stateOf(before.value)];
      const submission: SubmissionRecord = {
        ...submitted,
        submitted_at: now,
        event_id,
        ...(earlier === undefined ? {} : { earlier }),
      };
      return {
        changes: [
          before === undefined
            ? { kind: "insert", collection: "submissions", key, value: submission }
            : { ...before, kind: "update", collection: "submissions", value: submission },
        ],
        body: answerOf(submission, transaction),
      };
    },
  };
}

function assertEvidence(body: SubmitMerchantAction | SubmitPurchaseAction): void {
  const { transaction_hash, signature }: GivenEvidence = body;
  const given = transaction_hash ?? signature;
  const detail = "is missing; send a transaction_hash or a signature";
  assertNoFieldErrors(given === undefined ? [{ pointer: "/transaction_hash", code: "missing", detail }] : []);
}

type Evidence = Pick<SubmissionRecord, "transaction_hash" | "signature">;

/**
 * Adds the evidence given now to a submission; a second signature of the same bytes counts once the first is no longer
 * valid.
 */
async function addEvidence(
  before: SubmissionRecord | undefined,
  { about, signer, transaction_hash, signature }: CheckedSubmission,
  { chain }: Services,
): Promise<Evidence> {
  const kept = before?.signature ?? null;
  const holds =
    kept !== null &&
    signer !== null &&
    signature !== undefined &&
    (await chain.verifySignature({ wallet: signer, digest: about, signature: kept })) === "valid";
  return {
    transaction_hash: transaction_hash ?? before?.transaction_hash ?? null,
    signature: holds ? kept : (signature ?? kept),
  };
}

function isSameEvidence(left: Evidence, right: Evidence): boolean {
  return left.transaction_hash === right.transaction_hash && isSameHex(left.signature, right.signature);
}

async function repeat(submission: SubmissionRecord, services: Services): Promise<Outcome> {
  const headers = { "Idempotent-Replayed": "true" };
  const body = answerOf(submission, await transactionOf(submission, services));
  return { kind: "read", status: 200, body, headers };
}

/** Returns the transaction that the wallet sends next: the payment under the permit that it has signed. */
async function transactionOf(
  {
    action,
    program,
    subject,
    amount,
    signature,
  }: Pick<SubmissionRecord, "action" | "program" | "subject" | "amount" | "signature">,
  services: Services,
): Promise<Json | null> {
  const { deployment } = services;
  if (action !== "pay_with_permit" || amount === undefined || signature === null) return null;
  const { purchase } = await findPurchase(services, program, subject);
  const call = permitPayment(purchase, { amount: BigInt(amount), signature }, deployment);
  return viewTransactionRequest(call, purchase.buyer, deployment);
}

function answerOf(submission: SubmissionRecord, transaction: Json | null) {
  return {
    submission: viewSubmission(submission),
    ...(transaction === null ? {} : { transaction }),
    event_id: submission.event_id,
  };
}
