interface Parameter {
  in: string;
  name: string;
  schema?: { example?: unknown };
}

interface Description {
  paths: { [path: string]: { [method: string]: { parameters?: Parameter[] } } };
}

/** The description as a person tries it: each write has an Idempotency-Key of its own in place of the one example. */
export function readableDescription(description: Description, newKey: () => string): Description {
  const parametersOf = ({ parameters = [] }: { parameters?: Parameter[] }) =>
    parameters.map((parameter) =>
      parameter.name === "Idempotency-Key"
        ? { ...parameter, schema: { ...parameter.schema, example: newKey() } }
        : parameter,
    );
  const paths = Object.entries(description.paths).map(([path, methods]) => {
    const operations = Object.entries(methods).map(([method, operation]) => [
      method,
      { ...operation, parameters: parametersOf(operation) },
    ]);
    return [path, Object.fromEntries(operations)];
  });
  return { ...description, paths: Object.fromEntries(paths) };
}
