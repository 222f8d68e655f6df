import type { MutantGroup } from "./mutant.ts";

const credentials = "test/server/api/operations/access/access.test.ts";
const guards = "test/server/api/operations/operations.test.ts";

export const access: readonly MutantGroup[] = [
  {
    file: "server/http/request/authenticate.ts",
    tests: [credentials],
    mutants: [
      {
        rule: "A credential works until the last second of its seven days and not in the next.",
        find: "if (now >= credential.expires_at)",
        replace: "if (now > credential.expires_at)",
      },
      {
        rule: "A revoked credential is refused.",
        find: "if (credential.revoked_at !== null)",
        replace: "if (credential.revoked_at === 0)",
      },
      {
        rule: "A credential is for its own program.",
        find: "if (program !== undefined && credential.program !== program)",
        replace: "if (program === undefined && credential.program !== program)",
        tests: [guards],
      },
      {
        rule: "An operation needs its scope.",
        find: "if (!credential.scopes.includes(scope))",
        replace: "if (credential.scopes.length === 0)",
        tests: [guards],
      },
      {
        rule: "An Authorization header that is sent twice is malformed.",
        find: "token === undefined || more.length > 0",
        replace: "token === undefined",
        tests: [guards],
      },
      {
        rule: "The scheme Bearer is read in any case.",
        find: "=*)$/i.exec(header)",
        replace: "=*)$/.exec(header)",
      },
      {
        rule: "A refusal for its scope names the scope in the challenge.",
        find: 'error="insufficient_scope", scope="${scope}"',
        replace: 'error="insufficient_scope"',
        tests: [guards],
      },
    ],
  },
  {
    file: "server/api/operations/access/issue-access.ts",
    tests: [credentials],
    mutants: [
      {
        rule: "A renewal revokes the credential before it.",
        find: "if (prior !== undefined)",
        replace: "if (prior !== undefined && prior.key === id)",
      },
      {
        rule: "An account gets no access to another program.",
        find: "if (program !== account.program)",
        replace: "if (program.length === 0)",
      },
      {
        rule: "Only the scopes that were asked for are given.",
        find: "body?.scopes?.includes(scope) ?? true",
        replace: "scope.length > 0",
      },
      {
        rule: "A renewal names the credential that it revokes.",
        find: "revoked_credential_id: prior?.value.id ?? null",
        replace: "revoked_credential_id: prior === undefined ? null : id",
      },
    ],
  },
  {
    file: "server/api/limits.ts",
    tests: [credentials],
    mutants: [
      {
        rule: "A credential is valid for seven days.",
        find: "credential_seconds: 7 * day",
        replace: "credential_seconds: 8 * day",
      },
    ],
  },
  {
    file: "server/http/request/rate-limit.ts",
    tests: ["test/server/http/request/rate-limit.test.ts"],
    mutants: [
      {
        rule: "A caller beyond its limit is refused.",
        find: "if (count > requests)",
        replace: "if (count > requests + 1)",
      },
      {
        rule: "As many requests as the limit says are taken.",
        find: "if (count > requests)",
        replace: "if (count >= requests)",
      },
      {
        rule: "A limit counts within its window and begins again with the next.",
        find: "if (window !== this.#window) this.#counts.clear();",
        replace: "",
      },
      {
        rule: "A window is as long as the limit says.",
        find: "Math.floor(now / seconds)",
        replace: "Math.floor(now / (2 * seconds))",
      },
      {
        rule: "Retry-After is the time until the next window.",
        find: "String((window + 1) * seconds - now)",
        replace: "String(seconds)",
      },
      {
        rule: "Each caller has a limit of its own.",
        find: "this.#counts.set(caller, count);",
        replace: 'this.#counts.set(caller, count).set("anyone", count);',
      },
      {
        rule: "A restore to an earlier window resets its count.",
        find: "window !== this.#window",
        replace: "window > this.#window",
        tests: ["test/server/http/request/rate-limit.test.ts"],
      },
    ],
  },
  {
    file: "server/keys/key-ring.ts",
    tests: ["test/server/keys/key-rotation.test.ts"],
    mutants: [
      {
        rule: "Every key that ever signed stays published.",
        find: "generation >= 1; generation -= 1",
        replace: "generation >= 2; generation -= 1",
      },
      {
        rule: "Notifications are signed with the key before a rotation, too.",
        find: "generation > 1 ? await this.#webhookKeys(generation - 1) : null",
        replace: "generation > 2 ? await this.#webhookKeys(generation - 1) : null",
      },
      {
        rule: "A rotation gives a key that there was not before.",
        find: "(before?.value.generation ?? 1) + 1",
        replace: "before?.value.generation ?? 2",
      },
    ],
  },
];
