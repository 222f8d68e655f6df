import { base64urlnopad } from "@scure/base";
import { TextEncoder } from "../../protocol/globals.ts";
import { deriveKey } from "../../protocol/signatures/key-derivation.ts";
import { sha256Hex } from "../../protocol/values/canonical-json.ts";
import { deriveId } from "../../protocol/values/id.ts";
import { toTimestamp } from "../../protocol/values/time.ts";
import { Problem } from "../errors/problem.ts";
import { defineOperation } from "../http/operation.ts";
import type { Services } from "../http/services.ts";
import { limits, limitTexts } from "../limits.ts";
import { accessSchema, issueAccessBody } from "../schemas/access.ts";
import { scopes as allScopes } from "../schemas/scopes.ts";
import type { ActiveCredentialRecord, CredentialRecord } from "../store/records.ts";
import type { Change, Stored } from "../store/store.ts";

/** `POST …/access`: a credential; a renewal revokes the one before. */
export const issueAccess = defineOperation({
  number: 2,
  id: "issueAccess",
  method: "post",
  path: "/v1/routing/access",
  summary: "Issue a credential",
  description: `Issues the account's credential, valid for ${limitTexts.credential_lifetime} of sandbox time, and revokes the previous one. Without a body the credential is for the account's program, with all scopes.`,
  authorization: { kind: "account" },
  idempotent: false,
  effect: false,
  body: issueAccessBody.optional(),
  responses: {
    201: { description: "The credential. Its value is returned only once.", schema: accessSchema },
  },
  errors: ["program_mismatch"],
  events: [],
  async handle({ services, caller, body, now }) {
    const { store, settings } = services;
    if (caller.kind !== "account") throw new Problem("credential_missing", "Access is issued to an account.");
    const { account } = caller;
    const program = body?.program ?? account.program;
    if (program !== account.program)
      throw new Problem(
        "program_mismatch",
        `The account key is that of ${account.id}, which may not act in ${program}. Leave out program, or send the account key of ${program}.`,
      );
    const active = await store.get("active_credentials", account.id);
    const prior = await findUnrevoked(active?.value.credential_id, services);
    const number = await services.nextNumber("crd");
    const id = deriveId("crd", [settings.seed, number]);
    const credential = `rsc_${base64urlnopad.encode(deriveKey(settings.seed, `credential/${number}`))}`;
    const scopes = allScopes.filter((scope) => body?.scopes?.includes(scope) ?? true);
    const record: CredentialRecord = {
      id,
      account: account.id,
      program,
      scopes,
      token_sha256: sha256Hex(new TextEncoder().encode(credential)),
      issued_at: now,
      expires_at: now + limits.credential_seconds,
      revoked_at: null,
    };
    return {
      kind: "write",
      status: 201,
      write: () => ({
        changes: replaceCredential(record, active, prior),
        body: {
          credential,
          credential_id: id,
          token_type: "Bearer",
          account: account.id,
          program,
          scopes,
          issued_at: toTimestamp(now),
          expires_at: toTimestamp(record.expires_at),
          revoked_credential_id: prior?.value.id ?? null,
        },
      }),
    };
  },
});

/** Finds the credential that an issue revokes: the account's one, unless it is revoked already. */
async function findUnrevoked(
  id: string | undefined,
  { store }: Services,
): Promise<Stored<CredentialRecord> | undefined> {
  const found = id === undefined ? undefined : await store.get("credentials", id);
  return found?.value.revoked_at === null ? found : undefined;
}

/** Makes a credential the only one of its account. */
function replaceCredential(
  record: CredentialRecord,
  active: Stored<ActiveCredentialRecord> | undefined,
  prior: Stored<CredentialRecord> | undefined,
): Change[] {
  const { id, account, issued_at } = record;
  const value = { account, credential_id: id };
  const changes: Change[] = [
    { kind: "insert", collection: "credentials", key: id, value: record },
    active
      ? { ...active, kind: "update", collection: "active_credentials", value }
      : { kind: "insert", collection: "active_credentials", key: account, value },
  ];
  if (prior !== undefined)
    changes.push({
      ...prior,
      kind: "update",
      collection: "credentials",
      value: { ...prior.value, revoked_at: issued_at },
    });
  return changes;
}
