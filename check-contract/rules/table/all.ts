import { dirtyWords, draws, etherTransfers, suffixes, withEther } from "./calldata-calls.ts";
import { lateCalls, otherOperatorCalls } from "./late-calls.ts";
import { nearIds } from "./near-ids.ts";
import { formerAdminCalls, otherAdminCalls } from "./other-admin-calls.ts";
import { batches, batchLengths, payments, repeatedPayments, transfers } from "./payment-calls.ts";
import {
  adminCalls,
  enrollments,
  handovers,
  offers,
  openings,
  registrations,
  repetitions,
  revocations,
  wideBounds,
} from "./program-calls.ts";
import { claims, expiries, otherRefunds, refunds, withdrawals } from "./purchase-calls.ts";
import { sameSecond } from "./same-second-calls.ts";
import { contractSigners, formerSigners, signatures, unknownPrograms } from "./signature-calls.ts";
import { signerChanges } from "./signer-changes.ts";
import type { TableCall } from "./table-call.ts";
import { enrollmentsWithTerms, offerTerms, purchasesOfOthers, registrationTerms } from "./terms-calls.ts";
import { unusualViews, viewsByContract } from "./views-by-contract.ts";
import { wrongCallers } from "./wrong-callers.ts";

/** A call that changes nothing: the views after it show the state itself. */
export const noCall: TableCall = {
  name: "the view functions show the state",
  by: "stranger",
  readsOthers: true,
  call: ({ walletWithoutCode }) => ({ to: walletWithoutCode, data: "0x", function: "none", args: {} }),
  broken: () => [],
};

/** All calls that are tried in every state. */
export const table: readonly TableCall[] = [
  noCall,
  ...payments,
  ...batches,
  ...batchLengths,
  ...repeatedPayments,
  ...transfers,
  ...claims,
  ...refunds,
  ...otherRefunds,
  ...withdrawals,
  ...expiries,
  ...revocations,
  ...registrations,
  ...registrationTerms,
  ...offers,
  ...offerTerms,
  ...purchasesOfOthers,
  ...repetitions,
  ...enrollments,
  ...enrollmentsWithTerms,
  ...adminCalls,
  ...handovers,
  ...otherAdminCalls,
  ...formerAdminCalls,
  ...wrongCallers,
  ...lateCalls,
  ...otherOperatorCalls,
  ...openings,
  ...wideBounds,
  ...sameSecond,
  ...nearIds,
  ...signatures,
  ...formerSigners,
  ...signerChanges,
  ...unknownPrograms,
  ...contractSigners,
  ...suffixes,
  ...dirtyWords,
  ...withEther,
  ...etherTransfers,
  ...draws,
  ...viewsByContract,
  ...unusualViews,
];
