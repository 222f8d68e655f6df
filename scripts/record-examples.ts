/** Records the request examples of the API's description: `node scripts/record-examples.ts`. */
import { writeFile } from "node:fs/promises";
import { createSandbox } from "../sandbox/create-sandbox.ts";
import { exampleLifecycle } from "./examples/lifecycle.ts";
import { ExampleRun } from "./examples/run.ts";

const target = new URL("../server/openapi/examples/request-examples.generated.ts", import.meta.url);
await using sandbox = await createSandbox();
const examples = await new ExampleRun(sandbox).all(exampleLifecycle);
await writeFile(
  target,
  [
    "// Recorded by `node scripts/record-examples.ts` on a fresh sandbox. Do not edit.",
    "",
    'import type { RequestExample } from "./request-example.ts";',
    "",
    "/** The request example of each operation, in an order in which they succeed. */",
    `export const requestExamples: { readonly [operation: string]: RequestExample } = ${JSON.stringify(examples, null, 2)};`,
    "",
  ].join("\n"),
);
console.log(`${Object.keys(examples).length} operations`);
