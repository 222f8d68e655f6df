import { z } from "zod";
import { type ErrorCode, errorCatalogue, errorCodes } from "../../../server/errors/catalogue.ts";
import { jsonObjectSchema, openEnum } from "../../../server/schemas/primitives.ts";

/** The codes of refusals that only the control API has, with their status and title. */
const ownCodes = {
  needs_own_chain: [409, "Only the sandbox's own chain can do this"],
  fault_invalid: [422, "The fault can have no effect"],
  given_invalid: [422, "An option of the given state is invalid"],
  given_refused: [422, "The given state cannot be created"],
  wallet_unfunded: [422, "An account of the given state lacks ether or tokens"],
  retry_limit: [422, "The outcome of a request to the routing API is unknown"],
  time_invalid: [422, "The clock cannot move to this time"],
  argument_invalid: [422, "A value of the request is invalid"],
  scenario_refused: [422, "The scenario cannot be recorded"],
  receiver_invalid: [422, "Notifications cannot be sent to this URL"],
  receiver_unresolved: [422, "The receiver's name has no address"],
  receiver_pinned: [422, "The receiver can no longer be pinned"],
  operation_unknown: [422, "No relay operation has this id"],
  operation_not_resumable: [422, "The relay operation does not need attention"],
  operation_not_abandonable: [422, "The relay operation cannot be abandoned"],
  sandbox_shared: [422, "Other processes have joined the sandbox"],
  stale_snapshot: [422, "The snapshot is no longer valid"],
  snapshot_refused: [422, "The state cannot be saved"],
  undone: [409, "A restore has undone the request"],
  part_failed: [422, "A part of the option parts threw"],
  unhealthy: [503, "A part of the sandbox does not respond"],
  snapshot_timeout: [503, "A request in progress did not end in time"],
} as const;

type OwnCode = keyof typeof ownCodes;

/** A code of a refusal of the control API: one of the routing API's, or one of its own. */
export type ControlCode = ErrorCode | OwnCode;

/** The codes that every operation can answer with. */
export const commonCodes = [
  "request_malformed",
  "host_not_allowed",
  "page_not_allowed",
  "internal_error",
  "rpc_unavailable",
  "chain_mismatch",
  "storage_unavailable",
  "service_closing",
] as const satisfies readonly ControlCode[];

/** The codes of a body that is refused before an operation runs. */
export const unreadableCodes = [
  "body_malformed",
  "body_too_large",
  "content_type_unsupported",
  "content_encoding_unsupported",
] as const satisfies readonly ControlCode[];

/**
 * Returns the codes of refused bodies that an operation can answer with: none for a read, whose body is ignored.
 *
 * @param takesBody - whether the operation has a schema for its body.
 * @example bodyCodes("delete", false).includes("body_malformed") // true
 */
export function bodyCodes(method: string, takesBody: boolean) {
  if (method === "get") return [];
  return takesBody ? [...unreadableCodes, "validation_failed" as const] : unreadableCodes;
}

/** The status and the title of a code. */
export function describeCode(code: ControlCode): { status: number; title: string } {
  if (!isOwn(code)) return errorCatalogue[code];
  const [status, title] = ownCodes[code];
  return { status, title };
}

function isOwn(code: ControlCode): code is OwnCode {
  return code in ownCodes;
}

/** The schema of a refusal (RFC 9457). */
export const controlProblemSchema = z
  .object({
    type: z.literal("about:blank"),
    status: z.int(),
    code: openEnum([...errorCodes, ...(Object.keys(ownCodes) as OwnCode[])]),
    detail: z.string().meta({ description: "The problem, and what to do." }),
    errors: z
      .array(z.object({ pointer: z.string(), code: z.string().optional(), detail: z.string() }))
      .optional()
      .meta({ description: "Each invalid field, with its JSON pointer (RFC 6901)." }),
    problem: jsonObjectSchema
      .optional()
      .meta({ description: "The refusal of the routing API, if it refused a step of a given state." }),
  })
  .meta({ id: "Problem", description: "A refusal (RFC 9457)." });
