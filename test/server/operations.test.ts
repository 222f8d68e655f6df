import { beforeAll, describe, expect, test } from "vitest";
import { codesOfOperation } from "../../server/http/codes-of-operation.ts";
import { authorizationName, type Operation } from "../../server/http/operation.ts";
import { operations } from "../../server/operations.ts";
import { type Scope, scopes } from "../../server/schemas/scopes.ts";
import { problem } from "../kit/answer.ts";
import { TestKit } from "../kit/test-kit.ts";

// As the specification lists them.
const specified = [
  [1, "GET", "/v1/routing/capabilities", "public"],
  [2, "POST", "/v1/routing/access", "account"],
  [3, "GET", "/v1/routing/programs/{program}", "records:read"],
  [4, "POST", "/v1/routing/programs/{program}/merchants", "merchants:write"],
  [5, "POST", "/v1/routing/programs/{program}/merchants/{id}/enrollment", "merchants:write"],
  [6, "POST", "/v1/routing/programs/{program}/purchases", "purchases:write"],
  [7, "GET", "/v1/routing/programs/{program}/purchases/{id}", "records:read"],
  [8, "POST", "/v1/routing/programs/{program}/purchases/{id}/activate", "purchases:write"],
  [9, "POST", "/v1/routing/programs/{program}/purchases/{id}/registration", "purchases:write"],
  [10, "POST", "/v1/routing/programs/{program}/purchases/{id}/reconcile", "purchases:write"],
  [11, "POST", "/v1/routing/programs/{program}/purchases/{id}/claims", "claims:write"],
  [12, "POST", "/v1/routing/programs/{program}/purchases/{id}/decisions", "decisions:write"],
  [13, "POST", "/v1/routing/programs/{program}/purchases/{id}/refunds", "refunds:execute"],
  [14, "POST", "/v1/routing/programs/{program}/notifications", "purchases:write"],
  [15, "GET", "/v1/routing/programs/{program}/notification-receipts", "records:read"],
  [16, "GET", "/v1/routing/programs/{program}/transactions", "records:read"],
  [17, "POST", "/v1/routing/notification-receiver", "signed_event"],
] as const;

const needsKey = new Set([4, 5, 6, 8, 9, 10, 11, 12, 13, 14]);
const guarded = operations.filter(({ authorization }) => authorization.kind === "scope");

let kit: TestKit;

beforeAll(async () => {
  kit = await TestKit.shared();
});

/** Asks for an operation with a body that is never right, so that nothing but the authorization is tried. */
async function ask(operation: Operation, authorization: string | undefined, program = kit.program) {
  const path = operation.path
    .replace("{program}", program)
    .replace(
      "{id}",
      operation.path.includes("merchants") ? "mer_aaaaaaaaaaaaaaaaaaaa" : "pur_aaaaaaaaaaaaaaaaaaaa",
    );
  const headers = authorization === undefined ? {} : { Authorization: authorization };
  if (operation.method === "get") return await kit.raw(path, { headers });
  return await kit.raw(path, {
    method: "POST",
    headers: { ...headers, "Content-Type": "application/json", "Idempotency-Key": kit.key() },
    body: '{"never":"right"}',
  });
}

test("the table has exactly the 17 operations of the specification, with their scopes", () => {
  const numbered = operations.filter(({ number }) => number !== null);
  expect(
    numbered.map((operation) => [
      operation.number,
      operation.method.toUpperCase(),
      operation.path,
      authorizationName(operation),
    ]),
  ).toEqual(specified);
});

test("besides them there are only the wallet routes of merchants and purchases", () => {
  const others = operations.filter(({ number }) => number === null);
  expect(others.map(({ method, path }) => `${method} ${path}`)).toEqual([
    "get /wallet/{program}/merchant/{id}",
    "post /wallet/{program}/merchant/{id}",
    "get /wallet/{program}/purchase/{id}",
    "post /wallet/{program}/purchase/{id}",
  ]);
});

test("exactly the program writes and the wallet writes need an Idempotency-Key", () => {
  for (const { number, method, idempotent } of operations)
    expect(idempotent, String(number)).toBe(number === null ? method === "post" : needsKey.has(number));
});

test("no operation names an error code that follows from its key, its body or its authorization", () => {
  const repeated = operations.flatMap((operation) => {
    const implied = codesOfOperation({ ...operation, errors: [] });
    return operation.errors
      .filter((code) => implied.includes(code))
      .map((code) => `${operation.id}: ${code}`);
  });
  expect(repeated).toEqual([]);
});

test("capabilities lists every operation with its authorization", async () => {
  const { data } = await kit.api.GET("/v1/routing/capabilities");
  expect(
    data?.operations
      .filter(({ number }) => number !== null)
      .map(({ number, method, path, authorization }) => [number, method, path, authorization]),
  ).toEqual(specified);
});

describe.each(scopes)("the scope %s:", (scope: Scope) => {
  test("a credential without it is refused by every operation that needs it, and by no other", async () => {
    const { credential } = await kit.issue(
      kit.accountKey,
      scopes.filter((held) => held !== scope),
    );
    for (const operation of guarded) {
      const answer = await ask(operation, `Bearer ${credential}`);
      const needed = authorizationName(operation);
      expect(answer.status === 403, operation.id).toBe(needed === scope);
      if (needed !== scope) continue;
      expect(problem(answer)).toMatchObject({ code: "scope_missing", required_scope: scope });
      expect(answer.headers["www-authenticate"]).toBe(
        `Bearer realm="routing-sandbox", error="insufficient_scope", scope="${scope}"`,
      );
    }
  });

  test("a credential with nothing else is refused by every other operation", async () => {
    const { credential } = await kit.issue(kit.accountKey, [scope]);
    for (const operation of guarded) {
      const answer = await ask(operation, `Bearer ${credential}`);
      expect(answer.status === 403, operation.id).toBe(authorizationName(operation) !== scope);
    }
  });
});

test("every guarded operation refuses a credential of another program", async () => {
  const { credential } = await kit.issue(kit.otherAccountKey);
  for (const operation of guarded)
    expect(problem(await ask(operation, `Bearer ${credential}`)).code, operation.id).toBe("program_mismatch");
});

test("the scope is checked before the program", async () => {
  const { credential } = await kit.issue(kit.otherAccountKey, ["records:read"]);
  const answer = await kit.post(kit.path("/merchants"), {}, { Authorization: `Bearer ${credential}` });
  expect(problem(answer).code).toBe("scope_missing");
});

test("every guarded operation refuses an account's key as a credential, and access refuses a credential", async () => {
  const { credential } = await kit.renew();
  for (const operation of guarded)
    expect(problem(await ask(operation, `Bearer ${kit.accountKey}`)).code, operation.id).toBe(
      "credential_invalid",
    );
  const access = await kit.post("/v1/routing/access", {}, { Authorization: `Bearer ${credential}` });
  expect(problem(access).code).toBe("credential_invalid");
});

test("without a credential, the challenge names the realm and no error (RFC 6750)", async () => {
  for (const operation of guarded) {
    const answer = await ask(operation, undefined);
    expect(problem(answer).code, operation.id).toBe("credential_missing");
    expect(answer.headers["www-authenticate"]).toBe('Bearer realm="routing-sandbox"');
  }
});

test.each([
  ["another scheme", "Basic dXNlcjpwYXNz"],
  ["no token", "Bearer"],
  ["two tokens", "Bearer one two"],
  ["a token with a comma", "Bearer one,two"],
])("a header with %s is malformed, which RFC 6750 calls invalid_request", async (_, authorization) => {
  const answer = await kit.raw(kit.path(""), { headers: { Authorization: authorization } });
  expect(answer.status).toBe(400);
  expect(problem(answer).code).toBe("credential_malformed");
  expect(answer.headers["www-authenticate"]).toBe('Bearer realm="routing-sandbox", error="invalid_request"');
});

test("a header that is sent twice is malformed", async () => {
  const { credential } = await kit.renew();
  const headers = { Authorization: [`Bearer ${credential}`, `Bearer ${credential}`] };
  expect(problem(await kit.raw(kit.path(""), { headers })).code).toBe("credential_malformed");
});

test("authorization is checked before the body", async () => {
  const answer = await kit.raw(kit.path("/purchases"), { method: "POST", body: "{" });
  expect(problem(answer).code).toBe("credential_missing");
});

test("the Idempotency-Key is checked before the body", async () => {
  const { credential } = await kit.renew();
  const headers = { Authorization: `Bearer ${credential}` };
  const answer = await kit.raw(kit.path("/purchases"), { method: "POST", headers, body: "{" });
  expect(problem(answer).code).toBe("idempotency_key_missing");
});
