import type { IncomingMessage } from "node:http";
import { z } from "zod";
import type { Json } from "../../protocol/values/json.ts";
import { redact } from "../../server/http/redact.ts";
import { operations } from "../../server/operations.ts";
import { readJson } from "../lib/read-json.ts";
import type { SandboxDescription } from "../options/description.ts";
import { answerFields } from "./answer-fields.ts";
import type { RequestStep } from "./scenario.ts";
import { type Exchange, lostAnswer } from "./watch-answer.ts";

const issued = z.object({ credential: z.string(), credential_id: z.string() });

/** The known callers: accounts by their keys, credentials as they are issued. */
export interface KnownCallers {
  accounts: SandboxDescription["accounts"];
  /** The ids of credentials by their secrets, to which those are added that an answer issues. */
  credentials: Map<string, string>;
}

/** Describes a request and its answer as a step. Its title says which operation it is; anyone may write a better one. */
export function describeRequest(
  kind: "api" | "control",
  { method = "GET", url = "/", headers }: IncomingMessage,
  { requestBody, exchange }: { requestBody: string; exchange: Exchange | typeof lostAnswer },
  callers: KnownCallers,
): RequestStep {
  const caller = nameCaller(headers.authorization, callers);
  const access = exchange === lostAnswer ? null : readIssued(exchange.answer);
  if (access !== null) callers.credentials.set(access.credential, access.credential_id);
  const key = headers["idempotency-key"];
  const line = `${method} ${url}`;
  const title = kind === "api" ? titleOf(method, url) : `Control: ${line}`;
  return {
    title:
      exchange === lostAnswer
        ? `${title}: response lost`
        : exchange.status < 400
          ? title
          : `${title}: refused`,
    ...(kind === "api" ? { api: line } : { control: line }),
    ...caller,
    ...(typeof key === "string" ? { idempotency_key: key } : {}),
    ...describeBody(requestBody, headers["content-type"]),
    answer:
      exchange === lostAnswer
        ? { lost: true }
        : { status: exchange.status, body: answerFields(exchange.answer) },
  };
}

/** The secret that an answer issues, and its id. */
export function readIssued(answer: string): { credential: string; credential_id: string } | null {
  return issued.safeParse(readJson(answer)).data ?? null;
}

/** The credential of an Authorization header, whose scheme may be written in any case; null when it has none. */
export function readBearer(authorization: string): string | null {
  return /^bearer +(.+)$/i.exec(authorization)?.[1] ?? null;
}

function describeBody(
  text: string,
  type: string | undefined,
): Pick<RequestStep, "body" | "raw_body" | "content_type"> {
  const body = type === undefined ? undefined : readPlainJson(text);
  const isUsual = body !== undefined && type === "application/json";
  return {
    ...(body === undefined ? {} : { body }),
    ...(body !== undefined || text === "" ? {} : { raw_body: text }),
    ...(type === undefined || isUsual ? {} : { content_type: type }),
  };
}

/** The value of a text that is written as JavaScript would write it; undefined also for what nests too deeply for a scenario. */
function readPlainJson(text: string): Json | undefined {
  try {
    const value = z.json().parse(JSON.parse(text));
    return JSON.stringify(value) === text ? value : undefined;
  } catch {
    return undefined;
  }
}

function nameCaller(
  authorization: string | undefined,
  callers: KnownCallers,
): Pick<RequestStep, "as" | "bearer"> {
  const bearer = readBearer(authorization ?? "");
  if (bearer === null) return {};
  const known = callers.credentials.get(bearer) ?? callers.accounts.find(({ key }) => key === bearer)?.id;
  return known === undefined ? { bearer: redact(bearer) } : { as: known };
}

function titleOf(method: string, url: string): string {
  const [path = ""] = url.split("?");
  const found = operations.find(
    (operation) =>
      operation.method === method.toLowerCase() &&
      new RegExp(`^${operation.path.replaceAll(/\{[a-z]+\}/g, "[^/]+")}$`).test(path),
  );
  return found?.summary ?? `${method} ${path}`;
}
