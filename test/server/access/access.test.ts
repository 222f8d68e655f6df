import { beforeAll, describe, expect, test } from "vitest";
import { day } from "../../../server/limits.ts";
import { scopes } from "../../../server/schemas/scopes.ts";
import { problem } from "../../kit/answer.ts";
import { TestKit } from "../../kit/test-kit.ts";

const formOfNothing = { "Content-Type": "application/x-www-form-urlencoded", "Content-Length": "0" };

let kit: TestKit;

beforeAll(async () => {
  kit = await TestKit.shared();
});

async function codeWith(credential: string): Promise<string> {
  const answer = await kit.raw(kit.path(""), { headers: { Authorization: `Bearer ${credential}` } });
  return answer.status === 200 ? "ok" : problem(answer).code;
}

test("access is for the account's program, with all scopes, for seven days of sandbox time", async () => {
  const now = await kit.sandbox.clock.now();
  const access = await kit.renew();
  expect(access).toMatchObject({
    token_type: "Bearer",
    account: "acct_demo",
    program: "prg_demo",
    scopes: [...scopes],
    issued_at: new Date(now * 1000).toISOString().replace(".000Z", "Z"),
    expires_at: new Date((now + 7 * day) * 1000).toISOString().replace(".000Z", "Z"),
  });
});

describe("access is issued without a body", () => {
  test.each([
    ["no Content-Type and Content-Length 0", { "Content-Length": "0" }],
    ["the Content-Type of an empty form, as curl -d '' sends it", formOfNothing],
    ["a JSON Content-Type", { "Content-Type": "application/json", "Content-Length": "0" }],
    ["an empty chunked body of JSON", { "Content-Type": "application/json", "Transfer-Encoding": "chunked" }],
  ])("with %s", async (_, headers) => {
    const authorization = { Authorization: `Bearer ${kit.accountKey}` };
    const answer = await kit.raw("/v1/routing/access", {
      method: "POST",
      headers: { ...authorization, ...headers },
    });
    expect(answer.status).toBe(201);
    expect(JSON.parse(answer.text)).toMatchObject({ program: "prg_demo", scopes: [...scopes] });
  });

  test("but refuses a body of another content type", async () => {
    const headers = { Authorization: `Bearer ${kit.accountKey}`, "Content-Type": "text/plain" };
    const answer = await kit.post("/v1/routing/access", "{}", headers);
    expect(answer.status).toBe(415);
    expect(problem(answer)).toMatchObject({ code: "content_type_unsupported" });
  });

  test("but not with a body that has no content type", async () => {
    const headers = { Authorization: `Bearer ${kit.accountKey}`, "Content-Length": "2" };
    const answer = await kit.raw("/v1/routing/access", { method: "POST", headers, body: "{}" });
    expect(answer.status).toBe(415);
    expect(problem(answer)).toMatchObject({ code: "content_type_unsupported" });
  });
});

test("an operation that needs a body refuses a request without one", async () => {
  const { credential } = await kit.renew();
  const headers = { Authorization: `Bearer ${credential}`, "Idempotency-Key": kit.key() };
  const answer = await kit.raw(kit.path("/merchants"), {
    method: "POST",
    headers: { ...headers, "Content-Length": "0" },
  });
  expect(answer.status).toBe(415);
  expect(problem(answer)).toMatchObject({
    code: "content_type_unsupported",
    detail: "The content type is missing. Send application/json in UTF-8.",
  });
});

test("a renewal names the credential that it revokes, and that one is refused at once", async () => {
  const first = await kit.renew();
  const second = await kit.renew();
  expect(second.revoked_credential_id).toBe(first.credential_id);
  expect(await codeWith(first.credential)).toBe("credential_revoked");
  expect(await codeWith(second.credential)).toBe("ok");
});

test("fifty renewals at once leave exactly one active credential", async () => {
  const issued = await Promise.all(Array.from({ length: 50 }, async () => await kit.issue(kit.accountKey)));
  const codes = await Promise.all(issued.map(async ({ credential }) => await codeWith(credential)));
  expect(codes.filter((code) => code === "ok")).toHaveLength(1);
  expect(codes.filter((code) => code === "credential_revoked")).toHaveLength(49);
  expect(new Set(issued.map(({ revoked_credential_id }) => revoked_credential_id)).size).toBe(50);
});

test("a renewal of one account leaves the other's credential alone", async () => {
  const { credential } = await kit.renew();
  await kit.issue(kit.otherAccountKey);
  expect(await codeWith(credential)).toBe("ok");
});

test("an account key in place of a credential is refused with what to do", async () => {
  const answer = await kit.raw(kit.path(""), { headers: { Authorization: `Bearer ${kit.accountKey}` } });
  expect(answer.status).toBe(401);
  expect(problem(answer)).toMatchObject({
    code: "credential_invalid",
    detail: "This is an account key, not a credential. Exchange it for one with POST /v1/routing/access.",
  });
});

test("the store keeps a hash of the credential and not the credential", async () => {
  const { credential } = await kit.renew();
  const stored = JSON.stringify(await kit.sandbox.store.export());
  expect(stored).not.toContain(credential);
  expect(stored).not.toContain(kit.accountKey);
});

test.each(["Bearer", "bearer", "BEARER"])(
  "the scheme %s is read as Bearer (RFC 9110, 11.1)",
  async (scheme) => {
    const { credential } = await kit.renew();
    const answer = await kit.raw(kit.path(""), { headers: { Authorization: `${scheme} ${credential}` } });
    expect(answer.status, answer.text).toBe(200);
  },
);

test.each(["Basic", "Bearer:", "Token"])("the scheme %s is malformed", async (scheme) => {
  const { credential } = await kit.renew();
  const answer = await kit.raw(kit.path(""), { headers: { Authorization: `${scheme} ${credential}` } });
  expect(answer.status).toBe(400);
  expect(problem(answer)).toMatchObject({
    code: "credential_malformed",
    detail: "The Authorization header must be `Bearer <credential>`, sent once.",
  });
});

test("only the requested scopes are granted", async () => {
  const { scopes: given } = await kit.renew(["claims:write", "records:read"]);
  expect(given).toEqual(["records:read", "claims:write"]);
});

test("an account gets no access to another program", async () => {
  const answer = await kit.post(
    "/v1/routing/access",
    { program: "prg_other" },
    { Authorization: `Bearer ${kit.accountKey}` },
  );
  expect(problem(answer).code).toBe("program_mismatch");
});

test("a credential works until the last second of its seven days and not in the next", async () => {
  const snapshot = await kit.sandbox.snapshot();
  const { credential, expires_at } = await kit.renew();
  const end = Date.parse(expires_at) / 1000;
  await kit.sandbox.clock.travelTo(end - 1);
  expect(await codeWith(credential)).toBe("ok");
  await kit.sandbox.clock.travelTo(end);
  const answer = await kit.raw(kit.path(""), { headers: { Authorization: `Bearer ${credential}` } });
  expect(problem(answer).code).toBe("credential_expired");
  expect(answer.headers["www-authenticate"]).toContain('error="invalid_token"');
  await snapshot.restore();
});
