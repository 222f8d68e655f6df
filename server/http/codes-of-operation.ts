import { type ErrorCode, errorCodes } from "../errors/catalogue.ts";
import type { Operation } from "./operation.ts";

/** The codes of requests that are refused before any operation sees them: not HTTP, not for this host, too slow. */
export const edgeCodes = [
  "request_malformed",
  "host_not_allowed",
  "page_not_allowed",
  "request_timeout",
  "expectation_unsupported",
  "headers_too_large",
  "transfer_encoding_unsupported",
  "service_starting",
] as const satisfies readonly ErrorCode[];

/** The codes that any request can be refused with. */
const always: readonly ErrorCode[] = [
  "validation_failed",
  "rate_limited",
  "internal_error",
  "rpc_unavailable",
  "chain_mismatch",
];

const bearer: readonly ErrorCode[] = ["credential_missing", "credential_malformed", "credential_invalid"];

const byAuthorization: { readonly [K in Operation["authorization"]["kind"]]: readonly ErrorCode[] } = {
  public: [],
  account: bearer,
  scope: [...bearer, "credential_expired", "credential_revoked", "scope_missing", "program_mismatch"],
  signed_event: ["signature_invalid"],
  wallet: ["not_found"],
};

const byKey: readonly ErrorCode[] = [
  "idempotency_key_missing",
  "idempotency_key_invalid",
  "idempotency_key_reused",
  "idempotency_in_flight",
];

const byBody: readonly ErrorCode[] = [
  "content_type_unsupported",
  "content_encoding_unsupported",
  "body_too_large",
  "body_malformed",
  "storage_unavailable",
];

/**
 * Every code that an operation may answer with, in the order of the catalogue: its own, and those that follow from its
 * authorization, its idempotency key and its body.
 *
 * @example codesOfOperation(createPurchase).includes("scope_missing") // true
 */
export function codesOfOperation(operation: Operation): ErrorCode[] {
  const codes = new Set<ErrorCode>([
    ...always,
    ...byAuthorization[operation.authorization.kind],
    ...operation.errors,
  ]);
  const add = (more: readonly ErrorCode[]) => {
    for (const code of more) codes.add(code);
  };
  if (operation.idempotent) add(byKey);
  if (operation.method === "post") add(byBody);
  return errorCodes.filter((code) => codes.has(code));
}
