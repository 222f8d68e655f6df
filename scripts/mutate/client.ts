import type { MutantGroup } from "./mutant.ts";

const folder = "test/sandbox/service/client";
const renewal = `${folder}/renewal.test.ts`;

export const client: readonly MutantGroup[] = [
  {
    file: "sandbox/service/wallets/test-wallet.ts",
    tests: ["test/sandbox/service/wallets/pay.test.ts"],
    mutants: [
      {
        rule: "A payment that reverts for another reason than its allowance is not advised to approve.",
        find: "if (!sent.revert?.includes(allowanceExceeded)) return sent;",
        replace: "if (sent.revert === null) return sent;",
      },
    ],
  },
  {
    file: "server/lib/escape-controls.ts",
    tests: ["test/security/hostile-text.test.ts"],
    mutants: [
      {
        rule: "Control characters in the text of a contract are escaped.",
        find: "/\\p{Cc}/gu",
        replace: "/\\p{Cn}/gu",
      },
    ],
  },
  {
    file: "sandbox/options/check-types.ts",
    tests: ["test/sandbox/options/wrong-arguments.test.ts"],
    mutants: [
      {
        rule: "A rate limit without its seconds is refused.",
        find: "entry !== undefined || of.needed?.includes(field)",
        replace: "entry !== undefined",
      },
    ],
  },
  {
    file: "sandbox/service/client/problem-error.ts",
    tests: [`${folder}/unwrap.test.ts`],
    mutants: [
      {
        rule: "A refusal is thrown with the checks of its transaction.",
        find: "this.checks = problem.binding?.checks ?? [];",
        replace: "this.checks = [];",
      },
      {
        rule: "The message of a refusal names the checks that failed, and no others.",
        find: "filter(({ ok }) => !ok)",
        replace: "filter(({ ok }) => ok)",
      },
      {
        rule: "The message of a refusal has every field error once.",
        find: "(errors ?? []).slice(1)",
        replace: "(errors ?? []).slice(2)",
      },
      {
        rule: "An answer that is no problem is thrown with its status.",
        find: "if (isProblem(error)) throw",
        replace: "if (error !== undefined) throw",
      },
    ],
  },
  {
    file: "sandbox/service/client/retrying-fetch.ts",
    tests: [`${folder}/retrying.test.ts`],
    mutants: [
      {
        rule: "A write without an idempotency key is sent once.",
        find: 'headers.has("Idempotency-Key");',
        replace: "true;",
      },
      {
        rule: "A 202 is no known outcome.",
        find: 'status !== 202 && !headers.has("Retry-After")',
        replace: '(status === 202 || !headers.has("Retry-After"))',
      },
      {
        rule: "A 5xx is no known outcome.",
        find: "return status < 500 && status",
        replace: "return status",
      },
      {
        rule: "An answer whose end was cut is sent for again.",
        find: "const bytes = body === null ? null : await new Response(body).arrayBuffer();",
        replace: "const bytes = body;",
      },
      {
        rule: "The requests are bounded.",
        find: "sent >= policy.mostRequests",
        replace: "sent > policy.mostRequests",
      },
      {
        rule: "An aborted request is not sent again.",
        find: "request.signal.aborted || ",
        replace: "",
      },
      {
        rule: "An abort ends the wait for the next request.",
        find: 'signal.addEventListener("abort", settle);',
        replace: "",
      },
      {
        rule: "A client repeats nothing after its signal has aborted.",
        find: "policy.signal === undefined ? [] : [policy.signal]",
        replace: "policy.signal === undefined ? [] : []",
      },
    ],
  },
  {
    file: "sandbox/service/client/retry-policy.ts",
    tests: [`${folder}/retrying.test.ts`],
    mutants: [
      {
        rule: "In mode deterministic a request that came too early moves the clock by what the answer asks for.",
        find: "Math.max(1, wait.seconds ?? 1)",
        replace: "1",
      },
    ],
  },
  {
    file: "sandbox/service/client/access/lazy-access.ts",
    tests: [`${folder}/retrying.test.ts`],
    mutants: [
      {
        rule: "Each named write has an idempotency key of its own.",
        find: "one.keys += 1;",
        replace: "",
      },
      {
        rule: "A credential that the client's own request has revoked is renewed.",
        find: "this.#issuing = null;\n    this.#mayBeRevoked = this.#inProgress > 0;",
        replace: "this.#issuing = null;",
        tests: [renewal],
        only: "revoked after a restore",
      },
      {
        rule: "A snapshot has no credential that may be revoked.",
        find: "this.#mayBeRevoked ? null : structuredClone(this.held)",
        replace: "structuredClone(this.held)",
        tests: [renewal],
        only: "revoked after a restore",
      },
      {
        rule: "A credential that a test has revoked is not renewed.",
        find: 'code === "credential_revoked" && this.#mayBeRevoked',
        replace: 'code === "credential_revoked"',
        tests: [renewal],
        only: "one that it revoked stays revoked",
      },
      {
        rule: "A restore brings the idempotency keys back.",
        find: "this.held = kept;",
        replace: "this.held = kept ?? this.held;",
      },
    ],
  },
];
