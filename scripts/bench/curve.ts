import type { Row } from "./benchmark.ts";
import { figure } from "./report.ts";

/** Measurements at several sizes, in one table: a line for each size, and for each series its median and its ratio. */
export interface Curve {
  /** The benchmark that measures it. */
  benchmark: string;
  /** The head of the first column: the things that are counted. */
  axis: string;
  sizes: readonly number[];
  /** By the name of a series: the head of its column. */
  series: Readonly<Record<string, string>>;
  /** The head of the ratios' columns. */
  ratio: string;
}

/** Clients that send requests at the same time, each one after the other. */
export const clientsCurve = {
  benchmark: "clients",
  axis: "Clients at once",
  sizes: [1, 8, 32, 128],
  series: {
    reads: "Reads",
    "slow reads": "99 % of reads within",
    creations: "Creations",
    "slow creations": "99 % of creations within",
  },
  ratio: "times Express",
} as const satisfies Curve;

const storeSeries = {
  write: "A write",
  read: "A read by id",
  page: "A page of 50 events",
  start: "A start",
  memory: "Memory",
  disk: "Disk",
} as const;

/** Purchases in a directory store. */
export const purchasesCurve = {
  benchmark: "purchases",
  axis: "Purchases",
  sizes: [1_000, 10_000, 100_000],
  series: storeSeries,
  ratio: "times 1,000",
} as const satisfies Curve;

/** The same for a size that takes minutes, which has to be asked for by name. */
export const millionCurve = {
  ...purchasesCurve,
  benchmark: "million",
  sizes: [1_000, 1_000_000],
} as const satisfies Curve;

const curves: readonly Curve[] = [clientsCurve, purchasesCurve, millionCurve];

/** The name of a series at a size, as a subject of the benchmark. */
export function pointOf(series: string, size: number): string {
  return `${series}, ${size.toLocaleString("en-US")}`;
}

/** Whether a row is a point of a curve, or its floor. */
export function isOfCurve({ benchmark }: Pick<Row, "benchmark">): boolean {
  return curves.some((curve) => curve.benchmark === benchmark);
}

/** A table in docs/performance.md, between the marks of its name. */
interface CurveTable {
  name: string;
  heads: string[];
  lines: string[][];
}

/** The tables of all curves that were measured. */
export function curveTables(rows: readonly Row[]): CurveTable[] {
  return curves
    .map((curve) => ({ curve, own: rows.filter(({ benchmark }) => benchmark === curve.benchmark) }))
    .filter(({ own }) => own.length > 0)
    .map(({ curve, own }) => tableOf(curve, own));
}

function tableOf({ benchmark: name, axis, sizes, series, ratio }: Curve, rows: readonly Row[]): CurveTable {
  const heads = [axis, ...Object.values(series).flatMap((head) => [head, ratio])];
  const lines = sizes.map((size) => {
    const cells = Object.keys(series).flatMap((name) => {
      const row = rows.find(({ subject }) => subject === pointOf(name, size));
      if (row === undefined) return ["", ""];
      const unit = row.unit === "per second" ? "/s" : row.unit;
      return [`${figure(row.median)} ${unit}`, row.comparedTo === null ? "" : figure(row.comparedTo.ratio)];
    });
    return [size.toLocaleString("en-US"), ...cells];
  });
  return { name, heads, lines };
}
