/** A process to be weighed: `node --expose-gc memory-host.ts bare | <number of purchases>` prints what it and its Anvil take. */
import { readFile } from "node:fs/promises";
import express from "express";
import { startAnvil } from "../../sandbox/chain/anvil/start-anvil.ts";
import { createSandbox, type Sandbox } from "../../sandbox/create-sandbox.ts";

const [what = "0"] = process.argv.slice(2);

/** Resident memory of a process, in MiB. */
async function resident(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1_024;
}

async function weigh(anvil: number): Promise<void> {
  globalThis.gc?.();
  globalThis.gc?.();
  console.log(JSON.stringify({ node: await resident(process.pid), anvil: await resident(anvil) }));
}

/** Puts copies of a real purchase, of its event and of its stored answer into the store, each with an id of its own. */
async function fill({ store, given }: Sandbox, count: number): Promise<void> {
  const { id, event_id } = (await given.purchase({ state: "created" })).purchase;
  const purchase = await store.get("purchases", id);
  const event = await store.get("events", event_id);
  const answers = await store.list("idempotency", {});
  const answer = answers.find(({ value }) => value.response?.body.includes(event_id));
  if (purchase === undefined || event === undefined || answer === undefined)
    throw new Error("A created purchase has a record, an event and a stored answer.");
  const renamed = <T>(value: T, number: number): T =>
    JSON.parse(
      JSON.stringify(value)
        .replaceAll(id, `pur_${String(number).padStart(20, "0")}`)
        .replaceAll(event_id, `evt_${String(number).padStart(20, "0")}`),
    );
  for (let number = 1; number < count; number += 1)
    await store.commit([], () => {
      return [
        {
          kind: "put",
          collection: "purchases",
          key: renamed(purchase.key, number),
          value: renamed(purchase.value, number),
        },
        {
          kind: "put",
          collection: "events",
          key: renamed(event.key, number),
          value: renamed(event.value, number),
        },
        {
          kind: "put",
          collection: "idempotency",
          key: `${answer.key}-${number}`,
          value: renamed(answer.value, number),
        },
      ];
    });
}

if (what === "bare") {
  const anvil = await startAnvil();
  const server = express().listen(0, "127.0.0.1");
  await weigh(anvil.pid);
  server.close();
  await anvil.stop();
} else {
  const sandbox = await createSandbox({ seed: "bench" });
  if (Number(what) > 0) await fill(sandbox, Number(what));
  await weigh(sandbox.chain.anvil.pid);
  await sandbox.close();
}
