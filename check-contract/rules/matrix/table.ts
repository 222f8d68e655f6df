import {
  adminCalls,
  enrollments,
  offers,
  openings,
  registrations,
  repetitions,
  revocations,
} from "./program-calls.ts";
import { claims, expiries, payments, refunds, withdrawals } from "./purchase-calls.ts";
import type { TableCall } from "./table-call.ts";

/** All calls that are tried in every state. */
export const table: readonly TableCall[] = [
  ...payments,
  ...claims,
  ...refunds,
  ...withdrawals,
  ...expiries,
  ...revocations,
  ...registrations,
  ...offers,
  ...repetitions,
  ...enrollments,
  ...adminCalls,
  ...openings,
];
