/** A process of its own: loads a snapshot file, continues with it, and prints what it was and what it came to. */
import { createSandbox } from "../../sandbox/create-sandbox.ts";
import { continueSandbox } from "../continue-sandbox.ts";

const [from = ""] = process.argv.slice(2);
await using sandbox = await createSandbox({ from });
const { seed } = sandbox.description;
const faults = sandbox.faults.list();
const budget = await sandbox.relayer.budget("prg_books");
const loaded = await sandbox.fingerprint();
await continueSandbox(sandbox);
console.log(JSON.stringify({ seed, faults, budget, loaded, end: await sandbox.fingerprint() }));
