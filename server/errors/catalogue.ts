import { limitTexts } from "../limits.ts";

const keyForm = `${limitTexts.idempotency_key_length} visible ASCII characters`;

/** The texts of an error code in answers, in the OpenAPI description and on its documentation page. */
export interface ErrorEntry {
  status: number;
  title: string;
  /** The problem. */
  what: string;
  /** The action to take. */
  remedy: string;
  /** Whether the identical request may succeed later; null if it depends on the cause, which each answer reports. */
  retryable: boolean | null;
}

function entry(
  status: number,
  title: string,
  what: string,
  remedy: string,
  retryable: boolean | null = false,
): ErrorEntry {
  return { status, title, what, remedy, retryable };
}

/**
 * Every error code that the API answers with (RFC 9457 problem types). To add one: its entry here, its name in the `errors` of the
 * operations that answer with it (or in codes-of-operation.ts when every operation can), `throw new Problem(code, …)` at the rule, a
 * case in test/server/errors/errors.test.ts, and `npm run generate`.
 */
export const errorCatalogue = {
  request_malformed: entry(
    400,
    "The request is malformed",
    "The bytes are not an HTTP request, or the Host header is missing or repeated.",
    "Send HTTP/1.1 with one Host header, as every HTTP client does.",
  ),
  idempotency_key_missing: entry(
    400,
    "Idempotency-Key is missing",
    "Writes under a program and wallet submissions require the header Idempotency-Key.",
    `Send an Idempotency-Key of ${keyForm}, a new one for each effect and the same one for each retry.`,
  ),
  idempotency_key_invalid: entry(
    400,
    "Idempotency-Key is invalid",
    `The key is not ${keyForm}, or the header was sent more than once.`,
    `Send one key of ${keyForm}, for example a UUID.`,
  ),
  body_malformed: entry(
    400,
    "The body is not acceptable JSON",
    "The body is not valid UTF-8 or JSON, has a duplicate key, or has a number that cannot be represented exactly.",
    "Send one JSON object in UTF-8 with each key once. Send amounts as strings.",
  ),
  credential_malformed: entry(
    400,
    "The Authorization header is malformed",
    "The header is not `Bearer` followed by one token (RFC 6750).",
    "Send `Authorization: Bearer <credential>` once.",
  ),
  credential_missing: entry(
    401,
    "A credential is required",
    "This operation requires a credential, and the request has none.",
    "Send `Authorization: Bearer <credential>`. `POST …/access` issues a credential for an account key.",
  ),
  credential_invalid: entry(
    401,
    "The credential is unknown",
    "No account key or credential with this value exists in this sandbox.",
    "Check that the credential belongs to this sandbox and this seed, or issue a new one with `POST …/access`.",
  ),
  credential_expired: entry(
    401,
    "The credential has expired",
    `Credentials are valid for ${limitTexts.credential_lifetime} of sandbox time.`,
    "Issue a new credential with `POST …/access`. Idempotency keys remain valid.",
  ),
  credential_revoked: entry(
    401,
    "The credential was revoked",
    "Issuing a newer credential for the account revoked this one.",
    "Use the newest credential of the account.",
  ),
  host_not_allowed: entry(
    403,
    "The host is not this sandbox",
    "The Host header or the request target names a host other than the sandbox.",
    "Use the URLs that the sandbox prints: 127.0.0.1 or localhost, with the port.",
  ),
  page_not_allowed: entry(
    403,
    "The page may not send this request",
    "A browser sent the request for a page that may not call this port.",
    "Send the request from a client other than a browser, or from a page that may call this port (docs/security.md).",
  ),
  scope_missing: entry(
    403,
    "The credential lacks a scope",
    "The credential is valid but does not have the scope that this operation requires.",
    "Issue a credential with the named scope.",
  ),
  program_mismatch: entry(
    403,
    "The credential is for another program",
    "Credentials are bound to one program.",
    "Use a credential of the program in the path.",
  ),
  reviewer_not_designated: entry(
    403,
    "The reviewer is not the designated one",
    "Only the program's designated reviewer may decide, and the key id names a different reviewer.",
    "Sign with the reviewer key in `keys.reviewer` of the program.",
  ),
  receiver_not_pinned: entry(
    403,
    "Another receiver is pinned",
    "Another URL is the pinned receiver, so `POST …/notification-receiver` accepts no events.",
    "Send the event to `receiver.url` of the program, or use a sandbox without a receiver URL.",
  ),
  not_found: entry(
    404,
    "Not found",
    "Nothing with this identifier exists in this program. Identifiers of other programs get the same response.",
    "Check the identifier and the program in the path.",
  ),
  outbox_empty: entry(
    404,
    "There is no event to deliver",
    "Every event of the program was delivered or has no attempts left.",
    "Send the request again after the next write, or name an event in `event_id`.",
    true,
  ),
  route_not_found: entry(
    404,
    "No such path",
    "The service has no resource at this path.",
    "See `/index.json` of the routing API for a list of all paths.",
  ),
  method_not_allowed: entry(
    405,
    "Method not allowed",
    "The path exists, but not with this method.",
    "Use a method of the Allow header.",
  ),
  request_timeout: entry(
    408,
    "The request took too long",
    "The headers or the body did not arrive in time.",
    "Send the request again without pauses.",
    true,
  ),
  idempotency_in_flight: entry(
    409,
    "The same request is in progress",
    "A request with this Idempotency-Key has not finished yet.",
    "Send the identical request again after Retry-After seconds.",
    true,
  ),
  state_conflict: entry(
    409,
    "The step is not allowed now",
    "The state of the object does not allow this step. current_state and allowed have the state and the possible steps.",
    "Read the object and use one of the allowed operations.",
  ),
  merchant_not_enrolled: entry(
    409,
    "The merchant is not enrolled",
    "A purchase requires a merchant whose enrollment is on the chain, confirmed by `POST …/enrollment`, and not revoked.",
    "Enroll with the wallet, then confirm with `POST …/enrollment`. After a revocation, create a new merchant with `POST …/merchants` first.",
    null,
  ),
  transaction_not_found: entry(
    409,
    "The transaction is not on the chain",
    "The node knows no transaction with this hash.",
    "Check the hash, and that it was sent to this chain (chain id and epoch). Send it again if it was dropped.",
    true,
  ),
  transaction_unconfirmed: entry(
    409,
    "The transaction is not confirmed yet",
    "The transaction is pending or has fewer than the required confirmations.",
    "Wait Retry-After seconds and send the identical request again.",
    true,
  ),
  transaction_already_used: entry(
    409,
    "The transaction is already used for another step",
    "A transaction can be used for one step only.",
    "Send a separate transaction for this step.",
  ),
  claim_window_closed: entry(
    409,
    "The claim window is closed",
    "The claim was not on the chain by the claim deadline.",
    "This purchase can no longer be claimed. Claim other purchases before `claim_deadline`.",
  ),
  deadline_passed: entry(
    409,
    "A deadline has passed",
    "The deadline of this step is in the past.",
    "Create a new purchase (for an enrollment, a new merchant) with later deadlines.",
  ),
  registrar_bound_exceeded: entry(
    409,
    "The program does not allow this offer now",
    "The amount is above the maximum, the budget of open offers is used up, the bounds have expired, or the program is paused.",
    "Let the merchant register the purchase (route `merchant_direct`; not while the program is paused), ask the program's admin to change the bounds, or wait until open offers are paid.",
    true,
  ),
  gas_budget_exceeded: entry(
    409,
    "The gas budget does not cover this transaction",
    "The available part of the program's gas budget (neither reserved nor spent) does not cover the transaction that the relayer would send.",
    "Read the budget with `GET …/transactions`. Set a larger one when you start the sandbox.",
    true,
  ),
  funding_source_insufficient: entry(
    409,
    "The funding does not cover the award",
    "The merchant's cap, balance, allowance to the funding source, or funding authorization does not cover the award.",
    "Approve the funding source and fund the merchant's wallet, then send the identical request again. " +
      "Once the cap is used up or the funding authorization has expired, nothing more can be collected.",
    null,
  ),
  delivery_exhausted: entry(
    409,
    "The delivery attempts are exhausted",
    `The notification has had its ${limitTexts.delivery_attempts}, or its receiver has responded with 410. It gets no further attempt.`,
    "Read the object of the event instead, for example the purchase.",
  ),
  approval_replayed: entry(
    409,
    "The approval was used before",
    "This approval is already part of another decision.",
    "Let the reviewer sign a new decision for this claim.",
  ),
  outcome_unknown: entry(
    409,
    "The outcome is not known yet",
    "The request started an effect, such as a relayed transaction or a delivery, and its outcome is not known.",
    "Send the identical request with the identical key again: it resumes the same relay operation and never starts a second one. " +
      "If `detail` names `routing-sandbox resume`, run that first.",
    true,
  ),
  body_too_large: entry(
    413,
    "The body is too large",
    `POST bodies are at most ${limitTexts.body_size} (${limitTexts.body_bytes}).`,
    "Send a smaller body. `terms` can contain a reference to a document instead of the document.",
  ),
  content_type_unsupported: entry(
    415,
    "The content type is not supported",
    "Bodies are application/json in UTF-8.",
    "Send `Content-Type: application/json`.",
  ),
  content_encoding_unsupported: entry(
    415,
    "The content encoding is not supported",
    "Compressed bodies are not supported.",
    "Send the body without Content-Encoding.",
  ),
  expectation_unsupported: entry(
    417,
    "The expectation is not supported",
    "The Expect header has a value other than 100-continue.",
    "Send `Expect: 100-continue` or no Expect header.",
  ),
  idempotency_key_reused: entry(
    422,
    "The Idempotency-Key was used for another request",
    "The key was used for a request with another method, path or body.",
    "Use a new key for a new effect, or send the identical request again.",
  ),
  validation_failed: entry(
    422,
    "The request has invalid fields",
    "One or more fields are missing, unknown or invalid. errors lists each with a JSON pointer.",
    "Correct the fields in `errors`. The OpenAPI description has the schema.",
  ),
  signature_invalid: entry(
    422,
    "The signature is not valid",
    "The signature is not a signature of exactly these bytes by the expected key.",
    "Sign exactly the typed data, message or decision bytes of the resource with the named key.",
  ),
  signer_mismatch: entry(
    422,
    "Another wallet signed",
    "The signature is valid, but its signer is not the bound wallet.",
    "Sign with the wallet that the resource names.",
  ),
  commitment_mismatch: entry(
    422,
    "The commitment does not match",
    "The commitment hash in the request is not that of the purchase in the path.",
    "Read the purchase, check that it is the intended one, and send its `commitment.hash`.",
  ),
  binding_mismatch: entry(
    422,
    "The transaction does not match this step",
    "The transaction differs from the expected one. binding.checks lists every check with the expected and the actual value.",
    "Send the transaction of the resource unchanged from the bound wallet.",
  ),
  transaction_reverted: entry(
    422,
    "The contract refused the call",
    "The transaction reverted, or the relayer did not send it because it would revert. detail has the reason.",
    "Remove the cause. Then send a new transaction or, if the relayer sends it, the identical request again.",
    null,
  ),
  timestamp_out_of_tolerance: entry(
    422,
    "The timestamp is not accepted",
    "The webhook timestamp differs too much from the sandbox's time, or decided_at is before the claim or later than now.",
    "Use the sandbox's time, which is `now` of `GET …/capabilities`.",
  ),
  event_mismatch: entry(
    422,
    "The event is not the one in the outbox",
    "No outbox event has this id and exactly this body.",
    "Send the event's stored body, byte for byte, under its own id.",
  ),
  rate_limited: entry(
    429,
    "Too many requests",
    "The sandbox was started with a rate limit, and this request exceeds it.",
    "Wait Retry-After seconds and send the identical request again.",
    true,
  ),
  headers_too_large: entry(
    431,
    "The headers are too large",
    `The request line and the headers are together larger than ${limitTexts.headers_size}.`,
    "Send fewer or shorter headers.",
  ),
  internal_error: entry(
    500,
    "Internal error",
    "The service failed unexpectedly. Nothing was committed.",
    "Send the identical request again. If it fails again, report it with the request id.",
    true,
  ),
  transfer_encoding_unsupported: entry(
    501,
    "The transfer coding is not supported",
    "Transfer-Encoding has a value other than chunked.",
    "Send the body with a Content-Length, or with `Transfer-Encoding: chunked` alone.",
  ),
  service_starting: entry(
    503,
    "The service is starting",
    "The sandbox is opening its chain and its store.",
    "Send the identical request again after Retry-After seconds.",
    true,
  ),
  service_closing: entry(
    503,
    "The service is closing",
    "The process is ending. Completed delivery attempts are recorded, and no further attempt is made.",
    "Start the service again, then send the identical request again.",
    true,
  ),
  rpc_unavailable: entry(
    503,
    "The chain is not available",
    "The node could not be reached, failed or gave contradicting responses, or the chain or the purchase changed during every read.",
    "Send the identical request again after Retry-After seconds.",
    true,
  ),
  chain_mismatch: entry(
    503,
    "The node serves a different chain",
    "The chain id or the chain epoch is not that of the chain that this sandbox was started with.",
    "Restart the sandbox. It does not accept transactions of the other chain.",
    true,
  ),
  storage_unavailable: entry(
    503,
    "The store is not available",
    "The data directory refuses a write, or the database does not respond. The change was not made.",
    "Free disk space, correct the permissions of the data directory, or make the database available; then send the identical request again.",
    true,
  ),
} as const satisfies { [code: string]: ErrorEntry };

/** The code of an error that the API answers with. */
export type ErrorCode = keyof typeof errorCatalogue;

/** Every error code, in the order of the catalogue. */
export const errorCodes = Object.keys(errorCatalogue).filter(
  (code): code is ErrorCode => code in errorCatalogue,
);
