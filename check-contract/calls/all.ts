import { batchCalls } from "./batches.ts";
import { callsByContracts } from "./by-contracts.ts";
import type { CallSequence } from "./call-sequence.ts";
import { chainIdCalls } from "./chain-id.ts";
import { contractSignerCalls } from "./contract-signer.ts";
import { drawCalls } from "./draws.ts";
import { firstOfferCalls } from "./first-offer.ts";
import { endlessCalls, largeValueCalls, manyCalls } from "./large-values.ts";
import { laterCalls } from "./later.ts";
import { reentrancyCalls } from "./reentrancy.ts";
import { callsWithBalances } from "./with-balances.ts";

/** All sequences of calls that a registrar contract is compared by: what the table of rules cannot try in one call after a state. */
export const callSequences: readonly CallSequence[] = [
  contractSignerCalls,
  batchCalls,
  firstOfferCalls,
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
