import { z } from "zod";
import { controlOperations } from "../../sandbox/control/table.ts";
import { bodyOf, type ControlOperation } from "../../sandbox/lib/control/operation.ts";
import { showValue } from "../../sandbox/lib/errors/show-value.ts";
import { orList } from "../../server/lib/wording.ts";
import { fetchControl } from "../running/call-control.ts";
import { type Arguments, inputSchema, type Tool } from "./tool.ts";

/** The operations of the control API behind each tool, by their ids. The arguments of a call decide which of them is called. */
const operationsOfTools: { readonly [tool: string]: readonly string[] } = {
  status: ["readStatus"],
  given: ["give"],
  request: ["sendRequest"],
  requests: ["listRequests"],
  timeline: ["readTimeline"],
  explain: ["explain", "explainUnsent"],
  faults: ["listFaults", "setFault"],
  clear_faults: ["clearFaults"],
  time: ["travel", "mine", "chooseMining"],
  deliver: ["deliver"],
  snapshot: ["takeSnapshot"],
  snapshots: ["listSnapshots"],
  restore: ["restoreSnapshot"],
};

/** The tools that call the control API of the sandbox in a data directory, with the schemas of its operations. */
export function controlTools(dataDirectory: string): Tool[] {
  return Object.entries(operationsOfTools).map(([name, ids]) => {
    const operations = ids.flatMap((id) => controlOperations.filter((operation) => operation.id === id));
    const fields = unite(operations.map(fieldsOf));
    return {
      name,
      description: operations.map(describe).join(" "),
      input: inputSchema(z.strictObject(fields)),
      async call(given) {
        requireKnown(name, Object.keys(fields), given);
        requireChoice(name, operations, given);
        const operation = chosenBy(name, given, operations);
        const { method, path, body } = requestOf(name, operation, given);
        const response = await fetchControl(dataDirectory, method, path, body);
        return await response.text();
      },
    };
  });
}

function describe({ summary, description = "" }: ControlOperation): string {
  return `${summary} ${description}`.trim();
}

/** The schemas of an operation's arguments by name: those of its path, of its query and of the members of its body. */
function fieldsOf(operation: ControlOperation): Shape {
  return unite(formsOf(operation));
}

/** The arguments that an operation takes together: a body can have several forms. */
function formsOf(operation: ControlOperation): Shape[] {
  const { params, query } = operation;
  const [queries, bodies] = [shapesOf(query), shapesOf(bodyOf(operation))];
  return (queries.length > 0 ? queries : [{}]).flatMap((asked) =>
    (bodies.length > 0 ? bodies : [{}]).map((body) => ({ ...params, ...asked, ...body })),
  );
}

interface Shape {
  readonly [name: string]: z.ZodType;
}

/** The members of an object, or of each object of a union: a tool's arguments are one object. */
function shapesOf(schema: unknown): Shape[] {
  if (schema instanceof z.ZodObject) return [schema.shape];
  return schema instanceof z.ZodUnion ? schema.options.flatMap(shapesOf) : [];
}

/** Members that are not in all of the shapes are optional; one with several schemas has one of them. */
function unite(shapes: readonly Shape[]): { [name: string]: z.ZodType } {
  const names = new Set(shapes.flatMap((shape) => Object.keys(shape)));
  return Object.fromEntries(
    [...names].map((name) => {
      const schemas = [...new Set(shapes.flatMap((shape) => shape[name] ?? []))];
      const [only] = schemas;
      const schema = schemas.length === 1 && only !== undefined ? only : z.union(schemas);
      return [name, shapes.every((shape) => name in shape) ? schema : schema.optional()];
    }),
  );
}

/**
 * Returns the first operation that takes these arguments, if possible one that lacks none in its path.
 *
 * @throws Error when no operation takes them together.
 */
function chosenBy(tool: string, given: Arguments, operations: readonly ControlOperation[]): ControlOperation {
  const names = Object.keys(given);
  const takenBy = (form: Shape) => names.filter((name) => name in form);
  const taking = operations.filter((operation) =>
    formsOf(operation).some((form) => takenBy(form).length === names.length),
  );
  const chosen =
    taking.find(({ params = {} }) => Object.keys(params).every((name) => name in given)) ?? taking[0];
  if (chosen !== undefined) return chosen;
  const [most = []] = operations
    .flatMap(formsOf)
    .map(takenBy)
    .toSorted((left, right) => right.length - left.length);
  const others = names.filter((name) => !most.includes(name));
  throw new Error(
    `The tool ${tool} does not take ${orList(others)} with ${orList(most)}. Leave out one or the other.`,
  );
}

/** @throws Error when an argument is not one of the tool's. */
function requireKnown(tool: string, names: readonly string[], given: Arguments): void {
  const unknown = Object.keys(given).find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new Error(
      `The tool ${tool} has no argument ${unknown}. ${names.length === 0 ? "Leave it out" : `Use ${orList(names)}`}.`,
    );
}

/** @throws Error when a tool of several operations, of which none takes nothing, gets no argument that one of them needs. */
function requireChoice(tool: string, operations: readonly ControlOperation[], given: Arguments): void {
  const names = operations
    .flatMap(formsOf)
    .flatMap((shape) => Object.keys(shape).filter((name) => !(shape[name] instanceof z.ZodOptional)));
  const takesNothing = operations.some((operation) => Object.keys(fieldsOf(operation)).length === 0);
  if (operations.length > 1 && !takesNothing && !names.some((name) => name in given))
    throw new Error(`The tool ${tool} needs one of ${orList(names)}. Pass it.`);
}

/** The request of an operation with these arguments. The control API checks their values. */
function requestOf(tool: string, operation: ControlOperation, given: Arguments) {
  const { params = {}, query, path } = operation;
  const names = Object.keys(params);
  const missing = names.find((name) => !(name in given));
  if (missing !== undefined) throw new Error(`The argument ${missing} of ${tool} is missing. Pass it.`);
  const asked = unite(shapesOf(query));
  requireTypes(tool, { ...params, ...asked }, given);
  const others = Object.entries(given).filter(([name]) => !names.includes(name));
  const filled = names.reduce(
    (text, name) => text.replace(`{${name}}`, encodeURIComponent(String(given[name]))),
    path,
  );
  const strings = others.flatMap(([name, value]) => (name in asked ? [[name, String(value)] as const] : []));
  return {
    method: methods[operation.method],
    path: query === undefined ? filled : `${filled}?${new URLSearchParams(Object.fromEntries(strings))}`,
    ...(bodyOf(operation) && {
      body: Object.fromEntries(others.filter(([name]) => !(name in asked))),
    }),
  };
}

/** @throws Error when an argument of the path or the query, where the API only sees text, does not have its type. */
function requireTypes(tool: string, shape: Shape, given: Arguments): void {
  const { properties } = inputSchema(z.strictObject(shape));
  for (const [name, value] of Object.entries(given).filter(([one]) => one in shape)) {
    const type: unknown = Reflect.get(Object(properties), name)?.type;
    const isRight = type === "integer" ? Number.isInteger(value) : typeof value === type;
    if (!isRight)
      throw new Error(
        `The argument ${name} of ${tool} must be ${type === "integer" ? "a whole number" : `a ${type}`}, not ${showValue(value)}.`,
      );
  }
}

const methods = { get: "GET", post: "POST", put: "PUT", delete: "DELETE" } as const;
