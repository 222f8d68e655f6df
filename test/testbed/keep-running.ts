/** A process with a sandbox that ends as it is told: by return, by a throw, or by a signal from outside. */
import { createSandbox } from "../../sandbox/create-sandbox.ts";

const [ending] = process.argv.slice(2);
const sandbox = await createSandbox();
console.log(JSON.stringify({ anvil: sandbox.chain.anvil.pid, rpc: sandbox.description.urls.rpc }));
if (ending === "return") await sandbox.close();
if (ending === "throw") throw new Error("The test of an integrator failed.");
