import type { Request, Response } from "express";
import { z } from "zod";
import { Problem } from "../api/errors/problem.ts";
import type { ProgramDeployment } from "../chain/deployment.ts";
import { RefusedTransaction } from "../domain/binding/refused-transaction.ts";
import { askAhead } from "../lib/ask-ahead.ts";
import type { Refusal, Services } from "../services.ts";
import type { Answer } from "./answers/answer.ts";
import { meetApiFault } from "./faults/meet-api-fault.ts";
import { type GateTurn, UndoneError } from "./gate.ts";
import { claimKey, readIdempotencyKey } from "./idempotency.ts";
import { bodyRequired, type Caller, type Operation, type OperationContext } from "./operation.ts";
import { authenticate, authorize } from "./request/authenticate.ts";
import { parseJson } from "./request/parse-json.ts";
import type { RateLimiter } from "./request/rate-limit.ts";
import { hasBody, readBody } from "./request/read-body.ts";
import { RequestTime } from "./request/request-time.ts";
import { validate } from "./request/validate.ts";
import type { OperationRunner } from "./run-operation.ts";

const noBody = Buffer.alloc(0);

/** Operations without a query take none. */
const noQuery = z.strictObject({});

/** The parts that answer the operations of one API. */
export interface Answering {
  runner: OperationRunner;
  limiter: RateLimiter;
  operations: readonly Operation[];
  services: Services;
}

/** The caller and the operation, by a request's head. */
interface CheckedHead {
  caller: Caller;
  program: ProgramDeployment;
  params: { [name: string]: string };
  key: string | null;
}

/** Answers a request inside the gate; one that a restore undid while it waited outside comes after that restore. */
export async function answerOperation(
  operation: Operation,
  asked: Answering & { request: Request; response: Response },
): Promise<Answer> {
  const { request, response, services, limiter } = asked;
  const takesBody = operation.method === "post" && (bodyRequired(operation) || hasBody(request));
  let reading: Promise<Buffer> | null = null;
  let isCounted = false;
  const attempt = async ({ outside }: GateTurn, time: RequestTime) => {
    const { now } = time;
    response.locals["at"] = now;
    const head = await checkHead(operation, now, asked, async (caller) => {
      if (isCounted || !limiter.hasLimit || !isLimited(caller, services)) return;
      await time.confirm();
      isCounted = true;
      limiter.count(nameOf(caller), now);
    });
    const rawBody = takesBody
      ? await outside(async () => {
          reading ??= readBody(request, response);
          return await reading;
        })
      : noBody;
    if (takesBody) response.locals["body"] = rawBody;
    return await answerChecked(operation, asked, { ...head, time, rawBody, outside });
  };
  for (;;) {
    try {
      return await services.gate.runShared(
        nameRequest(request),
        async (turn) => await RequestTime.run(services.clock, async (time) => await attempt(turn, time)),
      );
    } catch (error) {
      if (!(error instanceof UndoneError)) throw error;
    }
  }
}

/** Checks everything that a request's head tells, before its body is read. */
async function checkHead(
  operation: Operation,
  now: number,
  { request, response, services }: { request: Request; response: Response; services: Services },
  count: (caller: Caller) => Promise<void>,
): Promise<CheckedHead> {
  const params = Object.fromEntries(
    Object.entries(request.params).map(([name, value]) => [name, String(value)]),
  );
  const programId = params["program"];
  const caller = await authenticate(operation, request, now, services);
  response.locals["caller"] = nameOf(caller);
  await count(caller);
  authorize(operation, caller, programId);
  const program = findProgram(services, programId ?? callersProgram(caller));
  const key = operation.idempotent ? readIdempotencyKey(request.headersDistinct["idempotency-key"]) : null;
  return { caller, program, params, key };
}

/** Reads what a request asks, and runs the operation, here or at the process that leads. */
async function answerChecked(
  operation: Operation,
  { request, response, runner, operations, services }: Answering & { request: Request; response: Response },
  head: CheckedHead & { time: RequestTime; rawBody: Buffer; outside: GateTurn["outside"] },
): Promise<Answer> {
  const { time, caller, program, params, key, rawBody, outside } = head;
  const parsed =
    operation.body && (bodyRequired(operation) || rawBody.length > 0) ? parseJson(rawBody) : undefined;
  const body = operation.body ? validate(operation.body, parsed, "") : undefined;
  const query = validate(operation.query ?? noQuery, { ...request.query }, "/query");
  askAhead(time.confirm());
  if (operation.effect) {
    const handed = {
      method: request.method,
      path: request.originalUrl,
      headers: handedHeaders(request),
      body: rawBody,
    };
    const elsewhere = await outside(async () => await services.forwardToLeader(handed));
    if (elsewhere !== null) return elsewhere;
  }
  const context: OperationContext = {
    services,
    operations,
    caller,
    program,
    id: params["id"] ?? "",
    params,
    query,
    body,
    rawBody,
    header: (name) => onlyValue(request.headersDistinct[name]),
    now: time.now,
    confirmTime: async () => await time.confirm(),
    resumes: null,
    beginEffect: async () => await time.confirm(),
    outside,
  };
  try {
    const answer = await run(runner, operation, context, { key, parsed });
    await meetApiFault("after_commit", operation, context, answer);
    return answer;
  } catch (error) {
    if (error instanceof RefusedTransaction) {
      await time.confirm();
      await services.refused(
        describeRefusal(error, operation, context, String(response.locals["requestId"])),
      );
    }
    throw error;
  }
}

async function run(
  runner: OperationRunner,
  operation: Operation,
  context: OperationContext,
  { key, parsed }: { key: string | null; parsed: unknown },
): Promise<Answer> {
  if (key === null) return await runner.run(operation, context);
  const path = concretePath(operation.path, context.params);
  const claim = claimKey(operation, { key, path, body: parsed, program: context.program.id });
  return await runner.runOnce(operation, context, claim);
}

/** Names a request as the request gate names it. */
export function nameRequest({ method, path }: Request): string {
  return `${method} ${path}`;
}

function describeRefusal(
  { code, message, step, transactionHash, report }: RefusedTransaction,
  operation: Operation,
  { now, program, id }: OperationContext,
  requestId: string,
): Refusal {
  return {
    at: now,
    request_id: requestId,
    operation: operation.id,
    program: program.id,
    subject: id,
    step,
    code,
    detail: message,
    transaction_hash: transactionHash,
    checks: report.checks,
  };
}

function nameOf(caller: Caller): string {
  switch (caller.kind) {
    case "account":
      return caller.account.id;
    case "credential":
      return caller.credential.id;
    default:
      return "anyone";
  }
}

/** Returns whether the rate limit counts a caller's requests. */
function isLimited(caller: Caller, { settings }: Services): boolean {
  if (caller.kind === "account") return caller.account.isLimited;
  if (caller.kind !== "credential") return true;
  return settings.accounts.find(({ id }) => id === caller.credential.account)?.isLimited ?? true;
}

/** The path as the table writes it, with the parameters in place: equal however it was percent-encoded. */
function concretePath(path: string, params: { readonly [name: string]: string }): string {
  return path.replaceAll(/\{([a-z]+)\}/g, (_, name: string) => params[name] ?? "");
}

/** Returns the headers of a request that the leader needs when another process took the request. */
function handedHeaders({ headers }: Request): { [name: string]: string } {
  const names = ["authorization", "content-type", "idempotency-key"];
  return Object.fromEntries(names.map((name) => [name, String(headers[name] ?? "")]));
}

function onlyValue(values: readonly string[] | undefined): string | undefined {
  return values?.length === 1 ? values[0] : undefined;
}

function callersProgram(caller: OperationContext["caller"]): string | undefined {
  return caller.kind === "account" ? caller.account.program : undefined;
}

/** Operations without a program in the path are about the first one. */
function findProgram(services: Services, id: string | undefined): ProgramDeployment {
  const { programs } = services.deployment;
  const program = id === undefined ? programs[0] : programs.find((entry) => entry.id === id);
  if (program === undefined) throw new Problem("not_found", `There is no program ${id}.`);
  return program;
}
