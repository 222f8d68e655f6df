/** What a benchmark measured: for each subject, in milliseconds, one value per round. */
export type Measurements = ReadonlyMap<string, readonly number[]>;

/** One benchmark; a file in this folder exports it as `benchmark` and is run by its name. */
export interface Benchmark {
  /** What is measured, in one sentence. */
  readonly title: string;
  /** The subject that the others are compared with. */
  readonly baseline: string;
  /** Each subject's name, and what one round of it does; a round returns the milliseconds that count. */
  readonly subjects: Readonly<Record<string, () => Promise<number>>>;
  readonly rounds: number;
  /** How many operations a round is, when it is many: then operations per second are told too. */
  readonly operations?: number;
  /** Ends what the subjects share. */
  readonly close?: () => Promise<void>;
}

/**
 * Runs all subjects in turn, round by round, so that a slow moment of the machine meets all of them.
 *
 * @example
 * const measured = await measure(benchmark, (line) => console.error(line));
 */
export async function measure(benchmark: Benchmark, progress: (line: string) => void): Promise<Measurements> {
  const measured = new Map<string, number[]>();
  for (let round = 1; round <= benchmark.rounds; round += 1) {
    for (const [subject, run] of Object.entries(benchmark.subjects)) {
      const milliseconds = await run();
      progress(`round ${round} of ${benchmark.rounds}, ${subject}: ${milliseconds.toFixed(1)} ms`);
      measured.set(subject, [...(measured.get(subject) ?? []), milliseconds]);
    }
  }
  return measured;
}

/** The middle value, or the mean of the two middle ones. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  if (low === undefined || high === undefined) throw new RangeError("There is no median of no values.");
  return (low + high) / 2;
}
