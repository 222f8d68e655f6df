/** A process of its own that does a series of steps with a sandbox, and prints each thing that it was answered when it was. */
import { createSandbox, type Sandbox } from "../../sandbox/create-sandbox.ts";
import type { Fact } from "../crash/disk/facts.ts";
import { Storefront, send } from "../crash/storefront.ts";
import { controlSandbox } from "../kit/control.ts";

/** The steps of the process, and their directory. */
export interface DiskScenario {
  steps: readonly ("offer" | "refund" | "blocks" | "balance" | "snapshot" | "restore" | "save" | "grow")[];
  dataDirectory: string;
  seed: string;
  fresh?: boolean;
  from?: string;
}

const [text = "{}"] = process.argv.slice(2);
const { steps, dataDirectory, ...options }: DiskScenario = JSON.parse(text);
const address = "0x00000000000000000000000000000000000000aa";

function tell(fact: Fact): void {
  process.stdout.write(`${JSON.stringify(fact)}\n`);
}

async function attempt(step: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    tell({ fact: "refused", step, message: String(error) });
  }
}

async function relay(sandbox: Sandbox, kind: "offer" | "collect_refund"): Promise<void> {
  const storefront = await Storefront.open(sandbox.description);
  const request = await storefront.prepare(kind);
  tell({ fact: "sending", request });
  const answer = await send(sandbox.description, storefront.credential, request);
  if (answer.status === request.success) tell({ fact: "answered", request, answer });
}

async function take(sandbox: Sandbox, step: DiskScenario["steps"][number]): Promise<void> {
  const { description, chain } = sandbox;
  switch (step) {
    case "offer":
      return await relay(sandbox, "offer");
    case "refund":
      return await relay(sandbox, "collect_refund");
    case "blocks": {
      await controlSandbox(description, "POST", "/blocks", { blocks: 17 });
      const { number, hash } = await chain.client.getBlock();
      return tell({ fact: "block", number: Number(number), hash });
    }
    case "balance": {
      const value = await chain.client.getBlockNumber();
      tell({ fact: "setting", value: String(value) });
      await chain.client.setBalance({ address, value });
      return tell({ fact: "balance", value: String(await chain.client.getBalance({ address })) });
    }
    case "snapshot":
      await controlSandbox(description, "POST", "/snapshots");
      return tell({ fact: "snapshot" });
    case "restore":
      tell({ fact: "restoring" });
      await controlSandbox(description, "POST", "/snapshots/1/restore", {});
      return tell({ fact: "restored" });
    case "save":
      await sandbox.save(`${dataDirectory}/saved.snapshot`);
      return tell({ fact: "saved", file: `${dataDirectory}/saved.snapshot` });
    case "grow":
      // Enough for the journal to be compacted.
      for (let calls = 0; calls < 9; calls += 1)
        await chain.client.setCode({ address, bytecode: `0x${"5b".repeat(2 ** 20)}` });
  }
}

await attempt("start", async () => {
  const sandbox = await createSandbox({ dataDirectory, ...options });
  tell({ fact: "started", seed: sandbox.description.seed });
  for (const step of steps) await attempt(step, async () => await take(sandbox, step));
  await attempt("close", async () => {
    await sandbox.close();
    tell({ fact: "closed" });
  });
});
process.exit(0);
