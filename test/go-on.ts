import type { Sandbox } from "../sandbox/create-sandbox.ts";
import { silentNarrator } from "../sandbox/demo/narrator.ts";
import { runDemo } from "../sandbox/demo/run-demo.ts";

/** Goes on with a sandbox in a way that shows everything that it was left with: faults, deliveries to come, time, ids. */
export async function goOn(sandbox: Sandbox): Promise<void> {
  await sandbox.clock.travel({ days: 1 });
  await runDemo(sandbox.description, silentNarrator);
}
