import { types } from "node:util";
import { isHash } from "viem";
import { type CheckName, checkNames } from "../protocol/binding/check-binding.ts";
import { isError } from "../protocol/coded-error.ts";
import { describeProblem, isProblem, type ProblemError } from "../sandbox/client/problem-error.ts";
import type { Sandbox } from "../sandbox/create-sandbox.ts";
import type { Explanation } from "../sandbox/explain/explanation.ts";
import { SandboxError } from "../sandbox/lib/errors/sandbox-error.ts";
import type { Fingerprint } from "../sandbox/snapshots/fingerprint.ts";
import { type ExplainedStep, explainedSteps } from "../server/binding/reverts/explain-revert.ts";
import { type ErrorCode, errorCatalogue } from "../server/errors/catalogue.ts";
import { renderRefusal } from "./explanations/render-explanation.ts";

/** The part of a sandbox that the matchers use. */
export type MatchedSandbox = Pick<Sandbox, "explain">;

/**
 * The result of a matcher, in the shape that vitest and jest expect.
 *
 * @example const result: MatchResult = { pass: true, message: () => "Expected a refusal." }
 */
export interface MatchResult {
  pass: boolean;
  /** Returns the text of a failure. */
  message: () => string;
}

/** The matchers' arguments, and what `expect(…)` returns for them, for the declarations of a runner. */
export interface SandboxMatchers {
  /**
   * Expects that the API accepts the transaction with this hash as a step, and for the named object if one is passed.
   *
   * @example await expect(refund.transaction_hash).toBeAcceptedAs("refund", purchase);
   */
  toBeAcceptedAs(step: ExplainedStep, object?: string | { id: string }): Promise<void>;
  /**
   * Expects that a transaction is refused and fails each named check. Pass its hash, the answer of the API, or a `ProblemError`.
   *
   * @example await expect(transaction_hash).toBeRefusedBy("wallet");
   */
  toBeRefusedBy(...checks: CheckName[]): Promise<void>;
  /**
   * Expects a problem with this code. Pass an answer of the API, its `error`, or a `ProblemError`.
   *
   * @example expect(await client.POST(path, { params, body })).toBeProblem("binding_mismatch");
   */
  toBeProblem(code: ErrorCode): void;
  /**
   * Expects this fingerprint digest. Pass a sandbox, or the result of its `fingerprint()`.
   *
   * @example await expect(sandbox).toHaveFingerprint("0x…");
   */
  toHaveFingerprint(digest: string): Promise<void>;
}

/**
 * Returns the matchers for `expect.extend()` of vitest, jest and compatible runners.
 *
 * @param sandboxOf - returns the sandbox of the current test; undefined if it has none.
 * @example expect.extend(sandboxMatchers(() => sandbox));
 */
export function sandboxMatchers<State>(sandboxOf: (state: State) => MatchedSandbox | undefined) {
  const explain = async (state: State, received: unknown) => {
    const [sandbox, hash] = requireBoth(() => sandboxOf(state), received);
    return await sandbox.explain(hash);
  };
  return {
    async toBeAcceptedAs(
      this: State,
      received: unknown,
      step: ExplainedStep,
      object?: string | { id: string },
    ): Promise<MatchResult> {
      requireName("step", explainedSteps, step);
      const id = idOf(object);
      const expected = `Expected ${isNegated(this) ? "no " : ""}acceptance as ${step}${id === undefined ? "" : ` of ${id}`}.`;
      const { accepted, seen } = await findAccepted(() => sandboxOf(this), received, id);
      return {
        pass: accepted.some((one) => one.step === step && isAbout(one, id)),
        message: () => `${expected} ${seen}`,
      };
    },
    async toBeRefusedBy(this: State, received: unknown, ...checks: CheckName[]): Promise<MatchResult> {
      for (const name of checks) requireName("check", checkNames, name);
      const problem = problemOf(received);
      const explanation = problem === null ? await explain(this, received) : null;
      const found = problem === null ? (explanation?.checks ?? []) : (problem.binding?.checks ?? []);
      const failed = new Set<string>(found.filter(({ ok }) => !ok).map(({ name }) => name));
      const isRefused = explanation === null ? failed.size > 0 : !explanation.accepted;
      const refusal = isNegated(this) ? "no refusal" : "a refusal";
      const wanted = checks.length === 0 ? refusal : `${refusal} by ${checks.join(", ")}`;
      const why = explanation === null ? text(received) : describeExplanation(explanation);
      return {
        pass: isRefused && checks.every((name) => failed.has(name)),
        message: () => `Expected ${wanted}; failed: ${[...failed].join(", ") || "no check"}.\n\n${why}`,
      };
    },
    toBeProblem(this: State, received: unknown, code: ErrorCode): MatchResult {
      if (!Object.hasOwn(errorCatalogue, code))
        throw new TypeError(
          `There is no error code ${JSON.stringify(code)}. Use one of those that docs/api.md lists.`,
        );
      const problem = problemOf(received);
      if (problem === null) requireAnswer(received);
      return {
        pass: problem?.code === code,
        message: () =>
          `Expected ${isNegated(this) ? "a problem other than" : "the problem"} ${code}.\n\n${text(received)}`,
      };
    },
    async toHaveFingerprint(this: State, received: unknown, digest: string): Promise<MatchResult> {
      if (!isHash(digest)) throw new TypeError("Pass the digest of sandbox.fingerprint().");
      const fingerprint = await fingerprintOf(received);
      return {
        pass: fingerprint.digest === digest,
        message: () =>
          `Expected ${isNegated(this) ? "a fingerprint other than" : "the fingerprint"} ${digest}, got ${fingerprint.digest}.\n\n${JSON.stringify(fingerprint, null, 2)}`,
      };
    },
  };
}

/** Returns whether `.not` negates the assertion, which the runner tells the matcher. */
function isNegated(state: unknown): boolean {
  return isObject(state) && "isNot" in state && state.isNot === true;
}

/** Returns the sandbox of a test, which may have none, and the transaction to explain in it. */
function requireBoth(
  sandboxOf: () => MatchedSandbox | undefined,
  hash: unknown,
): [MatchedSandbox, Explanation["transaction_hash"]] {
  if (typeof hash !== "string" || !isHash(hash))
    throw new TypeError(
      `Expected a transaction hash, got ${isObject(hash) ? "an object; pass .transaction_hash" : text(hash)}.`,
    );
  const sandbox = sandboxOf();
  if (sandbox === undefined)
    throw new TypeError(
      "No sandbox belongs to this test. Take it from sandboxTest, or use sandboxMatchers().",
    );
  return [sandbox, hash];
}

/** Finds the steps as which a transaction is accepted, and says so; or why it is refused, for the named object if there is one. */
async function findAccepted(
  sandboxOf: () => MatchedSandbox | undefined,
  received: unknown,
  id: string | undefined,
): Promise<{ accepted: Explanation["compared"]; seen: string }> {
  const [sandbox, hash] = requireBoth(sandboxOf, received);
  const explanation = await sandbox.explain(hash);
  const isAsked = id === undefined || explanation.compared.slice(0, 1).some((one) => isAbout(one, id));
  const shown = isAsked ? explanation : await explainFor(sandbox, hash, id);
  const accepted = explanation.compared.filter((one) => one.accepted);
  return {
    accepted,
    seen: accepted.length > 0 ? describeAccepted(hash, accepted) : describeExplanation(shown),
  };
}

/** Compares a transaction with an object. It refuses the id of one that does not exist, which a negated assertion would accept. */
async function explainFor(
  sandbox: MatchedSandbox,
  hash: Explanation["transaction_hash"],
  id: string,
): Promise<Explanation> {
  try {
    return await sandbox.explain(hash, { for: id });
  } catch (error) {
    if (!(error instanceof SandboxError) || error.code !== "argument_invalid") throw error;
    throw new TypeError(
      `No merchant and no purchase has the id ${JSON.stringify(id)}. Pass one that the API has returned, or its id.`,
      { cause: error },
    );
  }
}

/** Says as what a transaction is accepted. */
function describeAccepted(hash: string, accepted: Explanation["compared"]): string {
  return `It is accepted as ${accepted.map(({ step, subject }) => `${step} of ${subject}`).join(" and as ")}: ${hash}`;
}

/** Says why a transaction is refused: the cause first, then the failed checks and what differs. */
function describeExplanation(explanation: Explanation): string {
  const { accepted, cause, revert } = explanation;
  if (accepted) return renderRefusal(explanation);
  const why = revert?.meaning == null ? cause : `${cause}\n${revert.meaning}`;
  return `${why}\n\n${renderRefusal(explanation)}`;
}

/** Refuses a name that does not exist, which a negated assertion would accept. */
function requireName(kind: string, names: readonly string[], name: string): void {
  if (names.includes(name)) return;
  const shown = isObject(name) ? " that is an object" : ` ${JSON.stringify(name)}`;
  throw new TypeError(`There is no ${kind}${shown}. Use ${names.join(", ")}.`);
}

/** Returns the id of the object that a transaction must be about, if one is named. */
function idOf(object: unknown): string | undefined {
  const id: unknown = isObject(object) ? Reflect.get(object, "id") : object;
  if (typeof id === "string") return id;
  if (object === undefined) return undefined;
  throw new TypeError(`Expected an object with an id, or its id, got ${text(object)}.`);
}

/** Refuses what cannot be a problem, which a negated assertion would accept. The `error` of an answer without one is undefined. */
function requireAnswer(received: unknown): void {
  if (types.isPromise(received)) throw new TypeError("Expected a response, got a promise. Await it first.");
  const isAnswer = isObject(received) && ("response" in received || isError(received));
  if (isAnswer || received === undefined) return;
  throw new TypeError(`Expected a response of the API, its error or a ProblemError, got ${text(received)}.`);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** A batch of payments is about several purchases. */
function isAbout({ subject }: { subject: string }, id: string | undefined): boolean {
  return id === undefined || subject.split(", ").includes(id);
}

/** Returns the problem that was thrown, answered or parsed; null for anything else. */
function problemOf(received: unknown): ProblemError["problem"] | null {
  if (isObject(received) && "problem" in received && isProblem(received.problem)) return received.problem;
  if (isProblem(received)) return received;
  if (!isObject(received)) return null;
  const error: unknown = Reflect.get(received, "error");
  return isProblem(error) ? error : null;
}

async function fingerprintOf(received: unknown): Promise<Pick<Fingerprint, "digest">> {
  const value: unknown = isSandbox(received) ? await received.fingerprint() : received;
  if (hasDigest(value)) return value;
  throw new TypeError(`Expected a sandbox or its fingerprint, got ${text(received)}.`);
}

function isSandbox(value: unknown): value is Pick<Sandbox, "fingerprint"> {
  return isObject(value) && "fingerprint" in value;
}

function hasDigest(value: unknown): value is Pick<Fingerprint, "digest"> {
  return isObject(value) && "digest" in value && typeof value.digest === "string" && isHash(value.digest);
}

/** Returns a value in words: a problem with its checks, an answer with its data. */
function text(value: unknown): string {
  const problem = problemOf(value);
  if (problem !== null) return describeProblem(problem);
  if (isError(value)) return String(value);
  const shown = isObject(value) && "data" in value ? value.data : value;
  const written = JSON.stringify(shown) ?? String(shown);
  return written.length <= 1_000 ? written : `${written.slice(0, 999)}…`;
}
