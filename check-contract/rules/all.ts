import { amountRules } from "./amounts.ts";
import { calldataRules } from "./calldata.ts";
import { callerRules } from "./callers.ts";
import { deadlineRules } from "./deadlines.ts";
import { permitRules } from "./permits.ts";
import { refundRules } from "./refunds.ts";
import { type Rule, ruleWithPermit } from "./rule.ts";
import { stateRules } from "./states.ts";

const plain: readonly Rule[] = [
  ...callerRules,
  ...deadlineRules,
  ...amountRules,
  ...calldataRules,
  ...stateRules,
];

/** The rules that every registrar with this interface must keep. */
export const rules: readonly Rule[] = [
  ...plain,
  ...refundRules,
  ...permitRules,
  ...plain.filter(({ pays }) => pays === undefined).map(ruleWithPermit),
];
