// Shared by the runs of planted bugs: which mutants are chosen, two that are tried at a time, and the report.
//
// `--only "one text|another"` tries the mutants whose description contains one of the texts; `--sample 15` tries some from all over the
// list, the same each time; `--list` tries none.
import { fork } from "node:child_process";
import { once } from "node:events";
import { parseArgs } from "node:util";

/** One change of a source. */
export interface Mutant {
  description: string;
  /** Whether it is one of those that are planted by hand, which must compile. */
  byHand: boolean;
}

/** The result of a mutant. */
export interface Verdict {
  outcome: "found" | "survived" | "same code" | "does not compile";
  /** The failure of a test or check that has found it, or how the tests have run without one. */
  by: string | null;
}

/** Tries one mutant after the other. */
export interface Trier<M extends Mutant> {
  judge: (mutant: M) => Promise<Verdict>;
  close: () => unknown;
}

/** The number of mutants that are tried at one time. */
export const atOnce = 2;

/** Returns the mutants that the command line chooses; null if it only lists them, which is done then. */
export function chooseMutants<M extends Mutant>(all: readonly M[]): { chosen: M[]; isWhole: boolean } | null {
  const { values } = parseArgs({
    options: {
      only: { type: "string" },
      sample: { type: "string" },
      list: { type: "boolean", default: false },
    },
  });
  const parts = values.only?.split("|") ?? [""];
  const found = all.filter(({ description }) => parts.some((part) => description.includes(part)));
  const step = Math.max(1, found.length / Number(values.sample ?? found.length));
  const chosen = found.filter((_, index) => Math.floor(index % step) === 0);
  if (!values.list) return { chosen, isWhole: chosen.length === all.length };
  for (const { description } of chosen) console.log(description);
  console.log(`${chosen.length} mutants`);
  return null;
}

/**
 * Tries mutants, and fails the run for each that nothing finds, or that was planted by hand and does not compile.
 *
 * @param allowed - by the description of a mutant that nothing can find, the reason why.
 */
export async function tryMutants<M extends Mutant>(
  { chosen, isWhole }: { chosen: readonly M[]; isWhole: boolean },
  openTrier: (index: number) => Promise<Trier<M>>,
  allowed: { readonly [description: string]: string } = {},
): Promise<void> {
  const waiting = [...chosen];
  const verdicts = new Map<M, Verdict>();
  const tryInTurn = async (index: number) => {
    const { judge, close } = await openTrier(index);
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const started = performance.now();
      const verdict = await judge(mutant);
      verdicts.set(mutant, verdict);
      const { outcome, by } = verdict;
      const seconds = ((performance.now() - started) / 1_000).toFixed(1);
      console.log(`${verdicts.size}/${chosen.length} ${outcome} in ${seconds} s: ${mutant.description}`);
      if (by !== null) console.log(`    ${by.slice(0, 300)}`);
    }
    await close();
  };
  await Promise.all(Array.from({ length: atOnce }, async (_, index) => await tryInTurn(index)));
  report(verdicts, allowed, isWhole);
}

function report(
  verdicts: ReadonlyMap<Mutant, Verdict>,
  allowed: { readonly [description: string]: string },
  isWhole: boolean,
): void {
  const of = (wanted: Verdict["outcome"]) =>
    [...verdicts].flatMap(([mutant, { outcome }]) => (outcome === wanted ? [mutant] : []));
  const survivors = of("survived").map(({ description }) => description);
  const failures = [
    ...survivors.filter((name) => !(name in allowed)).map((name) => `SURVIVED: ${name}`),
    ...of("does not compile").flatMap(({ byHand, description }) =>
      byHand ? [`does not compile: ${description}`] : [],
    ),
    ...(isWhole ? Object.keys(allowed) : [])
      .filter((name) => !survivors.includes(name))
      .map((name) => `no longer a survivor, remove it from mutants-allowed.json: ${name}`),
  ];
  console.log(
    `\n${of("found").length} found, ${survivors.length} survived, ${of("same code").length} are the same code, ${of("does not compile").length} do not compile.`,
  );
  for (const failure of failures) console.log(`  ${failure}`);
  // vitest has set it for the tests that failed, as they should.
  process.exitCode = failures.length > 0 ? 1 : 0;
}

/** Starts a process that judges mutants by {@link judgeMutants}. */
export async function forkTrier<M extends Mutant>(script: string, args: string[]): Promise<Trier<M>> {
  const child = fork(script, args, { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const answer = async () => {
    const [message] = await Promise.race([once(child, "message"), once(child, "exit").then(gone)]);
    return message;
  };
  await answer();
  return {
    async judge(mutant) {
      child.send(mutant);
      return (await answer()) as Verdict;
    },
    close: () => child.kill(),
  };
}

function gone(): never {
  throw new Error("The process that tries mutants ended before its answer.");
}

/** Judges every mutant that the parent process sends. */
export function judgeMutants<M>(judge: (mutant: M) => Promise<Verdict>): void {
  process.on("message", async (mutant: M) => {
    process.send?.(await judge(mutant));
  });
  process.send?.("ready");
}
