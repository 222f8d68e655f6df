import { hexToBytes } from "viem";
import { signDecision } from "../../../protocol/signatures/decision.ts";
import { toTimestamp } from "../../../protocol/values/time.ts";
import type { SandboxClock } from "../../chain/clock/clock.ts";
import type { components } from "../../client/api-client.ts";
import { requireArgument, requireOptions, wrongArgument } from "../../client/require-argument.ts";
import { SandboxError } from "../../lib/errors/sandbox-error.ts";
import { showValue } from "../../lib/errors/show-value.ts";
import type { SandboxDescription } from "../../options/description.ts";
import type { ProgramApi } from "./program-api.ts";

type Schemas = components["schemas"];

/** A decision to sign. */
export interface Verdict {
  /** Base units, as a decimal string. */
  award: string;
  /** By default `denied` for an award of 0, and `approved` for any other. */
  outcome?: "approved" | "denied";
  /** RFC 3339 in UTC; by default the sandbox's time. */
  decidedAt?: string;
}

type TimedVerdict = Verdict & Required<Pick<Verdict, "decidedAt">>;
type Decided = Pick<Schemas["Purchase"], "id" | "program" | "commitment">;
type DecidedClaim = Pick<Schemas["Claim"], "id" | "claim_hash">;

/** The designated reviewer of each program, with its current key. */
export class Reviewer {
  readonly #description: Pick<SandboxDescription, "reviewers">;
  readonly #clock: Pick<SandboxClock, "now">;
  readonly #api: (program: string) => ProgramApi;

  constructor(
    description: Pick<SandboxDescription, "reviewers">,
    clock: Pick<SandboxClock, "now">,
    api: (program: string) => ProgramApi,
  ) {
    this.#description = description;
    this.#clock = clock;
    this.#api = api;
  }

  /**
   * Signs a decision on a claim without recording it, even if the API would refuse it.
   *
   * @returns the body of `POST …/decisions`.
   * @example const body = await reviewer.sign(purchase, claim, { award: "10000000" });
   */
  async sign(purchase: Decided, claim: DecidedClaim, verdict: Verdict): Promise<Schemas["RecordDecision"]> {
    return await this.#sign("reviewer.sign", purchase, claim, verdict);
  }

  /**
   * Signs a decision on a claim and records it.
   *
   * @returns the decision as the API returns it.
   * @throws ProblemError when the API refuses it.
   * @example const decision = await reviewer.decide(purchase, claim, { award: "10000000" });
   */
  async decide(purchase: Decided, claim: DecidedClaim, verdict: Verdict): Promise<Schemas["Decision"]> {
    const body = await this.#sign("reviewer.decide", purchase, claim, verdict);
    return await this.#api(purchase.program).retrying.decide(purchase, body);
  }

  async #sign(
    method: string,
    purchase: Decided,
    claim: DecidedClaim,
    verdict: Verdict,
  ): Promise<Schemas["RecordDecision"]> {
    requireArgument(method, "decided", purchase);
    requireArgument(method, "claim", claim);
    requireOptions(method, { award: "an award" }, verdict, 'Pass { award: "10000000" }.');
    requireText('award is a decimal string such as "10000000"', verdict.award, "Pass it in quotes.");
    requireText("outcome is a text", verdict.outcome, 'Pass "approved" or "denied".');
    requireText(
      "decidedAt is a text",
      verdict.decidedAt,
      'Pass an RFC 3339 time such as "2026-01-01T00:00:00Z".',
    );
    const decidedAt = verdict.decidedAt ?? toTimestamp(await this.#clock.now());
    return signVerdict(this.#description.reviewers, purchase, claim, { ...verdict, decidedAt });
  }
}

function requireText(takes: string, value: unknown, remedy: string): void {
  if (value === undefined || typeof value === "string") return;
  throw wrongArgument(takes, value, showValue(value), remedy);
}

/**
 * Signs a decision on a claim with the key of the program's reviewer.
 *
 * @returns the body of `POST …/decisions`.
 */
export function signVerdict(
  reviewers: SandboxDescription["reviewers"],
  { id, program, commitment }: Decided,
  claim: DecidedClaim,
  { award, outcome = award === "0" ? "denied" : "approved", decidedAt }: TimedVerdict,
): Schemas["RecordDecision"] {
  const reviewer = reviewers.find((one) => one.program === program);
  if (reviewer === undefined)
    throw new SandboxError("argument_invalid", `The program ${program} has no reviewer here.`);
  const body = {
    claim_id: claim.id,
    outcome,
    award,
    decided_at: decidedAt,
    reviewer_key_id: reviewer.key_id,
  };
  const approval = signDecision(hexToBytes(`0x${reviewer.private_key}`), {
    ...body,
    chain_id: commitment.typed_data.domain.chainId,
    claim_hash: claim.claim_hash,
    commitment_hash: commitment.hash,
    program,
    purchase: id,
  });
  return { ...body, approval };
}
