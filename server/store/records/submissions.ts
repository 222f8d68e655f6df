import type { Hex } from "viem";
import { Problem } from "../../errors/problem.ts";
import type { WalletAction } from "../../schemas/wallets.ts";
import type { SubmissionRecord, SubmissionState } from "../records.ts";
import type { Store, Stored } from "../store.ts";

/**
 * The key of what a wallet submitted for one action on one object.
 *
 * @param about - the digest that is signed, or the transaction's hash where nothing is signed.
 */
export function submissionKey(program: string, subject: string, action: WalletAction, about: Hex): string {
  return `${program}/${subject}/${action}/${about}`;
}

/** Returns the wallets' submissions for an action on an object, in the order in which they were first submitted. */
export async function submissionsOf(
  store: Store,
  program: string,
  subject: string,
  action: WalletAction,
): Promise<Stored<SubmissionRecord>[]> {
  const found = await store.list("submissions", { subject });
  return found.filter(({ value }) => value.program === program && value.action === action);
}

/** The given fields of a submission; a field that is left out matches anything. */
export interface GivenEvidence {
  transaction_hash?: Hex | undefined;
  signature?: Hex | undefined;
  amount?: string | undefined;
  reason?: string | undefined;
}

/** Finds a submission that already says everything that is given, as it was when it first did. */
export function findRecorded(
  submissions: readonly Stored<SubmissionRecord>[],
  given: GivenEvidence,
): SubmissionRecord | undefined {
  return submissions
    .flatMap(({ value }) => [...(value.earlier ?? []), value].map((state) => ({ ...value, ...state })))
    .find(
      (submission) =>
        (given.transaction_hash ?? submission.transaction_hash) === submission.transaction_hash &&
        isSameHex(given.signature ?? submission.signature, submission.signature) &&
        (given.amount ?? submission.amount) === submission.amount &&
        (given.reason ?? submission.reason) === submission.reason,
    );
}

/** Returns whether two byte strings are equal; a stranger could write one signature in many cases. */
export function isSameHex(left: Hex | null, right: Hex | null): boolean {
  return left?.toLowerCase() === right?.toLowerCase();
}

/** A submission's newest state, to be kept as an earlier one. */
export function stateOf({
  transaction_hash,
  signature,
  submitted_at,
  event_id,
}: SubmissionState): SubmissionState {
  return { transaction_hash, signature, submitted_at, event_id };
}

/**
 * The refusal of a body that leaves out what no wallet has submitted either.
 *
 * @param fields - what was found of each field; null where nothing was.
 */
export function missingEvidence(
  action: WalletAction,
  fields: { readonly [field: string]: string | null },
): Problem {
  const missing = Object.keys(fields).filter((field) => fields[field] === null);
  const detail = `is missing; send it, or submit the action ${action} over the wallet route`;
  const errors = missing.map((field) => ({ pointer: `/${field}`, code: "missing", detail }));
  const [first] = missing;
  const all =
    missing.length === 1
      ? `/${first} ${detail}`
      : `${missing.map((field) => `/${field}`).join(" and ")} are missing; send them, or submit the action ${action} over the wallet route`;
  return new Problem("validation_failed", all, { errors });
}
