import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { TextEncoder } from "../../../protocol/globals.ts";
import { sha256Hex } from "../../../protocol/values/canonical-json.ts";
import type { ProgramDeployment } from "../../chain/deployment.ts";
import { Problem } from "../../errors/problem.ts";
import { limitTexts } from "../../limits.ts";
import type { Scope } from "../../schemas/scopes.ts";
import type { CredentialRecord } from "../../store/records.ts";
import type { Caller, OperationContext } from "../operation.ts";
import type { Account, Services } from "../services.ts";
import type { Step } from "../step.ts";
import type { Timed } from "./request-time.ts";

/** A request of a known caller. */
export interface Called extends Timed {
  caller: Caller;
}

/** A request to a program. */
export interface Addressed extends Called, Pick<OperationContext, "params" | "id" | "header"> {
  program: ProgramDeployment;
}

const realm = 'Bearer realm="routing-sandbox"';

/**
 * Proves who calls, by the bearer token that the operation's authorization asks for (RFC 6750).
 *
 * @throws Problem credential_missing, credential_malformed, credential_invalid, credential_expired, credential_revoked.
 */
export const authenticate: Step<Timed, Called> = async (context, next) => {
  const caller = await findCaller(context);
  context.response.locals["caller"] = nameOf(caller);
  return await next({ ...context, caller });
};

async function findCaller({ operation, request, now, services }: Timed): Promise<Caller> {
  switch (operation.authorization.kind) {
    case "account":
      return { kind: "account", account: findAccount(bearerToken(request), services) };
    case "scope":
      return { kind: "credential", credential: await findCredential(bearerToken(request), now, services) };
    default:
      return { kind: "anyone" };
  }
}

/** Names a caller in logs and in the counts of the rate limit. */
export function nameOf(caller: Caller): string {
  switch (caller.kind) {
    case "account":
      return caller.account.id;
    case "credential":
      return caller.credential.id;
    default:
      return "anyone";
  }
}

/**
 * Checks that a credential is for the program in the path and holds the operation's scope.
 *
 * @throws Problem program_mismatch, scope_missing.
 */
export const authorize: Step<Called, Called> = async (context, next) => {
  const { caller } = context;
  const { authorization } = context.operation;
  if (authorization.kind === "scope" && caller.kind === "credential")
    assertAllowed(authorization.scope, caller.credential, context.request.params["program"]);
  return await next(context);
};

/**
 * Finds the program that a request is about: the one in the path, else the caller's, else the first one.
 *
 * @throws Problem not_found
 */
export const findProgram: Step<Called, Addressed> = async (context, next) => {
  const { caller, request, services } = context;
  const params = Object.fromEntries(
    Object.entries(request.params).map(([name, value]) => [name, String(value)]),
  );
  const id = params["program"] ?? (caller.kind === "account" ? caller.account.program : undefined);
  const { programs } = services.deployment;
  const program = id === undefined ? programs[0] : programs.find((entry) => entry.id === id);
  if (program === undefined) throw new Problem("not_found", `There is no program ${id}.`);
  const header = (name: string) => {
    const values = request.headersDistinct[name];
    return values?.length === 1 ? values[0] : undefined;
  };
  return await next({ ...context, params, id: params["id"] ?? "", program, header });
};

function assertAllowed(
  scope: Scope,
  credential: CredentialRecord,
  program: string | readonly string[] | undefined,
): void {
  if (!credential.scopes.includes(scope)) throw scopeMissing(scope, credential.scopes);
  if (program !== undefined && credential.program !== program)
    throw new Problem(
      "program_mismatch",
      `The credential is for ${credential.program}, and the path names ${program}. Send a credential of ${program}, or correct the path.`,
    );
}

function scopeMissing(scope: Scope, held: readonly string[]): Problem {
  return new Problem(
    "scope_missing",
    `This operation needs the scope ${scope}, which the credential does not have. Request a credential with it: POST /v1/routing/access.`,
    {
      members: { required_scope: scope, held_scopes: [...held] },
      headers: { "WWW-Authenticate": `${realm}, error="insufficient_scope", scope="${scope}"` },
    },
  );
}

function bearerToken({ headersDistinct }: Pick<IncomingMessage, "headersDistinct">): string {
  const [header, ...more] = headersDistinct["authorization"] ?? [];
  if (header === undefined)
    throw new Problem(
      "credential_missing",
      "The Authorization header is missing. Send `Authorization: Bearer <credential>`; for POST /v1/routing/access, send the account key there.",
      {
        headers: { "WWW-Authenticate": realm },
      },
    );
  const token = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(header)?.[1];
  if (token === undefined || more.length > 0)
    throw new Problem(
      "credential_malformed",
      "The Authorization header must be `Bearer <credential>`, sent once.",
      {
        headers: { "WWW-Authenticate": `${realm}, error="invalid_request"` },
      },
    );
  return token;
}

function findAccount(token: string, services: Services): Account {
  const account = accountOf(token, services);
  if (account === null)
    throw invalidToken(
      "credential_invalid",
      "No account has this key. Send the account key that the sandbox printed at its start, not a credential.",
    );
  return account;
}

function accountOf(token: string, { settings }: Services): Account | null {
  const digest = Buffer.from(digestOf(token));
  return settings.accounts.find(({ key_sha256 }) => timingSafeEqual(Buffer.from(key_sha256), digest)) ?? null;
}

async function findCredential(token: string, now: number, services: Services): Promise<CredentialRecord> {
  // Found by its hash: what the time of a look-up tells is about the hash, from which no credential can be made.
  const digest = digestOf(token);
  const [found] = await services.store.list("credentials", { token_sha256: digest }, { limit: 1 });
  const credential = found?.value;
  if (credential === undefined || !timingSafeEqual(Buffer.from(credential.token_sha256), Buffer.from(digest)))
    throw invalidToken(
      "credential_invalid",
      accountOf(token, services) === null
        ? "No credential has this value. Request one with POST /v1/routing/access and the account key."
        : "This is an account key, not a credential. Exchange it for one with POST /v1/routing/access.",
    );
  if (credential.revoked_at !== null)
    throw invalidToken(
      "credential_revoked",
      "A newer credential of this account revoked this one. Send the newer one, or request another with POST /v1/routing/access.",
    );
  if (now >= credential.expires_at)
    throw invalidToken(
      "credential_expired",
      `The credential's ${limitTexts.credential_lifetime} are over. Request a new one with POST /v1/routing/access.`,
    );
  return credential;
}

function invalidToken(
  code: "credential_invalid" | "credential_expired" | "credential_revoked",
  detail: string,
): Problem {
  return new Problem(code, detail, {
    headers: { "WWW-Authenticate": `${realm}, error="invalid_token", error_description="${detail}"` },
  });
}

function digestOf(token: string) {
  return sha256Hex(new TextEncoder().encode(token));
}
