/** A worker thread with a sandbox of its own, which tells what it came to. */
import { enableCompileCache } from "node:module";
import { parentPort, workerData } from "node:worker_threads";

const { seed, ends } = workerData;
// A thread compiles again what its process has compiled, unless it is asked to look.
enableCompileCache();
const { createSandbox } = await import("../../sandbox/create-sandbox.ts");
const sandbox = await createSandbox({ seed });
await sandbox.wallets.stranger.faucet(1n);
const { urls } = sandbox.description;
const { digest } = await sandbox.fingerprint();
parentPort?.postMessage({ urls: Object.values(urls), anvil: sandbox.chain.anvil.pid, digest });
if (ends) await sandbox.close();
