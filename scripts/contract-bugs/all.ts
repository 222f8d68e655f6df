import { commitments } from "./commitments.ts";
import type { ContractBug } from "./contract-bug.ts";
import { canonicalCalldata, exactTransfer, fundingSource } from "./other-contracts.ts";
import { otherStates } from "./other-states.ts";
import { batches, payments } from "./payments.ts";
import { enrollment, programs } from "./programs.ts";
import { endings, refunds } from "./refunds.ts";
import { termsInStates, transfersInStates } from "./terms-in-states.ts";
import { token } from "./token.ts";
import { views } from "./views.ts";
import { handovers, widths } from "./widths.ts";

/** The bugs by the source that they are planted in. */
export const contractBugs: { readonly [source: string]: readonly ContractBug[] } = {
  PurchaseRegistrar: [
    ...programs,
    ...enrollment,
    ...commitments,
    ...payments,
    ...batches,
    ...refunds,
    ...endings,
    ...otherStates,
    ...views,
    ...widths,
    ...handovers,
  ],
  FundingSource: fundingSource,
  ExactTransfer: exactTransfer,
  CanonicalCalldata: canonicalCalldata,
  TestUSDC: token,
};

/** Bugs that only show in other states than the first. The Solidity tests try these terms and transfers in the first state only. */
export const stateBugs: { readonly [source: string]: readonly ContractBug[] } = {
  PurchaseRegistrar: [...termsInStates, ...transfersInStates],
};
