import type { z } from "zod";
import type { Json } from "../../protocol/values/json.ts";
import type { ProgramDeployment } from "../chain/deployment.ts";
import type { ErrorCode } from "../errors/catalogue.ts";
import type { Problem } from "../errors/problem.ts";
import type { EventType, NewEvent } from "../schemas/event-types.ts";
import type { Scope } from "../schemas/scopes.ts";
import type { CredentialRecord } from "../store/records.ts";
import type { Change } from "../store/store.ts";
import type { GateTurn } from "./gate.ts";
import type { Account, Services } from "./services.ts";

/** The callers that an operation allows. */
export type Authorization =
  | { kind: "public" }
  | { kind: "account" }
  | { kind: "scope"; scope: Scope }
  | { kind: "signed_event" }
  | { kind: "wallet" };

/** The caller, as far as it was proven before the handler runs. */
export type Caller =
  | { kind: "anyone" }
  | { kind: "account"; account: Account }
  | { kind: "credential"; credential: CredentialRecord };

/** The arguments of a handler. */
export interface OperationContext<B = unknown, Q = unknown> {
  services: Services;
  /** The whole table, for operations that describe it. */
  operations: readonly Operation[];
  caller: Caller;
  /** The program in the path. */
  program: ProgramDeployment;
  /** The identifier in the path; empty where the path has none. */
  id: string;
  /** All path parameters. */
  params: { [name: string]: string };
  query: Q;
  body: B;
  /** The body's exact bytes. */
  rawBody: Buffer;
  /** Header values that were sent exactly once, by lower-case name. */
  header: (name: string) => string | undefined;
  /** Sandbox time when the request began, in Unix seconds. */
  now: number;
  /** Resolves when `now` is confirmed; to be awaited before anything is stored, taken or sent. @throws TimePassedError */
  confirmTime: () => Promise<void>;
  /** Waits for a client, a receiver or a turn without holding up a snapshot. @throws UndoneError */
  releaseGate: GateTurn["releaseGate"];
  /** The subject of the effect that an earlier request with this key began, when this one resumes it. */
  resumes: string | null;
  /** To be awaited before an effect outside the store: from here on the key belongs to the effect on this subject. */
  beginEffect: (subject: string) => Promise<void>;
}

/** A handler's decision. Nothing is written until the pipeline commits it. */
export type Outcome =
  | { kind: "read"; status: number; body: Json; headers?: { [name: string]: string } }
  /** JSON that is kept as its bytes, because many are answered the same. */
  | { kind: "kept"; status: number; json: Buffer }
  | {
      kind: "write";
      /** 202 keeps the key open: the identical request continues with the effect. */
      status: number;
      /** The event that this write causes, in the same commit. */
      event?: NewEvent;
      /** The problem that is answered instead of the body, if an effect that was not the right one is recorded anyway. */
      refusal?: Problem;
      /** Builds the changes and the answer; pure, and called once the event's id is known. */
      write: (eventId: string) => { changes: Change[]; body: Json };
    };

/** One operation, described once: the router, the checks, the description and the documentation come from it. */
export interface Operation<B extends z.ZodType = z.ZodType, Q extends z.ZodType = z.ZodType> {
  /** The operation's number in the specification; null for wallet routes. */
  number: number | null;
  id: string;
  method: "get" | "post";
  /** With parameters in braces, as in the specification. */
  path: string;
  summary: string;
  description: string;
  authorization: Authorization;
  /** Whether it needs an Idempotency-Key. */
  idempotent: boolean;
  /** Whether it has an effect outside the store, which it begins with `beginEffect`, so that a crash finds it in progress. */
  effect: boolean;
  /** An optional schema lets the request come without a body. */
  body?: B;
  /** The schema of the body when the handler takes its exact bytes and judges them itself. */
  rawBody?: z.ZodType;
  query?: Q;
  /** Whether its path answers a page to a client that prefers `text/html`. */
  page?: true;
  responses: { [status: number]: { description: string; schema: z.ZodType } };
  /** Its own codes; the codes of every operation and of its authorization, key and body are added to them. */
  errors: readonly ErrorCode[];
  events: readonly EventType[];
  handle(context: OperationContext<z.output<B>, z.output<Q>>): Promise<Outcome>;
}

/**
 * Defines an operation; the types of body and query follow from their schemas.
 *
 * @example export const readProgram = defineOperation({ number: 3, method: "get", … })
 */
export function defineOperation<B extends z.ZodType, Q extends z.ZodType>(
  operation: Operation<B, Q>,
): Operation<B, Q> {
  return operation;
}

/** Returns whether a request must have a body. */
export function bodyRequired({ body, rawBody }: Pick<Operation, "body" | "rawBody">): boolean {
  return rawBody !== undefined || (body !== undefined && !body.safeParse(undefined).success);
}

/** The name of an operation's authorization as the specification writes it: public, account, a scope or signed_event. */
export function authorizationName({ authorization }: Pick<Operation, "authorization">): string {
  return authorization.kind === "scope" ? authorization.scope : authorization.kind;
}
