/** A sandbox in a process of its own, with options that the command line does not have; it runs until a signal ends it. */
import { createSandbox } from "../../sandbox/create-sandbox.ts";
import type { SandboxOptions } from "../../sandbox/options/options.ts";

const [text = "{}"] = process.argv.slice(2);
const options: SandboxOptions = JSON.parse(text);
const sandbox = await createSandbox(options);
process.once("SIGTERM", () => void sandbox.close());
console.log(JSON.stringify(sandbox.description));
