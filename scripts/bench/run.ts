/** Runs the benchmarks and prints one table: `npm run bench [name …] [-- --json | --write]`. */
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { cpus, release, totalmem, type } from "node:os";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Command } from "commander";
import { z } from "zod";
import { anvilVersion } from "../../sandbox/chain/anvil/anvil-binary.ts";
import { readJson } from "../../sandbox/lib/read-json.ts";
import { type Bar, type Benchmark, type Limit, measure, type Row, type Unit } from "./benchmark.ts";

/** All that one run of the benchmarks measured. */
interface Report {
  machine: string;
  rows: readonly Row[];
}

const columns = [
  "Benchmark",
  "Subject",
  "Median",
  "Least to most",
  "Compared with",
  "Ratio",
  "Bar",
  "Met",
] as const;

/** The one table: each subject compared with its floor or peer. */
function textTable(report: Report): string {
  const cells = [columns, ...report.rows.map(cellsOf)];
  const widths = columns.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)));
  const lines = cells.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return `${report.machine}\n\n${lines.join("\n")}`;
}

/** The same as lists in Markdown, one for each benchmark, without the spread and what ratio and bar say. */
function reportLists({ rows }: Report): string {
  const lists = [...Map.groupBy(rows, ({ benchmark }) => benchmark)].map(([benchmark, own]) => [
    `**${benchmark}**`,
    "",
    ...own.map((row) => {
      const [, subject = "", median = "", , peer = "", ratio = "", bar = ""] = cellsOf(row);
      const compared = peer === "" ? "" : `, ${ratio} of ${peer}`;
      return `- ${subject}: ${median}${compared}${bar === "" ? "" : ` (${bar})`}`;
    }),
  ]);
  return lists.map((lines) => lines.join("\n")).join("\n\n");
}

function cellsOf(row: Row): string[] {
  const { benchmark, subject, unit, median, min, max, comparedTo, bar, met } = row;
  return [
    benchmark,
    subject,
    `${figure(median)} ${nameOf(unit)}`,
    `${figure(min)} to ${figure(max)}`,
    comparedTo === null ? "" : comparedTo.subject,
    comparedTo === null ? "" : figure(comparedTo.ratio),
    bar === null ? "" : sayBar(bar, unit),
    met === null ? "" : met ? "yes" : "no",
  ];
}

/** A bar in words. */
function sayBar(bar: Bar | Limit, unit: Unit): string {
  if ("noMoreThan" in bar) return `at most ${bar.noMoreThan} ${nameOf(unit)}`;
  if ("noLessThan" in bar) return `at least ${bar.noLessThan} ${nameOf(unit)}`;
  return "atMost" in bar ? `at most ${bar.atMost}` : `at least ${bar.atLeast}`;
}

function nameOf(unit: Unit): string {
  return unit === "per second" ? "/s" : unit;
}

/** Three significant digits, and never an exponent. */
function figure(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString("en-US");
  return value.toFixed(value >= 10 ? 1 : 2);
}

/** Describes the machine of the measurements, in one line. */
function nameMachine(): string {
  const [cpu] = cpus();
  return [
    cpu?.model.trim() || "unknown processor",
    `${cpus().length} cores`,
    `${Math.round(totalmem() / 2 ** 30)} GiB`,
    `${type()} ${release()}`,
    `Node ${process.version}`,
    `Anvil ${anvilVersion()}`,
  ].join(", ");
}

/** The part of an earlier report that a run is compared with: the output of `npm run bench -- --json`. */
const earlierReport = z.object({
  rows: z.array(
    z.object({
      benchmark: z.string(),
      subject: z.string(),
      comparedTo: z.object({ ratio: z.number(), noise: z.number() }).nullable(),
    }),
  ),
});

/**
 * Returns a sentence for each subject whose ratio is worse than in an earlier report of the same machine, by more than the noise of both.
 */
function regressionsOf(now: Report, before: z.infer<typeof earlierReport>): string[] {
  return now.rows.flatMap(({ benchmark, subject, unit, comparedTo }) => {
    const earlier = before.rows.find(
      (row) => row.benchmark === benchmark && row.subject === subject,
    )?.comparedTo;
    if (comparedTo === null || !earlier) return [];
    const rise = comparedTo.ratio - earlier.ratio;
    const noise = comparedTo.noise + earlier.noise;
    // Rates are better when they are larger.
    if ((unit === "per second" ? -rise : rise) <= noise) return [];
    const ratios = `${figure(comparedTo.ratio)} times ${comparedTo.subject}, and ${figure(earlier.ratio)} before`;
    return `${benchmark}, ${subject}: ${ratios} (noise of both: ${figure(noise)}).`;
  });
}

/** Every benchmark, in the order of the table. */
const benchmarks: { readonly [name: string]: () => Promise<{ benchmark: Benchmark }> } = {
  import: () => import("./import.ts"),
  start: () => import("./start.ts"),
  create: () => import("./create.ts"),
  restore: () => import("./restore.ts"),
  "first-view": () => import("./first-view.ts"),
  lifecycle: () => import("./lifecycle.ts"),
  write: () => import("./write.ts"),
  relayer: () => import("./relayer.ts"),
  replay: () => import("./replay.ts"),
  memory: () => import("./memory.ts"),
};

const page = new URL("../../docs/performance.md", import.meta.url);

const program = new Command("bench")
  .description("Runs the benchmarks and prints one table")
  .argument("[names...]", `of: ${Object.keys(benchmarks).join(", ")}; all of them by default`)
  .option("--json", "print JSON instead of a table")
  .option("--write", "put the results into docs/performance.md")
  .option(
    "--against <file>",
    "fail if a ratio is worse than in the JSON of an earlier run on the same machine",
  )
  .option("--rounds <number>", "how often each subject runs", Number)
  .parse();

const named = program.args.length > 0 ? program.args : Object.keys(benchmarks);
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

/** Puts the lists between their marks in the page. */
async function writePage(measured: Report): Promise<void> {
  const [begin, end] = ["<!-- measured -->", "<!-- /measured -->"];
  const text = await readFile(page, "utf8");
  const [before, after] = [text.split(begin)[0], text.split(end)[1]];
  if (before === undefined || after === undefined)
    throw new Error(`docs/performance.md must have the marks ${begin} and ${end}.`);
  const lists = `Measured on: ${measured.machine}.\n\n${reportLists(measured)}`;
  await writeFile(page, `${before}${begin}\n\n${lists}\n\n${end}${after}`);
}
