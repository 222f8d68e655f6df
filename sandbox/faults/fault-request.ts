import { validateHeaderName, validateHeaderValue } from "node:http";
import { z } from "zod";
import { FaultInvalidError, type RelayOperationKind, relayOperationKinds } from "../../relayer/relayer.ts";
import type { FieldError } from "../../server/errors/problem.ts";
import { check } from "../../server/http/request/validate.ts";
import { orList } from "../../server/lib/wording.ts";
import { operations } from "../../server/operations.ts";
import { requireThat } from "../../server/schemas/describe-issue.ts";
import { knownMethods } from "../chain/rpc/methods/method-list.ts";
import { showValue } from "../lib/errors/show-value.ts";
import { flagged, flaggedIn } from "../lib/option-schemas.ts";
import {
  type FaultIntent,
  type FaultLayer,
  faultDefaults,
  faultIntentNames,
  faultIntents,
  faultLayers,
  faultLimits,
  type LayerAction,
  type LayerPoint,
  placementsOf,
  pointsOf,
  type RpcCaller,
  rpcCallers,
} from "./fault-matrix.ts";

/** The ids of the writes of the routing API. */
export const writeOperations: readonly string[] = operations
  .filter(({ method }) => method === "post")
  .map(({ id }) => id);

/** The ids of the writes that have an id in their path. */
export const writesOfSubjects: readonly string[] = operations
  .filter(({ method, path }) => method === "post" && path.includes("{id}"))
  .map(({ id }) => id);

/** Limits a fault to a later match. */
interface Occurrence {
  /** The number of the first matching request, operation or call on which it acts, counted from 1 since it was set. */
  occurrence?: number;
}

/** The requests, operations or calls that a fault is limited to; every named field must match. */
interface FaultMatches {
  api: Occurrence & {
    /** The API operation's id, as in `executeRefund`. */
    operation?: string;
    program?: string;
    /** The id in the path. */
    subject_id?: string;
  };
  relayer: Occurrence & {
    /** The relay operation's id. */
    operation_id?: string;
    program?: string;
    kind?: RelayOperationKind;
    /** The purchase or the refund. */
    subject_id?: string;
  };
  rpc: Occurrence & { caller?: RpcCaller; method?: string };
  chain: { [field: string]: never };
  delivery: Occurrence;
}

/** The details of a fault. */
interface FaultDetails {
  /** How many times it acts: once by default. With null, it acts until it is cleared. */
  count?: number | null;
  /** The number of blocks that a `reorg` removes; 1 by default. */
  depth?: number;
  /** How long a `delay` takes, in real milliseconds; 1,000 by default. */
  delay_ms?: number;
  /** The status of the receiver's response, 300 to 599; 503 by default. */
  status?: number;
  /** The headers of the receiver's response. */
  headers?: { [name: string]: string };
  /** The body of the receiver's response. */
  body?: string;
}

/** A fault to set, by its layer, point and action. The point can be left out where the action has only one. */
export type FaultRequest = {
  [L in FaultLayer]: FaultDetails & {
    layer: L;
    point?: LayerPoint<L>;
    action: LayerAction<L>;
    match?: FaultMatches[L];
  };
}[FaultLayer];

/** The options of each common fault. */
export interface FaultIntentOptions {
  "answer-lost": FaultMatches["api"] & Pick<FaultDetails, "count">;
  "node-down": FaultMatches["rpc"] & Pick<FaultDetails, "count">;
  reorg: FaultMatches["relayer"] & Pick<FaultDetails, "count" | "depth"> & { point?: LayerPoint<"relayer"> };
  crash: FaultMatches["api"] &
    FaultMatches["relayer"] &
    Pick<FaultDetails, "count"> & { point?: LayerPoint<"api" | "relayer"> };
  slow: FaultMatches["api"] & Pick<FaultDetails, "count" | "delay_ms">;
}

function isValid(validate: () => void): boolean {
  try {
    validate();
    return true;
  } catch {
    return false;
  }
}

/** Headers that HTTP can carry: refused when the fault is set, not when the answer is written. */
const headersSchema = z.record(z.string(), z.string()).superRefine((headers, context) => {
  for (const [name, value] of Object.entries(headers)) {
    const refuse = (message: string) => context.addIssue({ code: "custom", path: [name], message });
    if (!isValid(() => validateHeaderName(name))) refuse("is not the name of an HTTP header; rename it");
    else if (!isValid(() => validateHeaderValue(name, value)))
      refuse("has a character that no value of an HTTP header has; remove it");
  }
});

const unending = "or null to act until it is cleared";
const count = z
  .int({ error: ({ input }) => requireThat(`a whole number, ${unending}`, input) })
  .min(1, `must be at least 1, ${unending}`)
  .nullable()
  .optional();

/** The details of actions. */
const details = {
  depth: flagged(z.int().min(1), "--depth <blocks>", "how many blocks a reorg removes", {
    byDefault: `${faultDefaults.depth}`,
  }),
  delay_ms: flagged(
    z.int().min(1).max(faultLimits.delayMs),
    "--delay <milliseconds>",
    "real time of a delay",
    { byDefault: `${faultDefaults.delay_ms}` },
  ),
  status: flagged(
    z.int().min(faultLimits.status.least).max(faultLimits.status.most),
    "--status <code>",
    "the status of the receiver's response",
    { byDefault: `${faultDefaults.status}` },
  ),
  headers: flagged(
    headersSchema,
    "--header <header>",
    'a header of the receiver\'s response, such as "Retry-After: 3"; repeatable',
  ),
  body: flagged(z.string(), "--body <text>", "the body of the receiver's response"),
};

/** The action that each detail belongs to. */
const actionOfDetail: { readonly [D in keyof typeof details]: string } = {
  depth: "reorg",
  delay_ms: "delay",
  status: "answer",
  headers: "answer",
  body: "answer",
};

const methodSchema = z
  .string()
  .refine(
    (method) => knownMethods.has(method),
    'must be a method of the node, such as "eth_sendRawTransaction"',
  );

/** The fields that can limit a fault. */
const matchFields = {
  operation: flagged(
    z.enum(writeOperations).meta({ id: "WriteOperation" }),
    "--operation <id>",
    "only on this write of the API, such as executeRefund",
  ),
  program: flagged(z.string(), "--program <id>", "only on requests or relay operations of this program"),
  subject_id: flagged(z.string(), "--subject <id>", "only on this purchase, merchant or refund"),
  operation_id: flagged(z.string(), "--relay-operation <id>", "only on this relay operation"),
  kind: flagged(z.enum(relayOperationKinds), "--kind <kind>", "only on relay operations of this kind"),
  caller: flagged(z.enum(rpcCallers), "--caller <caller>", "only on this caller's calls to the node"),
  method: flagged(methodSchema, "--method <name>", "only on calls of this JSON-RPC method"),
  occurrence: flagged(
    z.int().min(1),
    "--occurrence <number>",
    "the first of the matching requests, relay operations or calls on which it acts",
    { byDefault: "1" },
  ),
};
const { operation, program, subject_id, operation_id, kind, caller, method, occurrence } = matchFields;

/** The flags of the fields that limit a fault, and of the details of its action. */
export const faultFlags = { match: flaggedIn(matchFields), details: flaggedIn(details) };

/** The fields that can limit the faults of a layer. */
const matchShapes: { readonly [L in FaultLayer]: { readonly [field: string]: z.ZodOptional } } = {
  api: { operation, program, subject_id, occurrence },
  relayer: { operation_id, program, kind, subject_id, occurrence },
  rpc: { caller, method, occurrence },
  chain: {},
  delivery: { occurrence },
};

const layerSchema = z.looseObject({
  layer: z.enum(faultLayers, {
    error: ({ input }) =>
      input === undefined
        ? `is missing; send one of ${faultLayers.map((layer) => JSON.stringify(layer)).join(", ")}, or intent instead, such as "${faultIntentNames[0]}"`
        : undefined,
  }),
});
const intentSchema = z.looseObject({ intent: z.enum(faultIntentNames) });

/** The schema of a fault of one layer. */
function schemaOfLayer(layer: FaultLayer): z.ZodType {
  const actions = Object.keys(placementsOf(layer));
  return z.strictObject({
    layer: z.literal(layer),
    point: z.enum(pointsOf(layer)).optional(),
    action: z.enum(actions),
    match: z.strictObject(matchShapes[layer]).optional(),
    count,
    ...detailsOf(actions),
  });
}

/** The schema of a fault by its name: the fields of its match are among the others. */
function schemaOfIntent(intent: FaultIntent): z.ZodType {
  const { action } = faultIntents[intent];
  const layers = layersOfIntent(intent);
  return z.strictObject({
    intent: z.literal(intent),
    // A name that stands for one point takes no other: at another one it would not be what it says.
    ...(layers.length === 1
      ? {}
      : { point: z.enum(layers.flatMap((layer) => placementsOf(layer)[action] ?? [])).optional() }),
    ...Object.assign({}, ...layers.map((layer) => matchShapes[layer])),
    count,
    ...detailsOf([action]),
  });
}

/** The schema of a fault to set, in either form, for descriptions: {@link readFault} checks the form that a fault has. */
export const faultRequestSchema = z
  .union([...faultIntentNames.map(schemaOfIntent), ...faultLayers.map(schemaOfLayer)])
  .meta({ id: "SetFault" });

/** The layers that a named fault can act in: its own, and for some the relayer. */
function layersOfIntent(intent: FaultIntent): FaultLayer[] {
  const { layer, action } = faultIntents[intent];
  return placementsOf("relayer")[action] === undefined ? [layer] : [layer, "relayer"];
}

function detailsOf(actions: readonly string[]): Partial<typeof details> {
  return Object.fromEntries(
    Object.entries(details).filter(([detail]) => actions.includes(Reflect.get(actionOfDetail, detail))),
  );
}

/** The types of what the schemas above have checked. */
const checkedSchema = z.object({
  point: z.string().optional(),
  action: z.string().optional(),
  match: z.record(z.string(), z.union([z.string(), z.int()]).optional()).optional(),
  count,
  ...details,
});

/** A fault to set whose fields are valid. Whether they fit together is not checked yet. */
export interface FaultEntry extends z.output<typeof checkedSchema> {
  layer: FaultLayer;
  action: string;
  match: { [field: string]: string | number };
}

/** Reads a value by a schema, and throws when it does not match. */
type ReadSchema = <T extends z.ZodType>(schema: T, value: unknown) => z.output<T>;

/**
 * Reads a fault to set, in either form.
 *
 * @param read - reads a value or throws; by default it throws FaultInvalidError.
 */
export function readFault(value: unknown, read: ReadSchema = requireValid): FaultEntry {
  const isNamed = typeof value === "object" && value !== null && "intent" in value;
  const entry = isNamed ? readNamed(value, read) : readPlaced(value, read);
  for (const [detail, action] of Object.entries(actionOfDetail))
    if (Reflect.get(entry, detail) !== undefined && entry.action !== action)
      throw new FaultInvalidError(
        `The option ${detail} is for ${action} only. Leave it out for ${entry.action}.`,
      );
  const fields = Object.keys(matchShapes[entry.layer]);
  const unknown = Object.keys(entry.match).find((field) => !fields.includes(field));
  if (unknown === undefined) return entry;
  throw new FaultInvalidError(
    `A fault of the layer ${entry.layer} does not take the option ${unknown}. ${fields.length === 0 ? "Leave it out" : `Use ${orList(fields.map((field) => `the option ${field}`))}`}.`,
  );
}

function readPlaced(value: unknown, read: ReadSchema): FaultEntry {
  const { layer } = read(layerSchema, value);
  read(schemaOfLayer(layer), value);
  const { action = "", match = {}, ...fault } = checkedSchema.parse(value);
  return { ...fault, layer, action, match: withValues(match) };
}

/** Reads an intent as the entry of the matrix that it names; a point of the relayer makes it a fault of the relayer. */
function readNamed(value: object, read: ReadSchema): FaultEntry {
  const { intent } = read(intentSchema, value);
  read(schemaOfIntent(intent), value);
  const own: { action: string; point: string; count?: number | null } = faultIntents[intent];
  const { action } = own;
  const { point = own.point, count = own.count, ...given } = checkedSchema.parse(value);
  const layers = layersOfIntent(intent);
  const layer = layers.find((one) => placementsOf(one)[action]?.includes(point));
  const names = new Set(layers.flatMap((one) => Object.keys(matchShapes[one])));
  const match = withValues(Object.fromEntries(Object.entries(value).filter(([name]) => names.has(name))));
  return { ...given, layer: layer ?? faultIntents[intent].layer, point, action, match, count };
}

function withValues(fields: { [field: string]: unknown }): { [field: string]: string | number } {
  return Object.fromEntries(
    Object.entries(fields).filter(
      (entry): entry is [string, string | number] =>
        typeof entry[1] === "string" || typeof entry[1] === "number",
    ),
  );
}

/** @throws FaultInvalidError with everything that is wrong, in the words of the options of `faults.set`. */
function requireValid<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  const { data, errors } = check(schema, value, "");
  if (errors === null) return data;
  throw new FaultInvalidError(errors.map((error) => inOptions(error, value)).join(" "));
}

function inOptions({ pointer, code, detail }: FieldError, value: unknown): string {
  const names = orList(faultIntentNames);
  if (pointer === "")
    return `A fault is a name or an object with layer and action, not ${showValue(value)}. Use ${names}, or { layer, action }.`;
  const named: unknown = Reflect.get(Object(value), "intent");
  if (pointer === "/intent") return `There is no fault ${showValue(named)}. Use ${names}.`;
  const option = pointer.slice(1).replaceAll("/", ".");
  if (code !== "unknown_field")
    return `The option ${option} ${detail.replace(/^is missing; send /, "is missing; pass ")}.`;
  const [, known = "leave it out"] = detail.split("; ");
  return `${named === undefined ? "A fault" : `The fault ${named}`} has no option ${option}; ${known.replace("use intent, ", "use ")}${known.endsWith("?") ? "" : "."}`;
}
