/** The bound of a ratio to the baseline. */
export type Bar = { readonly atMost: number } | { readonly atLeast: number };

/** The bound of a measured value itself, in its unit. */
export type Limit = { readonly noMoreThan: number } | { readonly noLessThan: number };

/** The unit of one round's measurement; times and sizes are better when smaller, rates when larger. */
export type Unit = "ms" | "MiB" | "messages" | "per second";

/** One benchmark: subjects that do the same, one of them the floor or peer that the others are compared with. */
export interface Benchmark {
  /** The measurement, in one sentence. */
  readonly title: string;
  /** The subject that the others are compared with. */
  readonly baseline: string;
  /** Each subject's name, and one round of it, which returns what it measured in `unit`. */
  readonly subjects: Readonly<Record<string, () => Promise<number>>>;
  readonly rounds: number;
  /** `ms` by default. */
  readonly unit?: Unit;
  /** By subject: another unit than the benchmark's own. */
  readonly units?: Readonly<Record<string, Unit>>;
  /** By subject: what its ratio to the baseline must hold to. */
  readonly bars?: Readonly<Record<string, Bar | Limit>>;
  /** By subject: another baseline than the benchmark's own. */
  readonly comparedTo?: Readonly<Record<string, string>>;
  /** Ends what the subjects share. */
  readonly close?: () => Promise<void>;
}

/** One line of the table: a subject compared with its floor or peer, measured in the same rounds. */
export interface Row {
  benchmark: string;
  subject: string;
  unit: Unit;
  median: number;
  min: number;
  max: number;
  /** Null for a floor or peer, which is compared with nothing. `noise` is half of the distance between the quartiles of the rounds' ratios. */
  comparedTo: { subject: string; median: number; ratio: number; noise: number } | null;
  bar: Bar | Limit | null;
  /** Null without a bar. */
  met: boolean | null;
}

/**
 * Runs all subjects in turn, round by round, so that a slow moment of the machine meets all of them. A ratio is the median of the
 * rounds' ratios, for the same reason.
 */
export async function measure(
  name: string,
  benchmark: Benchmark,
  progress: (line: string) => void,
): Promise<Row[]> {
  const { rounds, subjects } = benchmark;
  const unitOf = (subject: string) => benchmark.units?.[subject] ?? benchmark.unit ?? "ms";
  const measured = new Map<string, number[]>(Object.keys(subjects).map((subject) => [subject, []]));
  for (let round = 1; round <= rounds; round += 1) {
    for (const [subject, run] of Object.entries(subjects)) {
      const value = await run();
      progress(`${name}, round ${round} of ${rounds}, ${subject}: ${value.toFixed(2)} ${unitOf(subject)}`);
      measured.get(subject)?.push(value);
    }
  }
  return [...measured].map(([subject, values]) => {
    const baseline = benchmark.comparedTo?.[subject] ?? benchmark.baseline;
    const comparedTo = subject === baseline ? null : compare(values, baseline, measured.get(baseline) ?? []);
    const bar = benchmark.bars?.[subject] ?? null;
    return {
      benchmark: name,
      subject,
      unit: unitOf(subject),
      median: median(values),
      min: Math.min(...values),
      max: Math.max(...values),
      comparedTo,
      bar,
      met: bar === null ? null : holds(bar, comparedTo?.ratio ?? Number.NaN, median(values)),
    };
  });
}

function compare(values: readonly number[], subject: string, floors: readonly number[]): Row["comparedTo"] {
  const ratios = values.map((value, round) => value / (floors[round] ?? Number.NaN));
  return { subject, median: median(floors), ratio: median(ratios), noise: noiseOf(ratios) };
}

/** Half of the distance between the quartiles. */
function noiseOf(ratios: readonly number[]): number {
  const sorted = ratios.toSorted((a, b) => a - b);
  const half = Math.ceil(sorted.length / 2);
  return (median(sorted.slice(-half)) - median(sorted.slice(0, half))) / 2;
}

function holds(bar: Bar | Limit, ratio: number, value: number): boolean {
  if ("noMoreThan" in bar) return value <= bar.noMoreThan;
  if ("noLessThan" in bar) return value >= bar.noLessThan;
  return "atMost" in bar ? ratio <= bar.atMost : ratio >= bar.atLeast;
}

/** The middle value, or the mean of the two middle ones. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const [low, high] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]];
  if (low === undefined || high === undefined) throw new RangeError("There is no median of no values.");
  return (low + high) / 2;
}

/** The milliseconds that some work takes. */
export async function elapsed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
