/** Runs the benchmarks and prints one table: `npm run bench [name …] [-- --json | --write]`. */
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Command } from "commander";
import { readJson } from "../../sandbox/lib/read-json.ts";
import { markdownTable } from "../../server/documentation/tables.ts";
import { type Benchmark, measure, type Row } from "./benchmark.ts";
import { drawChart } from "./chart.ts";
import { curveTables, isOfCurve } from "./curve.ts";
import { nameMachine } from "./machine.ts";
import { earlierReport, regressionsOf } from "./regressions.ts";
import { type Report, reportTable, textTable } from "./report.ts";

/** Every benchmark, in the order of the table. */
const benchmarks: { readonly [name: string]: () => Promise<{ benchmark: Benchmark }> } = {
  import: () => import("./import.ts"),
  start: () => import("./start.ts"),
  create: () => import("./create.ts"),
  restore: () => import("./restore.ts"),
  lease: () => import("./lease.ts"),
  "first-view": () => import("./first-view.ts"),
  lifecycle: () => import("./lifecycle.ts"),
  messages: () => import("./messages.ts"),
  signatures: () => import("./signatures.ts"),
  given: () => import("./given.ts"),
  capabilities: () => import("./capabilities.ts"),
  "purchase-read": () => import("./purchase-read.ts"),
  write: () => import("./write.ts"),
  reconcile: () => import("./reconcile.ts"),
  relayer: () => import("./relayer.ts"),
  store: () => import("./store.ts"),
  journal: () => import("./journal.ts"),
  replay: () => import("./replay.ts"),
  resume: () => import("./resume.ts"),
  memory: () => import("./memory.ts"),
  clients: () => import("./clients.ts"),
  purchases: () => import("./purchases.ts"),
  million: () => import("./million.ts"),
};

/** Benchmarks that run only if they are named. */
const onRequest = ["million"];

const page = new URL("../../docs/performance.md", import.meta.url);
const chart = new URL("../../docs/performance.svg", import.meta.url);

const program = new Command("bench")
  .description("Runs the benchmarks and prints one table")
  .argument(
    "[names...]",
    `of: ${Object.keys(benchmarks).join(", ")}; all but ${onRequest.join(", ")} by default`,
  )
  .option("--json", "print JSON instead of a table")
  .option("--write", "put table and chart into docs/performance.md")
  .option(
    "--against <file>",
    "fail if a ratio is worse than in the JSON of an earlier run on the same machine",
  )
  .option("--rounds <number>", "how often each subject runs", Number)
  .parse();

const named =
  program.args.length > 0
    ? program.args
    : Object.keys(benchmarks).filter((name) => !onRequest.includes(name));
const {
  json = false,
  write = false,
  rounds,
  against,
} = program.opts<{ json?: boolean; write?: boolean; rounds?: number; against?: string }>();
const unknown = named.find((name) => !(name in benchmarks));
if (unknown !== undefined) program.error(`There is no benchmark ${unknown}; see npm run bench -- --help.`);

// Read before the run, which takes minutes.
const before = against === undefined ? null : await readReport(against);

const rows: Row[] = [];
for (const name of named) rows.push(...(await (named.length === 1 ? runHere(name) : runApart(name))));
const report: Report = { machine: nameMachine(), rows };
if (write) await writePage(report);
process.stdout.write(`${json ? JSON.stringify(report, null, 2) : textTable(report)}\n`);

const regressions = before === null ? [] : regressionsOf(report, before);
for (const regression of regressions) process.stderr.write(`slower than before: ${regression}\n`);
if (regressions.length > 0) process.exitCode = 1;

async function readReport(file: string) {
  const text = await readFile(file, "utf8").catch(() => "");
  const { data } = earlierReport.safeParse(readJson(text));
  if (data !== undefined) return data;
  return program.error(
    `--against ${file} is not the report of an earlier run. Write one with npm run bench --silent -- --json > ${file}.`,
  );
}

async function runHere(name: string): Promise<Row[]> {
  const load = benchmarks[name];
  if (load === undefined) throw new Error(`There is no benchmark ${name}.`);
  const { benchmark } = await load();
  try {
    const chosen = rounds === undefined ? benchmark : { ...benchmark, rounds };
    return await measure(name, chosen, (line) => process.stderr.write(`${line}\n`));
  } finally {
    await benchmark.close?.();
  }
}

/** In a process of its own, so that no benchmark finds what another has left in memory. */
async function runApart(name: string): Promise<Row[]> {
  const options = rounds === undefined ? [] : ["--rounds", String(rounds)];
  const running = promisify(execFile)(process.execPath, [
    ...process.execArgv,
    fileURLToPath(import.meta.url),
    name,
    "--json",
    ...options,
  ]);
  running.child.stderr?.pipe(process.stderr);
  const { stdout } = await running;
  const measured: Report = JSON.parse(stdout);
  return [...measured.rows];
}

/** Puts the tables between their marks and the chart next to the page. A table of which nothing was measured stays as it is. */
async function writePage(measured: Report): Promise<void> {
  const rows = measured.rows.filter((row) => !isOfCurve(row));
  const machine = `Measured on: ${measured.machine}.`;
  let text = await readFile(page, "utf8");
  if (rows.length > 0) {
    text = between(text, "measured", `${machine}\n\n${reportTable({ ...measured, rows })}`);
    await writeFile(chart, drawChart(rows));
  }
  for (const { name, heads, lines } of curveTables(measured.rows))
    text = between(text, name, `${machine}\n\n${markdownTable(heads, lines)}`);
  await writeFile(page, text);
}

/** Returns the page with other text between the marks of a name. */
function between(text: string, name: string, inner: string): string {
  const marks = [`<!-- ${name} -->`, `<!-- /${name} -->`] as const;
  const [before, rest] = text.split(marks[0]);
  const after = rest?.split(marks[1])[1];
  if (before === undefined || after === undefined)
    throw new Error(`docs/performance.md must have the marks ${marks.join(" and ")}.`);
  return `${before}${marks[0]}\n\n${inner}\n\n${marks[1]}${after}`;
}
