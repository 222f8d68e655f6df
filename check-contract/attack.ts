import { z } from "zod";
import type { CheckName } from "../protocol/binding/check-binding.ts";
import { hashSchema } from "../server/schemas/primitives.ts";
import type { Outcome } from "./breach.ts";
import type { ContractFixture } from "./fixture/contract-fixture.ts";
import {
  type AttackResult,
  describeWrongField,
  type FixtureAnswer,
  ruleOfWrongField,
} from "./fixture/fixture-service.ts";

/** The part that an attack uses, as in the list of docs/check-contract.md. */
export type AttackArea =
  | "envelope"
  | "call path"
  | "calldata"
  | "transaction receipt and logs"
  | "chain"
  | "token"
  | "signatures"
  | "service"
  | "permit";

/** One attempt to have something accepted that must not be: real transactions, submitted through the front door. */
export interface Attack {
  area: AttackArea;
  /** A sentence's subject, as in the list of docs/check-contract.md. */
  name: string;
  /** Exactly how the API answers. */
  stopped: AttackResult;
  /** A check that passes for some correct contracts: a proxy without its storage succeeds, and does nothing. */
  optional?: CheckName;
  /**
   * Every attack in which the buyer pays one purchase is tried with `payWithPermit` too. Set where it pays none, or where the
   * attack is about which of the two functions pays.
   */
  pays?: false | "without a permit";
  run(fixture: ContractFixture): Promise<FixtureAnswer>;
}

/** Attacks of one area. */
export function attacksOf(area: AttackArea, attacks: readonly Omit<Attack, "area">[]): readonly Attack[] {
  return attacks.map((attack) => ({ area, ...attack }));
}

/** The refusal of a transaction that differs from the expected one, by exactly these checks. */
export function mismatch(...failed: CheckName[]): AttackResult {
  return { status: 422, code: "binding_mismatch", failed };
}

/** A refusal with a code of its own. */
export function refused(status: number, code: string, ...failed: CheckName[]): AttackResult {
  return { status, code, failed };
}

/** The refusal of a hash that the chain does not know: every check that needs the transaction fails. */
export const transactionNotFound = refused(
  409,
  "transaction_not_found",
  "mined",
  "confirmations",
  "canonical",
  "status",
  "wallet",
  "contract",
  "value",
  "calldata",
  "log",
  "timely",
);

/** No refusal: the attack is harmless because of what the answer says. */
export const harmless: AttackResult = { status: 200, code: null, failed: [] };

/** Returns why an attack was not stopped as it should be, or null when it was. */
export async function findFailure(attack: Attack, fixture: ContractFixture): Promise<Outcome> {
  await fixture.reset();
  const answer = await attack.run(fixture);
  const { status, code, failed } = answer;
  const seen = { status, code, failed };
  if (fixture.payments > 0 === (attack.pays === false))
    return `made ${fixture.payments} payments of one purchase, other than its \`pays\` says`;
  const { stopped, optional } = attack;
  const required = failed.some((name) => name === optional) ? stopped : withoutOptional(attack);
  if (JSON.stringify(seen) !== JSON.stringify(required)) {
    const wrong = describeWrongField(answer.body);
    const failure = `expected ${describe(attack.stopped)}, got ${describe(seen)}${wrong}${await explained(answer, fixture)}`;
    return { failure, includedIn: ruleOfWrongField(wrong) };
  }
  return answer.status >= 400 && answer.wrote ? `was refused with ${describe(seen)} and still wrote` : null;
}

function withoutOptional({ stopped, optional }: Attack): AttackResult {
  return { ...stopped, failed: stopped.failed.filter((name) => name !== optional) };
}

/** Returns the explanation of the transaction, if the answer links to one. */
async function explained({ body }: FixtureAnswer, fixture: ContractFixture): Promise<string> {
  const parsed = z.object({ transaction_hash: hashSchema }).safeParse(body);
  if (!parsed.success) return "";
  return `. The service says: ${(await fixture.sandbox.explain(parsed.data.transaction_hash)).cause}`;
}

function describe({ status, code, failed }: AttackResult): string {
  const checks = failed.length === 0 ? "" : ` by ${failed.join(", ")}`;
  return code === null ? `${status}` : `${status} ${code}${checks}`;
}
