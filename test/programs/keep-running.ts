/** A process with a sandbox that ends as its arguments say: by itself in one way or another, or by a signal from outside. */
import { createSandbox } from "../../sandbox/create-sandbox.ts";

const [ending] = process.argv.slice(2);
const sandbox = await createSandbox();
console.log(JSON.stringify({ anvil: sandbox.chain.anvil.pid, rpc: sandbox.chain.anvil.url }));
if (ending === "return") await sandbox.close();
if (ending === "throw") throw new Error("The test of an integrator failed.");
if (ending === "process.exit") process.exit(3);
if (ending === "unhandled rejection") void Promise.reject(new Error("This was not awaited."));
