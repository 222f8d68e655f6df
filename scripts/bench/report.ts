import { cpus, release, totalmem, type } from "node:os";
import { z } from "zod";
import { anvilVersion } from "../../sandbox/chain/anvil/anvil-binary.ts";
import { markdownTable } from "../../server/documentation/tables.ts";
import type { Bar, Limit, Row, Unit } from "./benchmark.ts";

/** All that one run of the benchmarks measured. */
export interface Report {
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
export function textTable(report: Report): string {
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

/** The same table in Markdown. */
export function reportTable(report: Report): string {
  return markdownTable(columns, report.rows.map(cellsOf));
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
export function nameMachine(): string {
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
export const earlierReport = z.object({
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
export function regressionsOf(now: Report, before: z.infer<typeof earlierReport>): string[] {
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
