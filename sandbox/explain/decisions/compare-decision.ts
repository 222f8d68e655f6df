import type { Decision } from "../../../protocol/signatures/decision.ts";
import type { Json } from "../../../protocol/values/json.ts";
import type { MemberDifference } from "../signatures/compare-typed-data.ts";
import type { SignatureMistake, SignatureMistakeName } from "../signatures/mistakes.ts";

const names: { readonly [M in keyof Decision]?: SignatureMistakeName } = {
  chain_id: "wrong_chain_id",
  claim_hash: "wrong_claim_hash",
  reviewer_key_id: "wrong_reviewer",
};

const members = [
  "award",
  "chain_id",
  "claim_hash",
  "claim_id",
  "commitment_hash",
  "decided_at",
  "outcome",
  "program",
  "purchase",
  "reviewer_key_id",
] as const satisfies readonly (keyof Decision)[];

/** Compares a decision with the one that the service would make of it, member by member. */
export function compareDecision(given: Decision, known: Decision): MemberDifference[] {
  return members.map((member) => ({
    name: `decision.${member}`,
    expected: known[member],
    actual: given[member],
    equal: known[member] === given[member],
  }));
}

/** Returns the mistakes of a decision, one for each member that differs. */
export function mistakesOfDecision(given: Decision, known: Decision): SignatureMistake[] {
  return members
    .filter((member) => given[member] !== known[member])
    .map((member) => decisionMistake(member, known[member], given[member]));
}

/** Makes the mistake of one member of a decision. */
export function decisionMistake(
  member: keyof Decision,
  expected: Json,
  actual: Json,
  start = "",
): SignatureMistake {
  const field = `decision.${member}`;
  const verb = start === "" ? `${field} is` : `${start} ${field}`;
  return {
    name: names[member] ?? "changed_field",
    field,
    expected,
    actual,
    detail: `${verb} ${JSON.stringify(actual)}; ${JSON.stringify(expected)} was expected.`,
  };
}
