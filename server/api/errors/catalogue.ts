import { limitTexts } from "../limits.ts";

const keyForm = `${limitTexts.idempotency_key_length} visible ASCII characters`;

/** What is said of an error code wherever it appears: in answers, in the description and on its documentation page. */
export interface ErrorEntry {
  status: number;
  title: string;
  /** What happened. */
  what: string;
  /** What to do about it. */
  remedy: string;
  /** Whether the identical request may succeed later; null where the cause decides, so that each answer says it. */
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

/** Every error code that the API answers with (RFC 9457 problem types). */
export const errorCatalogue = {
  request_malformed: entry(
    400,
    "The request is malformed",
    "The bytes are not an HTTP request, or the Host header is missing or repeated.",
    "Send HTTP/1.1 with one Host header; any HTTP client does.",
  ),
  idempotency_key_missing: entry(
    400,
    "Idempotency-Key is missing",
    "Writes under a program and wallet submissions need the header Idempotency-Key.",
    `Send an Idempotency-Key of ${keyForm}, new for each intent, the same for each retry.`,
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
    "The body is not valid UTF-8, not valid JSON, names a member twice, or holds a number that cannot be kept exactly.",
    "Send one JSON object in UTF-8 with each name once; send amounts as strings.",
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
    "This operation needs a credential and none was sent.",
    "Send `Authorization: Bearer <credential>`; operation 2 issues one for an account key.",
  ),
  credential_invalid: entry(
    401,
    "The credential is not known",
    "No account key or credential with this value exists in this sandbox.",
    "Check that the credential belongs to this sandbox and this seed; issue a new one with operation 2.",
  ),
  credential_expired: entry(
    401,
    "The credential has expired",
    `Credentials are valid for ${limitTexts.credential_lifetime} of sandbox time.`,
    "Issue a new credential with operation 2. Idempotency keys survive the renewal.",
  ),
  credential_revoked: entry(
    401,
    "The credential was revoked",
    "A newer credential of the account was issued, which revoked this one.",
    "Use the newest credential of the account.",
  ),
  host_not_allowed: entry(
    403,
    "The host is not this sandbox",
    "The Host header or the request target names another host than the sandbox.",
    "Use the URLs that the sandbox prints: 127.0.0.1 or localhost, with the port.",
  ),
  page_not_allowed: entry(
    403,
    "The page may not send this request",
    "A browser sent the request for a page of another site.",
    "Send the request from a program, or from a page of this machine.",
  ),
  scope_missing: entry(
    403,
    "The credential lacks a scope",
    "The credential is valid but does not hold the scope that this operation needs.",
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
    "Only the program's designated reviewer may decide; the key id names another.",
    "Sign with the reviewer key that the program shows under keys.reviewer.",
  ),
  receiver_not_pinned: entry(
    403,
    "Another receiver is pinned",
    "Operation 17 accepts events only while it is the pinned receiver itself; this sandbox was started with another receiver URL.",
    "Send the event to receiver.url of the program, or start the sandbox without another receiver URL.",
  ),
  not_found: entry(
    404,
    "Not found",
    "Nothing with this identifier exists in this program. Foreign identifiers answer the same.",
    "Check the identifier and the program in the path.",
  ),
  outbox_empty: entry(
    404,
    "There is no event to deliver",
    "Every event of the program has been delivered or has had all its attempts.",
    "Send the request again after the next write, or name an event in event_id.",
    true,
  ),
  route_not_found: entry(
    404,
    "No such path",
    "The service has no resource at this path.",
    "See /index.json for every path.",
  ),
  method_not_allowed: entry(
    405,
    "Method not allowed",
    "The path exists, but not with this method.",
    "Use a method that the Allow header names.",
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
    "The same request is under way",
    "A request with this Idempotency-Key has not finished yet.",
    "Send the identical request again after Retry-After seconds.",
    true,
  ),
  state_conflict: entry(
    409,
    "The step is not allowed now",
    "The object is in a state that does not allow this step; current_state and allowed say which.",
    "Read the object and take one of the allowed steps.",
  ),
  merchant_not_enrolled: entry(
    409,
    "The merchant is not enrolled",
    "Purchases need a merchant whose wallet has enrolled on chain, whose enrollment is confirmed, and who has not revoked it.",
    "Let the wallet enroll, then confirm it with operation 5. After a revocation it enrolls under a new merchant (operation 4).",
    null,
  ),
  transaction_not_found: entry(
    409,
    "The transaction is not on the chain",
    "The node knows no transaction with this hash.",
    "Check the hash and that it was sent to this chain (chain id and epoch); send it again if it was dropped.",
    true,
  ),
  transaction_unconfirmed: entry(
    409,
    "The transaction is not confirmed yet",
    "The transaction is pending or has fewer confirmations than the service asks for.",
    "Wait Retry-After seconds and send the identical request again.",
    true,
  ),
  transaction_already_used: entry(
    409,
    "The transaction already serves another step",
    "One transaction, or one of its logs, counts once.",
    "Send a transaction of its own for this step.",
  ),
  claim_window_closed: entry(
    409,
    "The claim window is closed",
    "The claim was not on chain at or before the claim deadline.",
    "Nothing can be done for this purchase; claim before claim_deadline.",
  ),
  deadline_passed: entry(
    409,
    "A deadline has passed",
    "The step was due before now.",
    "Create what the step belongs to again, with later deadlines: a purchase, or a merchant for its enrollment.",
  ),
  registrar_bound_exceeded: entry(
    409,
    "The registrar's bounds do not allow this offer",
    "The purchase is above the largest amount, the budget of open offers is used up, the bounds have ended, or the program is paused.",
    "Use the direct merchant route unless the program is paused, or let the program's admin change the bounds, or wait until open offers are paid.",
    true,
  ),
  gas_budget_exceeded: entry(
    409,
    "The gas budget does not cover this operation",
    "The program's gas budget is reserved or spent.",
    "See operation 16 for the budget; it is set when the sandbox starts.",
    true,
  ),
  funding_source_insufficient: entry(
    409,
    "The funding does not cover the award",
    "The merchant's cap, allowance to the funding source, balance or validity does not cover the award.",
    "Let the merchant approve the funding source and hold the balance, then send the identical request again. " +
      "Nothing more can be collected once the cap is used up or the validity has ended.",
    null,
  ),
  delivery_exhausted: entry(
    409,
    "No further delivery is attempted",
    `The notification has had its ${limitTexts.delivery_attempts}, or its receiver has answered 410: it gets no further one.`,
    "Read the events from the program's resources instead.",
  ),
  approval_replayed: entry(
    409,
    "The approval was used before",
    "This decision is already in another record.",
    "Let the reviewer sign a decision for this claim.",
  ),
  outcome_unknown: entry(
    409,
    "The outcome is not known yet",
    "The operation had an effect whose outcome could not be determined.",
    "Send the identical request with the identical key again; it resumes the same operation and never starts a second. " +
      "If the operation's nonce was taken, first give it up with `routing-sandbox resume --abandon`.",
    true,
  ),
  body_too_large: entry(
    413,
    "The body is too large",
    "POST bodies are at most 32 KiB (32,768 bytes).",
    "Send a smaller body; terms may hold a reference to a document instead of the document.",
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
    "Bodies are taken as they are, without compression.",
    "Send the body without Content-Encoding.",
  ),
  expectation_unsupported: entry(
    417,
    "The expectation is not supported",
    "The Expect header asks for something else than 100-continue.",
    "Send `Expect: 100-continue` or no Expect header.",
  ),
  idempotency_key_reused: entry(
    422,
    "The Idempotency-Key was used for another request",
    "The key was used for a request with another method, path or body.",
    "Use a new key for a new intent, or resend the identical body.",
  ),
  validation_failed: entry(
    422,
    "The request does not fit its schema",
    "One or more fields are missing, unknown or out of bounds; errors lists each with a JSON pointer.",
    "Correct the fields that errors names; the OpenAPI description has the schema.",
  ),
  signature_invalid: entry(
    422,
    "The signature does not verify",
    "The signature is not one over exactly these bytes by the expected key.",
    "Sign exactly what the resource shows (typed data, message or decision bytes) with the named key.",
  ),
  signer_mismatch: entry(
    422,
    "Another wallet signed",
    "The signature is valid, but its signer is not the bound wallet.",
    "Sign with the wallet that the resource names.",
  ),
  commitment_mismatch: entry(
    422,
    "The commitment is another one",
    "The commitment hash in the request is not the one of the purchase in the path.",
    "Read the purchase, check that it is the one you mean, and send its commitment.hash.",
  ),
  binding_mismatch: entry(
    422,
    "The transaction is not the bound one",
    "The transaction differs from what this step is bound to; binding.checks lists every check with both sides.",
    "Send the transaction that the resource shows, unchanged, from the bound wallet.",
  ),
  transaction_reverted: entry(
    422,
    "The contract refused the call",
    "A transaction was mined and reverted, or the relayer did not send one because it would revert; detail says which, and why.",
    "Remove the cause; then send a new transaction or, where the relayer sends it, the identical request again.",
    null,
  ),
  timestamp_out_of_tolerance: entry(
    422,
    "The timestamp is out of tolerance",
    "The timestamp is too far from the sandbox's clock.",
    "Use the sandbox's time: capabilities.now shows it.",
  ),
  event_mismatch: entry(
    422,
    "The event is not the one in the outbox",
    "No outbox event has this id and exactly this body.",
    "Send the event's body as it was frozen, byte for byte, under its own id.",
  ),
  rate_limited: entry(
    429,
    "Too many requests",
    "The sandbox was started with a rate limit.",
    "Wait Retry-After seconds.",
    true,
  ),
  headers_too_large: entry(
    431,
    "The headers are too large",
    "The request line and the headers have more than 16 KiB together.",
    "Send fewer or shorter headers.",
  ),
  internal_error: entry(
    500,
    "Internal error",
    "The service failed in a way it does not know. Nothing was committed.",
    "Send the identical request again; if it stays, report it with the request id.",
    true,
  ),
  transfer_encoding_unsupported: entry(
    501,
    "The transfer coding is not supported",
    "Transfer-Encoding names another coding than chunked.",
    "Send the body with a Content-Length, or with `Transfer-Encoding: chunked` alone.",
  ),
  service_starting: entry(
    503,
    "The service is starting",
    "The sandbox has its ports and is opening its chain and its store.",
    "Send the identical request again after Retry-After seconds.",
    true,
  ),
  service_closing: entry(
    503,
    "The service is closing",
    "The process is ending. Delivery attempts that were made are recorded, and no further one is made.",
    "Start the service again, then send the identical request again.",
    true,
  ),
  rpc_unavailable: entry(
    503,
    "The chain does not answer",
    "The node could not be reached or failed.",
    "Send the identical request again after Retry-After seconds.",
    true,
  ),
  chain_mismatch: entry(
    503,
    "The chain is another one",
    "The node serves a chain with another id or epoch than the one that this sandbox was started on.",
    "Restart the sandbox; transactions of the other chain do not count here.",
    true,
  ),
  storage_unavailable: entry(
    503,
    "The data directory does not take writes",
    "The change could not be made durable and was not made.",
    "Free disk space or correct the permissions of the data directory, then send the identical request again.",
    true,
  ),
} as const satisfies { [code: string]: ErrorEntry };

/** The code of an error that the API answers with. */
export type ErrorCode = keyof typeof errorCatalogue;

/** Every error code, in the order of the catalogue. */
export const errorCodes = Object.keys(errorCatalogue).filter(
  (code): code is ErrorCode => code in errorCatalogue,
);
