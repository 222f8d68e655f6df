/** An hour's worth of mixed load, as fast as it goes: no error, and neither memory nor latency grows. */
import { readFile } from "node:fs/promises";
import { Command } from "commander";
import { unwrap } from "../../sandbox/service/client/api-client.ts";
import { actorsOf } from "../../testkit/demo/actors.ts";
import { enrollMerchant } from "../../testkit/demo/merchant-steps.ts";
import { silentPrinter } from "../../testkit/demo/printer.ts";
import * as steps from "../../testkit/demo/purchase-steps.ts";
import { Session } from "../../testkit/demo/session.ts";
import { median } from "./benchmark.ts";
import { nameMachine } from "./machine.ts";
import { serveSandbox } from "./serve.ts";

/** Ten requests in a second, for an hour. */
const anHour = 36_000;
const lanes = 4;
/** The largest memory of a stored purchase: its record, event and answers, in MiB. */
const perPurchase = 0.05;
/** The largest ratio of the median of the last third to that of the first. */
const slower = 1.5;
/** The memory that garbage may use for a while, in MiB. */
const slack = 64;

const { operations, seconds } = new Command("soak")
  .description("Puts an hour's worth of mixed load on a sandbox")
  .option("--operations <number>", "how many requests", Number, anHour)
  .option("--seconds <number>", "stop after so long", Number, Number.POSITIVE_INFINITY)
  .parse()
  .opts<{ operations: number; seconds: number }>();

const opened = new AsyncDisposableStack();
const { description } = opened.use(await serveSandbox("--gas-budget", "1000000000000000000000"));
const actors = actorsOf(description);
const session = await Session.open(actors, silentPrinter);
const merchant = await enrollMerchant(session);
const began = performance.now();
const samples: { at: number; kind: string; milliseconds: number }[] = [];
const memory: { at: number; mebibytes: number; purchases: number }[] = [];
let purchases = 0;
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

/** Resident memory of the sandbox's process, in MiB. */
async function weigh(): Promise<void> {
  const status = await readFile(`/proc/${description.pid}/status`, "utf8");
  const mebibytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1_024;
  memory.push({ at: done, mebibytes, purchases });
}

/** One purchase with its transactions, in turn with the others' because the wallets are the same; then it is read and retried. */
let wallets: Promise<unknown> = Promise.resolve();
async function runLifecycle(): Promise<void> {
  purchases += 1;
  const name = `soak-${purchases}`;
  const purchase = await timed("create", () => steps.createPurchase(session, merchant, name, "100"));
  await timed("replay", () => steps.createPurchase(session, merchant, name, "100"));
  if (purchases % 5 === 0) {
    await timed("activate", () => steps.activate(session, purchase, `${name}-activate`));
    wallets = wallets.then(async () => {
      await steps.approve(session, actors.buyer, purchase, 100n);
      await steps.pay(session, purchase, 100n);
    });
    await wallets;
    await timed("reconcile", () => steps.reconcile(session, purchase, `${name}-reconcile`));
  }
  for (let read = 0; read < 8 && !isOver(); read += 1) {
    await timed("read", () => steps.readPurchase(session, purchase));
    await timed("capabilities", async () => unwrap(await session.api.GET("/v1/routing/capabilities")));
  }
  await weigh();
}

const working = Array.from({ length: lanes }, async () => {
  while (!isOver()) await runLifecycle();
});
await Promise.all(working);
await opened.disposeAsync();

/** The samples of the first and of the last third. */
function ends<Sample extends { at: number }>(all: readonly Sample[]): [first: Sample[], last: Sample[]] {
  return [all.filter(({ at }) => at <= done / 3), all.filter(({ at }) => at > (done * 2) / 3)];
}

const problems: string[] = [];
const took = ((performance.now() - began) / 1_000).toFixed(0);
console.log(`${nameMachine()}\n${done} requests in ${took} s, ${purchases} purchases, no error`);
for (const kind of new Set(samples.map((sample) => sample.kind))) {
  const thirds = ends(samples.filter((sample) => sample.kind === kind));
  const [first, last] = thirds.map((third) => median(third.map(({ milliseconds }) => milliseconds)));
  if (first === undefined || last === undefined) throw new Error("There are two ends.");
  console.log(
    `${kind.padEnd(12)} ${first.toFixed(2)} ms in the first third, ${last.toFixed(2)} ms in the last`,
  );
  if (last > first * slower) problems.push(`${kind} became ${(last / first).toFixed(2)} times as slow`);
}
const [early, late] = ends(memory).map((third) => ({
  mebibytes: median(third.map(({ mebibytes }) => mebibytes)),
  purchases: median(third.map((sample) => sample.purchases)),
}));
if (early === undefined || late === undefined) throw new Error("There are two ends.");
const grown = late.mebibytes - early.mebibytes;
const allowed = slack + (late.purchases - early.purchases) * perPurchase;
console.log(
  `memory       ${early.mebibytes.toFixed(0)} MiB in the first third, ${late.mebibytes.toFixed(0)} MiB in the last`,
);
if (grown > allowed)
  problems.push(`memory grew by ${grown.toFixed(0)} MiB, ${allowed.toFixed(0)} are accounted for`);
for (const problem of problems) console.error(`Not flat: ${problem}.`);
process.exitCode = problems.length > 0 ? 1 : 0;
