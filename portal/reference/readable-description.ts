interface Parameter {
  in: string;
  name: string;
  schema?: { example?: unknown };
}

interface Operation {
  parameters?: Parameter[];
  responses?: { [status: string]: { headers?: object } };
}

interface Description {
  paths: { [path: string]: { [method: string]: Operation } };
}

/**
 * The description as a person reads and tries it: each write has an Idempotency-Key of its own in place of the one example, and refusals
 * come without their headers, which are the same everywhere and would fill half of the page.
 */
export function readableDescription(description: Description, newKey: () => string): Description {
  const parametersOf = ({ parameters = [] }: Operation) =>
    parameters.map((parameter) =>
      parameter.name === "Idempotency-Key"
        ? { ...parameter, schema: { ...parameter.schema, example: newKey() } }
        : parameter,
    );
  const responsesOf = ({ responses = {} }: Operation) =>
    mapValues(responses, ({ headers, ...response }, status) =>
      headers === undefined || Number(status) >= 400 ? response : { ...response, headers },
    );
  const paths = mapValues(description.paths, (methods) =>
    mapValues(methods, (operation) => ({
      ...operation,
      parameters: parametersOf(operation),
      responses: responsesOf(operation),
    })),
  );
  return { ...description, paths };
}

function mapValues<T, U>(
  values: { [name: string]: T },
  map: (value: T, name: string) => U,
): { [name: string]: U } {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value, name)]));
}
