import type { ContractBug } from "./contract-bug.ts";

/** Bugs in views and digests. */
export const views: readonly ContractBug[] = [
  {
    rule: "The figures tell the buyer's allowance, not the beneficiary's.",
    find: ".allowance(record.buyer, address(this))",
    replace: ".allowance(record.beneficiary, address(this))",
  },
  {
    rule: "The figures tell the allowance to the registrar contract.",
    find: ".allowance(record.buyer, address(this))",
    replace: ".allowance(record.buyer, address(_fundingSource))",
  },
  {
    rule: "A funding tells the allowance to the funding source.",
    find: "allowance(state.wallet, address(_fundingSource))",
    replace: "allowance(state.wallet, address(this))",
  },
  {
    rule: "A purchase tells its beneficiary.",
    find: "state.beneficiary = record.beneficiary;",
    replace: "state.beneficiary = record.buyer;",
  },
  {
    rule: "A purchase tells its own pay deadline.",
    find: "state.payDeadline = record.payDeadline;",
    replace: "state.payDeadline = record.claimDeadline;",
  },
  {
    rule: "A claim's digest covers the requested amount by its name.",
    find: "Claim(bytes32 commitment,address beneficiary,uint256 requestedAmount,bytes32 reasonHash)",
    replace: "Claim(bytes32 commitment,address beneficiary,uint256 amount,bytes32 reasonHash)",
  },
];
