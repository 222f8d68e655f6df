/**
 * An hour's worth of mixed load, as fast as it goes: no error, latency does not grow, and memory grows only by what the records, blocks and
 * transactions explain.
 */
import { setTimeout as pause } from "node:timers/promises";
import { Command } from "commander";
import { callControl } from "../../cli/running/call-control.ts";
import { unwrap } from "../../sandbox/service/client/api-client.ts";
import { readOwner } from "../../sandbox/state/data-directory/lock.ts";
import { actorsOf } from "../../testkit/demo/actors.ts";
import { silentPrinter } from "../../testkit/demo/printer.ts";
import { Session } from "../../testkit/demo/session.ts";
import { enrollMerchant } from "../../testkit/demo/show-merchant.ts";
import { demoSteps } from "../../testkit/demo/show-purchase.ts";
import { median } from "./benchmark.ts";
import { nameMachine } from "./machine.ts";
import { residentMemory } from "./resident-memory.ts";
import { serveSandbox } from "./serve.ts";
import { perBlockKib, perPurchaseKib, perTransactionKib, slackMib } from "./soak-limits.ts";

/** Ten requests in a second, for an hour. */
const anHour = 36_000;
/** A block in every second, for an hour. */
const anHourOfBlocks = 3_600;
const lanes = 4;
/** The largest ratio of the median of the last third to that of the first. */
const slower = 1.5;

const { seconds, every, rest, ...given } = new Command("soak")
  .description("Puts an hour's worth of mixed load on a sandbox, or leaves it at rest")
  .option(
    "--operations <number>",
    `how many requests (${anHour}), or blocks at rest (${anHourOfBlocks})`,
    Number,
  )
  .option("--seconds <number>", "stop after so long", Number, Number.POSITIVE_INFINITY)
  .option("--every <seconds>", "mine at this interval instead of at each transaction", Number)
  .option(
    "--rest",
    "send no requests of the API: only mine empty blocks, as fast as it goes or at the interval",
  )
  .parse()
  .opts<{ operations?: number; seconds: number; every?: number; rest?: true }>();
const operations = given.operations ?? (rest ? anHourOfBlocks : anHour);

const opened = new AsyncDisposableStack();
const sandbox = opened.use(await serveSandbox("--gas-budget", "1000000000000000000000"));
const { description, dataDirectory } = sandbox;
const actors = actorsOf(description);
const session = await Session.open(actors, silentPrinter);
const merchant = await enrollMerchant(session);
if (every !== undefined) await callControl(dataDirectory, "POST", "/mining", { every });
const began = performance.now();
const samples: { at: number; kind: string; milliseconds: number }[] = [];
/** Resident memory in MiB, and how much there was to keep. */
interface Weighed {
  at: number;
  sandbox: number;
  anvil: number;
  purchases: number;
  blocks: number;
  transactions: number;
}
const memory: Weighed[] = [];
let purchases = 0;
let transactions = 0;
let done = 0;

const isOver = () => done >= operations || performance.now() - began >= seconds * 1_000;

/** Does one request and keeps how long it took. */
async function timed<Answer>(kind: string, request: () => Promise<Answer>): Promise<Answer> {
  const start = performance.now();
  const answer = await request();
  done += 1;
  samples.push({ at: done, kind, milliseconds: performance.now() - start });
  return answer;
}

/** Weighs the sandbox's process and its Anvil. */
async function weigh(): Promise<void> {
  const anvil = (await readOwner(dataDirectory))?.anvil?.pid;
  if (anvil === undefined) throw new Error("A running sandbox has an Anvil.");
  memory.push({
    at: done,
    sandbox: await residentMemory(description.pid),
    anvil: await residentMemory(anvil),
    purchases,
    blocks: Number(await actors.chain.getBlockNumber()),
    transactions,
  });
}

/** One purchase with its transactions, in turn with the others' because the wallets are the same; then it is read and retried. */
let wallets: Promise<unknown> = Promise.resolve();
async function runLifecycle(): Promise<void> {
  purchases += 1;
  const name = `soak-${purchases}`;
  const purchase = await timed("create", () => demoSteps.createPurchase(session, merchant, name, "100"));
  await timed("repeated create", () => demoSteps.createPurchase(session, merchant, name, "100"));
  if (purchases % 5 === 0) {
    await timed("activate", () => demoSteps.activate(session, purchase, `${name}-activate`));
    wallets = wallets.then(async () => {
      await demoSteps.approve(session, actors.buyer, purchase, 100n);
      await demoSteps.pay(session, purchase, 100n);
      transactions += 3;
    });
    await wallets;
    await timed("reconcile", () => demoSteps.reconcile(session, purchase, `${name}-reconcile`));
  }
  for (let read = 0; read < 8 && !isOver(); read += 1) {
    await timed("read", () => demoSteps.readPurchase(session, purchase));
    await timed("capabilities", async () => unwrap(await session.api.GET("/v1/routing/capabilities")));
  }
  await weigh();
}

/** One empty block, of the interval or at once. */
async function mineOne(): Promise<void> {
  if (every === undefined) await callControl(dataDirectory, "POST", "/blocks", { blocks: 1 });
  else await pause(every * 1_000);
  done += 1;
  await weigh();
}

const working = Array.from({ length: rest ? 1 : lanes }, async () => {
  while (!isOver()) await (rest ? mineOne() : runLifecycle());
});
await Promise.all(working);
await opened.disposeAsync();

/** The samples of the first and of the last third. */
function ends<Sample extends { at: number }>(all: readonly Sample[]): [first: Sample[], last: Sample[]] {
  return [all.filter(({ at }) => at <= done / 3), all.filter(({ at }) => at > (done * 2) / 3)];
}

const problems: string[] = [];
const took = ((performance.now() - began) / 1_000).toFixed(0);
console.log(
  `${nameMachine()}\n${done} ${rest ? "blocks" : "requests"} in ${took} s, ${purchases} purchases, no error`,
);
for (const kind of new Set(samples.map((sample) => sample.kind))) {
  const thirds = ends(samples.filter((sample) => sample.kind === kind));
  const [first, last] = thirds.map((third) => median(third.map(({ milliseconds }) => milliseconds)));
  if (first === undefined || last === undefined) throw new Error("There are two ends.");
  console.log(
    `${kind.padEnd(12)} ${first.toFixed(2)} ms in the first third, ${last.toFixed(2)} ms in the last`,
  );
  if (last > first * slower) problems.push(`${kind} became ${(last / first).toFixed(2)} times as slow`);
}
const [early, late] = ends(memory).map((third) => {
  const middle = (part: (weighed: Weighed) => number) => median(third.map(part));
  return {
    sandbox: middle((weighed) => weighed.sandbox),
    anvil: middle((weighed) => weighed.anvil),
    purchases: middle((weighed) => weighed.purchases),
    blocks: middle((weighed) => weighed.blocks),
    transactions: middle((weighed) => weighed.transactions),
  };
});
if (early === undefined || late === undefined) throw new Error("There are two ends.");
const newBlocks = late.blocks - early.blocks;
const explained = {
  sandbox: slackMib + (late.purchases - early.purchases) * (perPurchaseKib / 1_024),
  anvil:
    slackMib +
    newBlocks * (perBlockKib / 1_024) +
    (late.transactions - early.transactions) * (perTransactionKib / 1_024),
};
for (const name of ["sandbox", "anvil"] as const) {
  const [first, last] = [early[name], late[name]];
  console.log(
    `${name.padEnd(12)} ${first.toFixed(0)} MiB in the first third, ${last.toFixed(0)} MiB in the last`,
  );
  if (last - first > explained[name])
    problems.push(
      `memory of ${name} grew by ${(last - first).toFixed(0)} MiB, ${explained[name].toFixed(0)} are accounted for`,
    );
}
console.log(`between them ${newBlocks} blocks with ${late.transactions - early.transactions} transactions`);
for (const problem of problems) console.error(`Not flat: ${problem}.`);
process.exitCode = problems.length > 0 ? 1 : 0;
