import { amountRules } from "./amounts.ts";
import { calldataRules } from "./calldata.ts";
import { callerRules } from "./callers.ts";
import { deadlineRules } from "./deadlines.ts";
import { refundRules } from "./refunds.ts";
import type { Rule } from "./rule.ts";
import { stateRules } from "./states.ts";

/** What every registrar with this interface must keep. */
export const rules: readonly Rule[] = [
  ...callerRules,
  ...deadlineRules,
  ...amountRules,
  ...calldataRules,
  ...stateRules,
  ...refundRules,
];
