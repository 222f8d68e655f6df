import { callsByContracts } from "./by-contracts.ts";
import type { CallSequence } from "./call-sequence.ts";
import { chainIdCalls } from "./chain-id.ts";
import { closingCalls, endedPurchaseCalls } from "./closing.ts";
import { contractSignerCalls, offerCalls, registrationCalls } from "./commitments.ts";
import { drawCalls } from "./draws.ts";
import { enrollmentCalls } from "./enrollment.ts";
import { endlessCalls, largeValueCalls, manyCalls } from "./large-values.ts";
import { laterCalls } from "./later.ts";
import { paymentCalls } from "./payments.ts";
import { programCalls } from "./programs.ts";
import { reentrancyCalls } from "./reentrancy.ts";
import { refundCalls } from "./refunds.ts";
import { callsWithBalances } from "./with-balances.ts";

/** All sequences of calls that a registrar contract is compared by. */
export const callSequences: readonly CallSequence[] = [
  programCalls,
  enrollmentCalls,
  registrationCalls,
  offerCalls,
  contractSignerCalls,
  paymentCalls,
  closingCalls,
  endedPurchaseCalls,
  refundCalls,
  drawCalls,
  reentrancyCalls,
  largeValueCalls,
  endlessCalls,
  manyCalls,
  laterCalls,
  callsByContracts,
  callsWithBalances,
  chainIdCalls,
];
