/** Fakes the timers of node:test before the first sandbox of its process, which loads its code with that, and has the sandbox wait. */
import { mock } from "node:test";
import { createSandbox } from "../../testkit/index.ts";

mock.timers.enable({ apis: ["setTimeout", "setInterval", "setImmediate"] });
const sandbox = await createSandbox();
await sandbox.faults.set("answer-lost", { operation: "createMerchant" });
await sandbox.given.purchase({ state: "paid" });
await sandbox.deliverAll();
await (await sandbox.snapshot()).restore();
await sandbox.close();
console.log("done");
