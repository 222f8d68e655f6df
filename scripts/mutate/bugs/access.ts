import type { Bug } from "../bug.ts";

export const access: readonly Bug[] = [
  {
    rule: "An operation needs its scope.",
    of: "authorize",
    bug: (original) => (operation, caller, program) =>
      original(
        operation,
        { ...caller, credential: { ...caller.credential, scopes: [operation.authorization.scope] } },
        program,
      ),
    tests: "/operations.",
    only: /a credential without it is refused/,
  },
  {
    rule: "A credential is for its own program.",
    of: "authorize",
    bug: (original) => (operation, caller) => original(operation, caller, undefined),
    tests: "/operations.",
    only: /a credential of another program/,
  },
  {
    rule: "A refund needs the scope of refunds.",
    of: "executeRefund",
    bug: (original) => ({ ...original, authorization: { kind: "scope", scope: "claims:write" } }),
    tests: "/operations.",
    only: /17 operations/,
  },
  {
    rule: "A credential ends after its last second.",
    of: "authenticate",
    bug: (original) => (operation, request, now, services) => original(operation, request, now - 1, services),
    tests: "/access.",
    only: /until the last second/,
  },
  {
    rule: "A renewal revokes the credential before it.",
    of: "issueAccess",
    bug: (original) => ({
      ...original,
      handle: async (context: object) => {
        const outcome = await original.handle(context);
        return {
          ...outcome,
          write: () => ({ ...outcome.write(), changes: outcome.write().changes.slice(0, 2) }),
        };
      },
    }),
    tests: "/access.",
    only: /that one is refused at once/,
  },
  {
    rule: "An account gets no access to another program.",
    of: "issueAccess",
    bug: (original) => ({
      ...original,
      handle: (context: { body?: { program?: string }; caller: { account: { program: string } } }) => {
        const program = context.body?.program ?? context.caller.account.program;
        const caller = { ...context.caller, account: { ...context.caller.account, program } };
        return original.handle({ ...context, caller });
      },
    }),
    tests: "/access.",
    only: /no access to another program/,
  },
  {
    rule: "Only the requested scopes are granted.",
    of: "issueAccess",
    bug: (original) => ({
      ...original,
      handle: (context: { body?: object }) =>
        original.handle({ ...context, body: { ...context.body, scopes: undefined } }),
    }),
    tests: "/access.",
    only: /only the requested scopes/,
  },
  {
    rule: "A caller above its rate limit is refused.",
    of: "RateLimiter.count",
    bug: () => () => {},
    tests: "/rate-limit.",
    only: /the fourth has to wait/,
  },
  {
    rule: "A request for another host is refused (DNS rebinding).",
    of: "refuseCaller",
    bug: (original) => (request, hosts, pages) => {
      const problem = original(request, hosts, pages);
      return problem?.code === "host_not_allowed" ? null : problem;
    },
    tests: "/listeners.",
    only: /DNS rebinding/,
  },
  {
    rule: "A page of another site does not call the control API.",
    of: "ownPages",
    bug: () => () => true,
    tests: "/listeners.",
    only: /cannot call the control API/,
  },
  {
    rule: "The log of requests has no credential.",
    of: "redact",
    bug: () => (text) => text,
    tests: "/request-log.",
  },
];
