interface Reference {
  $ref?: string;
}

interface Parameter extends Reference {
  name?: string;
  example?: unknown;
}

interface Media {
  schema?: { allOf?: readonly [object, ...object[]] };
}

interface Response extends Reference {
  headers?: object;
  content?: { [type: string]: Media };
}

interface ShownOperation {
  parameters?: Parameter[];
  responses?: { [status: string]: Response };
}

interface Description {
  paths: { [path: string]: { [method: string]: ShownOperation } };
  components?: {
    parameters?: { [name: string]: Parameter };
    responses?: { [name: string]: Response };
  };
}

/**
 * The description as a person reads and tries it: each write has an Idempotency-Key of its own instead of the one example, and refusals
 * come without their headers, which are the same everywhere and would fill half of the page, and with the one schema that they share.
 */
export function readableDescription(
  description: Description,
  newKey: () => string,
): Description & { $$normalized: true } {
  const { parameters: sharedParameters, responses: sharedResponses } = description.components ?? {};
  const parametersOf = ({ parameters = [] }: ShownOperation) =>
    parameters
      .map((parameter) => resolve(parameter, sharedParameters))
      .map((parameter) =>
        parameter.name === "Idempotency-Key" ? { ...parameter, example: newKey() } : parameter,
      );
  const responsesOf = ({ responses = {} }: ShownOperation) =>
    mapValues(responses, (response, status) => {
      const whole = resolve(response, sharedResponses);
      return Number(status) >= 400 ? shorten(whole) : whole;
    });
  const paths = mapValues(description.paths, (methods) =>
    mapValues(methods, (operation) => ({
      ...operation,
      parameters: parametersOf(operation),
      responses: responsesOf(operation),
    })),
  );
  // Swagger UI's own mark: it would normalize the whole description for each operation that is opened, and this one leaves nothing to.
  return { ...description, paths, $$normalized: true };
}

/** The component that a part of an operation refers to, or the part itself. */
function resolve<T extends Reference>(part: T, components: { [name: string]: T } = {}): T {
  return components[part.$ref?.split("/").at(-1) ?? ""] ?? part;
}

/** A refusal by the schema of all: its own only repeats the codes, which its description names. */
function shorten({ headers: _, content = {}, ...refusal }: Response): Response {
  const shared = ({ schema, ...media }: Media): Media =>
    schema === undefined ? media : { ...media, schema: schema.allOf?.[0] ?? schema };
  return { ...refusal, content: mapValues(content, shared) };
}

function mapValues<T, U>(
  values: { [name: string]: T },
  map: (value: T, name: string) => U,
): { [name: string]: U } {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value, name)]));
}
