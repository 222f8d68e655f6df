import { expect, test } from "vitest";
import { exampleLifecycle } from "../../../scripts/examples/lifecycle.ts";
import { ExampleRun } from "../../../scripts/examples/run.ts";
import type { RequestExample } from "../../../server/openapi/examples/request-example.ts";
import { jsonSchema } from "../../../server/schemas/primitives.ts";
import { freshSandbox } from "../../kit/fresh-sandbox.ts";
import { type DescribedOperation, parseDescription } from "./fuzz/description.ts";

/** The parts of a request example in the served description. */
function exampleOf({ parameters = [], requestBody }: DescribedOperation): RequestExample {
  const shown = (place: string) =>
    Object.fromEntries(
      parameters.flatMap(({ in: at, name, example }) =>
        at === place && example !== undefined ? [[name, example] as const] : [],
      ),
    );
  const bodies = Object.entries(requestBody?.content["application/json"]?.examples ?? {}).map(
    ([name, { summary, value }]) => [name, { summary, value: jsonSchema.parse(value) }] as const,
  );
  return {
    path: shown("path"),
    query: shown("query"),
    header: shown("header"),
    bodies: Object.fromEntries(bodies),
  };
}

test("every request example of the description succeeds on a fresh sandbox (to record them again: npx node scripts/record-examples.ts)", async () => {
  const sandbox = await freshSandbox();
  const { paths } = parseDescription(
    await (await fetch(`${sandbox.description.urls.api}/v1/routing/openapi.json`)).text(),
  );
  const operations = new Map(
    Object.values(paths)
      .flatMap((methods) => Object.values(methods))
      .map((operation) => [operation.operationId, operation]),
  );
  const tried = await new ExampleRun(sandbox).all(exampleLifecycle, ({ operation }) => {
    const described = operations.get(operation);
    if (described === undefined) throw new Error(`The description has no ${operation}.`);
    for (const { name, required, example } of described.parameters ?? [])
      if (required) expect(example, `${operation} ${name}`).toBeDefined();
    const example = exampleOf(described);
    if (described.requestBody !== undefined) expect(Object.keys(example.bodies ?? {})).not.toEqual([]);
    return example;
  });
  expect(Object.keys(tried).toSorted()).toEqual([...operations.keys()].toSorted());
});
