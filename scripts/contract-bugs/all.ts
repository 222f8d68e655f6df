import { commitments } from "./commitments.ts";
import type { ContractBug } from "./contract-bug.ts";
import { handovers } from "./handovers.ts";
import { canonicalCalldata, exactTransfer, fundingSource } from "./other-contracts.ts";
import { otherRecords } from "./other-records.ts";
import { otherStates } from "./other-states.ts";
import { batches, payments } from "./payments.ts";
import { enrollment, programs } from "./programs.ts";
import { endings, refunds } from "./refunds.ts";
import { signatureForms } from "./signature-forms.ts";
import { termsInStates, transfersInStates } from "./terms-in-states.ts";
import { token } from "./token.ts";
import { views } from "./views.ts";
import { widths } from "./widths.ts";
import { draws, suffixes, windows } from "./windows.ts";

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

/** Bugs that only `check-contract` must find: the Solidity tests try these calls in the first state only, or in other ways. */
export const stateBugs: { readonly [source: string]: readonly ContractBug[] } = {
  PurchaseRegistrar: [...termsInStates, ...transfersInStates, ...signatureForms, ...windows, ...otherRecords],
  FundingSource: draws,
  CanonicalCalldata: suffixes,
};
