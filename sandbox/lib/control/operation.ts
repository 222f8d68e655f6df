import type { Request, Response } from "express";
import type { z } from "zod";
import type { Json } from "../../../protocol/values/json.ts";
import type { ControlCode } from "./codes.ts";

/** The tags that group the operations, with the titles of their tables in docs/control.md. */
export const controlTags = {
  Sandbox: "The state of the sandbox, and of its transactions.",
  Given: "Merchants and purchases in a given state, and deliveries.",
  Time: "Time and blocks.",
  Faults: "Faults of all layers.",
  Snapshots: "Snapshots, in memory and as files.",
  Scenarios: "Recordings.",
  Receiver: "Deliveries that have arrived, and the keys that sign.",
  Relayer: "Relay operations that need attention.",
  Explorer: "The data that the explorer shows. These operations change nothing.",
  Processes: "Requests that joined processes send to the first process of a shared sandbox.",
} as const;

/** The arguments that every handler gets. */
interface HandlerArguments<B, Q> {
  body: B;
  query: Q;
  /** The parameters in the path, as their schemas have checked them. */
  params: { [name: string]: string };
  /** The description of the whole API. */
  describe: () => object;
  request: Request;
  response: Response;
}

/** The arguments that the handlers of the control API get besides. */
export interface ControlContext<S> {
  /** The parts of a sandbox that the operation reads and changes. */
  sandbox: S;
}

/** The command that sends an operation: its arguments are the parameters of the path, its flags the fields of the body. */
export interface OperationCommand {
  /** As in `keys rotate`. */
  readonly name: string;
  readonly description: string;
  /** The field of the body that is an argument. */
  readonly argument?: string;
}

/** The parts of a success besides its status. */
interface Success<A> {
  status: 200 | 201 | 204;
  description: string;
  /** The schema of the answer; null if it has no body. */
  schema: A;
  /** The media type, if it is not JSON: then the handler returns bytes. */
  type?: string;
}

/** One operation of an API besides the routing API: router, checks and description come from it. */
export interface ServedOperation<
  C,
  B extends z.ZodType = z.ZodType,
  Q extends z.ZodType = z.ZodType,
  A extends z.ZodType | null = z.ZodType | null,
> {
  id: string;
  method: "get" | "post" | "put" | "delete";
  /** With parameters in braces. */
  path: string;
  tag: string;
  summary: string;
  /** More than the summary says; in Markdown without links. */
  description?: string;
  /** The page of docs/ about it, with a fragment, and the words that docs/control.md links to it with. */
  page?: { target: string; words: string };
  /** The schemas of the parameters in the path. */
  params?: { [name: string]: z.ZodType<string> };
  query?: Q;
  /** A schema that takes `{}` lets the request come without a body. */
  body?: B;
  /** The schema of the body when the handler judges it itself. */
  describedBody?: z.ZodType;
  /** A body that a fresh sandbox takes; shown in docs/control.md. */
  example?: Json;
  success: Success<A>;
  /** Returns the body of the answer, or undefined if it has answered by itself. */
  handle(context: C & HandlerArguments<z.output<B>, z.output<Q>>): Promise<unknown> | unknown;
}

/** One operation of the control API on some parts of a sandbox; docs/control.md comes from it, too. */
export interface ControlOperation<
  S = unknown,
  B extends z.ZodType = z.ZodType,
  Q extends z.ZodType = z.ZodType,
  A extends z.ZodType | null = z.ZodType | null,
> extends ServedOperation<ControlContext<S>, B, Q, A> {
  tag: keyof typeof controlTags;
  /** The most bytes of a body; by default those of the routing API. */
  bodyLimit?: number;
  command?: OperationCommand;
  /** Its own codes; those that every operation can answer with are added. */
  errors: readonly ControlCode[];
  /** Whether it runs between snapshots, holding the request gate. */
  gated: boolean;
  /** Whether only the sandbox's own chain can do it: on a connection to a node the answer is `409 needs_own_chain`. */
  needsOwnChain: boolean;
  /** Whether it only reads, and starts over if a restore happens meanwhile: what it has read is then of two states. */
  startsOver: boolean;
  /** Whether a recording has it as a step. One that is not recorded waits for nothing that a recording holds back. */
  recorded: boolean;
  /** Whether the answer may be kept by a cache until it is checked. */
  cached: boolean;
}

/** The fields of an operation that most operations have alike. */
const usual = {
  gated: false,
  needsOwnChain: false,
  startsOver: false,
  recorded: true,
  cached: true,
  errors: [],
} as const;

/**
 * Returns what defines operations on some parts of a sandbox; the types of body and query follow from their schemas.
 *
 * @example
 * const defineControl = controlOf<{ relayer: Relayer }>();
 * export const resumeOperation = defineControl({ id: "resumeOperation", method: "post", path: "/operations/{id}/resume", … })
 */
export function controlOf<S>() {
  return <
    B extends z.ZodType = z.ZodUndefined,
    Q extends z.ZodType = z.ZodUndefined,
    A extends z.ZodType | null = z.ZodType | null,
  >(
    operation: Omit<ControlOperation<S, B, Q, A>, keyof typeof usual> &
      Partial<Pick<ControlOperation<S, B, Q, A>, keyof typeof usual>>,
  ): ControlOperation<S, B, Q, A> => ({ ...usual, ...operation });
}

type Bodied = Pick<ServedOperation<never>, "body" | "describedBody">;

/** The schema of the body of an operation, or undefined if it takes none. */
export function bodyOf({ body, describedBody }: Bodied): z.ZodType | undefined {
  return describedBody ?? body;
}

/** Returns whether a request must have a body. */
export function needsBody({ body, describedBody }: Bodied): boolean {
  return describedBody !== undefined || (body !== undefined && !body.safeParse({}).success);
}
