import type { Response } from "express";
import { BaseError, HttpRequestError } from "viem";
import { CodedError, causesOf, isError } from "../../protocol/coded-error.ts";
import { OutcomeUnknownError } from "../../relayer/relayer.ts";
import { ChainMismatchError, ChainUnavailableError } from "../../server/chain/chain-reader.ts";
import type { ErrorCode } from "../../server/errors/catalogue.ts";
import { Problem } from "../../server/errors/problem.ts";
import { toProblem } from "../../server/http/answers/to-problem.ts";
import { StoreConflictError, StoreUnavailableError } from "../../server/store/store.ts";
import { AnvilSilentError, NodeSilentError } from "../chain/client/anvil-silent-error.ts";
import { NotDurableError } from "../chain/journal/not-durable-error.ts";
import { ProblemError } from "../client/problem-error.ts";
import { RetryLimitError } from "../client/retrying-fetch.ts";
import { GivenInvalidError } from "../given/given-invalid-error.ts";
import type { ControlCode } from "../lib/control/codes.ts";
import type { SandboxErrorCode } from "../lib/errors/sandbox-error.ts";

const snapshotTimeout: SandboxErrorCode = "snapshot_timeout";
const unhealthy: ControlCode = "unhealthy";
/** The codes of refusals by the state of the sandbox. */
const conflicts: readonly string[] = ["needs_own_chain", "undone"] satisfies ControlCode[];
/** The codes of errors that a repeated request may not have. */
const temporary: readonly string[] = [snapshotTimeout, unhealthy];
const closed: SandboxErrorCode = "closed";
const rpcUnavailable: ErrorCode = "rpc_unavailable";
/** The codes of the last repetition of a request that say which part of the sandbox is out of reach. */
const outages: readonly (string | undefined)[] = [
  rpcUnavailable,
  "storage_unavailable",
] satisfies ErrorCode[];
const serviceClosing: ErrorCode = "service_closing";
const requestMalformed: ErrorCode = "request_malformed";
const internalError: ErrorCode = "internal_error";

/** Answers an error of a handler with a problem that says what to do. */
export function refuseError(error: unknown, response: Response): void {
  if (error instanceof Problem) refuseAsService(error, response);
  else if (error instanceof GivenInvalidError)
    sendRefusal(response, 422, error.message, { code: error.code, errors: error.errors });
  else if (error instanceof ProblemError) refuseAsApi(error, response);
  else if (error instanceof CodedError && temporary.includes(error.code))
    sendRefusal(response.set("Retry-After", "1"), 503, error.message, { code: error.code });
  // Without Retry-After: the call has taken effect, and must not be repeated without a look.
  else if (error instanceof NotDurableError) sendRefusal(response, 503, error.message, { code: error.code });
  // The same status and code as of an operation that asks the chain itself; the message names the request, and the faults as its cause.
  else if (error instanceof RetryLimitError && outages.includes(error.lastCode))
    sendRefusal(response.set("Retry-After", "1"), 503, error.message, {
      code: error.lastCode,
      problem: error.lastBody,
    });
  else if (error instanceof CodedError && error.code === closed)
    sendRefusal(response.set("Retry-After", "1"), 503, "The sandbox is closing. Start it again.", {
      code: serviceClosing,
    });
  else if (isOfService(error)) refuseAsService(toProblem(error), response);
  else if (isSilence(error)) {
    const [who, remedy] = causesOf(error).some((cause) => cause instanceof NodeSilentError)
      ? ["the node is busy or cannot be reached", "check that it runs"]
      : ["Anvil is busy or has ended", "start the sandbox again"];
    sendRefusal(
      response.set("Retry-After", "1"),
      503,
      `The chain does not respond: ${who}. ${whatToDo(response.req.method)}; if that fails too, ${remedy}.`,
      { code: rpcUnavailable },
    );
  } else if (error instanceof ChainUnavailableError) refuseAsService(toProblem(error), response);
  else if (error instanceof CodedError)
    sendRefusal(response, conflicts.includes(error.code) ? 409 : 422, error.message, { code: error.code });
  else if (isError(error) && error.name === "URIError")
    sendRefusal(response, 400, "The path is not valid percent-encoding. Send a percent sign as %25.", {
      code: requestMalformed,
    });
  // The text that viem adds to the message names the node's address.
  else if (error instanceof BaseError)
    sendRefusal(response, 500, error.details || error.shortMessage, { code: internalError });
  else
    sendRefusal(response, 500, isError(error) ? error.message : "The sandbox failed.", {
      code: internalError,
    });
}

/** A refusal of the routing API is one of this request; its failure is none. */
function refuseAsApi({ problem, message, code }: ProblemError, response: Response): void {
  if (problem.status === 503) response.set("Retry-After", "1");
  sendRefusal(response, problem.status < 500 ? 422 : problem.status, message, { code, problem });
}

/** Returns whether the service, too, answers an error with a code. */
function isOfService(error: unknown): boolean {
  return (
    error instanceof ChainMismatchError ||
    causesOf(error).some((cause) => cause instanceof OutcomeUnknownError) ||
    error instanceof StoreConflictError ||
    error instanceof StoreUnavailableError
  );
}

function refuseAsService({ status, headers, message, code, errors }: Problem, response: Response): void {
  sendRefusal(response.set(headers), status, message, errors.length === 0 ? { code } : { code, errors });
}

/** Returns whether the node gave no answer, to the sandbox itself, the relayer, the service or the explorer. */
function isSilence(error: unknown): boolean {
  return causesOf(error).some(
    (cause) => cause instanceof AnvilSilentError || cause instanceof HttpRequestError,
  );
}

/** Answers a problem, with members of its own. */
export function sendRefusal(response: Response, status: number, detail: string, members: object): void {
  const problem = { type: "about:blank", status, ...members, detail };
  response.status(status).type("application/problem+json").send(problem);
}

function whatToDo(method: string): string {
  return method === "GET"
    ? "Send the request again"
    : "The request may have taken effect: look at GET /status, and repeat the request if it has not";
}
