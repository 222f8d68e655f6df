import type { MutantGroup } from "./mutant.ts";

const keys = "test/server/http/idempotency.test.ts";

export const idempotency: readonly MutantGroup[] = [
  {
    file: "server/http/idempotency.ts",
    tests: [keys],
    mutants: [
      {
        rule: "A key with another body is refused.",
        find: "hashJson([operation.method.toUpperCase(), path, body])",
        replace: "hashJson([operation.method.toUpperCase(), path])",
      },
      {
        rule: "A key with another path is refused.",
        find: "hashJson([operation.method.toUpperCase(), path, body])",
        replace: "hashJson([operation.method.toUpperCase(), body])",
      },
      {
        rule: "A key on a wallet route counts for this object only.",
        find: 'operation.authorization.kind === "wallet" ? path : program',
        replace: "program",
      },
      {
        rule: "A key means nothing in another program.",
        find: "key: `${scope}\\n${key}`",
        replace: 'key: `${scope.startsWith("prg_") ? "" : scope}\\n${key}`',
      },
      {
        rule: "A key has at least eight characters.",
        find: "key.length < least",
        replace: "key.length < least - 1",
      },
      {
        rule: "A key of eight characters is taken.",
        find: "key.length < least",
        replace: "key.length <= least",
      },
      {
        rule: "A key of a hundred characters is taken.",
        find: "key.length > most",
        replace: "key.length >= most",
      },
      {
        rule: "A key holds visible characters only.",
        find: "/[^\\x21-\\x7e]/",
        replace: "/[^\\x20-\\x7e]/",
      },
      {
        rule: "A key that is sent twice is refused.",
        find: "if (more.length > 0)",
        replace: "if (more.length > 1)",
      },
      {
        rule: "A key that was used with another request is refused.",
        find: "if (value.fingerprint !== fingerprint)",
        replace: 'if (value.fingerprint === "0x")',
      },
      {
        rule: "An answer that is replayed says so.",
        find: ', { "Idempotent-Replayed": "true" }',
        replace: "",
      },
      {
        rule: "A key with an unknown outcome is kept.",
        find: ' && error.code !== "outcome_unknown"',
        replace: "",
      },
      {
        rule: "A key whose effect may have happened is kept when the service fails.",
        find: "if (!(error instanceof Problem) || error.status >= 500) return false;",
        replace: "if (!(error instanceof Problem) || error.status >= 500) return true;",
        tests: ["test/server/api/operations/node-failure.test.ts"],
      },
      {
        rule: "A key under which an effect is under way is kept when the effect is refused.",
        find: "return subject === null && !error.hadEffect",
        replace: "return !error.hadEffect",
        tests: ["test/server/api/operations/purchases/deadlines.test.ts"],
        only: "keeps the key",
      },
      {
        rule: "A key whose transaction reverted is kept.",
        find: "subject === null && !error.hadEffect",
        replace: "subject === null",
        tests: ["test/server/api/operations/purchases/deadlines.test.ts"],
        only: "keeps the key",
      },
    ],
  },
  {
    file: "server/http/run-operation.ts",
    tests: [keys],
    mutants: [
      {
        rule: "A key is free again when the request was refused.",
        find: "if (revision > 0 && freesKey(error, held))",
        replace: "if (revision > 1 && freesKey(error, held))",
      },
      {
        rule: "An answer of 202 is not kept under the key.",
        find: "if (held && outcome.status !== 202 && refusal === undefined)",
        replace: "if (held)",
      },
      {
        rule: "An answer of 202 says when to come again.",
        find: 'outcome.status === 202 ? { "Retry-After": "1" } : {}',
        replace: "{}",
      },
      {
        rule: "The identical request while the first is under way waits for it.",
        find: "this.#underWay.set(claim.key, promise);",
        replace: "",
      },
      {
        rule: "A request waits for its twin for a while only.",
        find: "if (!(await context.outside(async () => await this.#endsInTime(running)))) throw inFlight();",
        replace: "await context.outside(async () => await this.#endsInTime(running));",
      },
      {
        rule: "Two deliveries at once are of two events.",
        find: "return operation.effect ? `${program.id}/${operation.id}` : null;",
        replace: "return null;",
      },
      {
        rule: "The key of an effect under way is on disk before the effect.",
        find: "await store.commit([], () => [writeKey(held, value)]);\n      held.revision = 1;",
        replace: "",
        tests: ["test/crash/answers.test.ts", keys],
      },
      {
        rule: "A request that resumes an effect knows what it was begun on.",
        find: "resumes: held.subject",
        replace: "resumes: null",
        tests: ["test/server/outbox/crash.test.ts"],
      },
      {
        rule: "A handler starts over when what it read has changed.",
        find: "if (error instanceof StoreConflictError) return conflictRetries;",
        replace: "",
      },
      {
        rule: "A handler starts over when a reorg took the block that it had read at.",
        find: "return error instanceof ChainMovedError ? reorgRetries : 0;",
        replace: "return 0;",
        tests: ["test/check-contract/attacks/attacks.test.ts"],
        only: "a reorg during",
      },
      {
        rule: "A request that another process answered meanwhile gets that answer.",
        find: 'if ("answer" in found) return found.answer;\n          if',
        replace: "if",
        tests: ["test/sandbox/service/cluster/two-processes.test.ts"],
      },
      {
        rule: "A stored answer is the answer that was sent.",
        find: "response: { status: outcome.status, body: json }",
        replace: "response: { status: 200, body: json }",
      },
    ],
  },
];
