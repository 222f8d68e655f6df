/** A process of its own: runs the demo on a fresh sandbox with the given seed and prints the fingerprint. */
import { createSandbox } from "../../sandbox/create-sandbox.ts";
import { silentPrinter } from "../../testkit/demo/printer.ts";
import { runDemo } from "../../testkit/demo/run-demo.ts";

const [seed = "sandbox"] = process.argv.slice(2);
await using sandbox = await createSandbox({ seed });
await runDemo(sandbox.description, silentPrinter);
console.log(JSON.stringify(await sandbox.fingerprint()));
