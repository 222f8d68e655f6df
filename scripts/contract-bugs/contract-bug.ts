/** One bug that is planted in a contract by hand, of a kind that no operator of the mutation run makes. */
export interface ContractBug {
  /** One sentence that names the rule which it breaks. */
  rule: string;
  /** Text that the source has exactly once. */
  find: string;
  replace: string;
}
