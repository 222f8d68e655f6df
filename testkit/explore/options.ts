import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { Hex } from "viem";
import { z } from "zod";
import type { components } from "../../sandbox/client/api-client.ts";
import { SandboxError } from "../../sandbox/lib/errors/sandbox-error.ts";
import { showValue } from "../../sandbox/lib/errors/show-value.ts";
import { describeFileError } from "../../server/lib/describe-file-error.ts";
import { requireReplaceable } from "../../server/lib/replace-file.ts";

/** The argument of an exploration's `check`. */
export interface CheckedState {
  /** The purchases of this walk, as the API shows them now. */
  purchases: components["schemas"]["Purchase"][];
  /** The title of the step that was taken last. */
  step: string;
}

/** The number of times that each kind of step got each answer. */
export type WalkCounts = { [kind: string]: { [answer: string]: number } };

/** The result of an exploration in which everything was as documented. */
export interface Exploration {
  /** The number of steps that were taken. */
  steps: number;
  seed: string;
  /** For each kind of step, the number of times that it got each response, as in `{ fileClaim: { "201": 12, "409 state_conflict": 9 } }`. */
  counts: WalkCounts;
  /** SHA-256 over each walk: the bytes of every response, every block, and the fingerprint at the end. Equal for equal seeds. */
  digest: Hex;
}

/** Compares the caller's own backend with the API; if it throws, the exploration fails. */
export type Check = (state: CheckedState) => Promise<void> | void;

/** Options of `sandbox.explore()`. */
export interface ExploreOptions {
  /**
   * The steps of all walks together.
   * @defaultValue 500
   */
  steps?: number;
  /**
   * Determines the walks: equal seeds give equal walks and hashes.
   * @defaultValue the sandbox's seed
   */
  seed?: string;
  /**
   * The steps of one walk, after which the sandbox is restored.
   * @defaultValue 100
   */
  stepsPerWalk?: number;
  /**
   * Compares your backend with the API after the steps, with every event delivered. If it throws, the exploration fails.
   * @defaultValue none
   */
  check?: Check;
  /**
   * The steps between two calls of `check`, which is also called at the end of each walk.
   * @defaultValue 1
   */
  checkEvery?: number;
  /**
   * Deletes everything that your backend has stored, before each walk: walks repeat ids.
   * @defaultValue none
   */
  reset?: () => Promise<void> | void;
  /**
   * The file for the shortest failing sequence, as a scenario.
   * @defaultValue none
   */
  scenario?: string;
  /**
   * Called after each walk with the steps done so far, and all. If it throws, the exploration ends with that error.
   * @defaultValue none
   */
  onProgress?: (done: number, all: number) => unknown;
}

/** The largest number of steps. */
export const mostSteps = 100_000;
/** The default number of steps. */
export const stepsByDefault = 500;

function must(name: string) {
  return {
    error: ({ input, path = [] }: { input?: unknown; path?: PropertyKey[] | undefined }) =>
      `${path.join(".")} must be a ${name}, not ${showValue(input)}.`,
  };
}

function typed<T>(name: "number" | "string" | "function") {
  return z.custom<T>((value) => typeof value === name, must(name)).meta({ title: name });
}

function whole(most: number) {
  const name = `whole number from 1 to ${most}`;
  return typed<number>("number")
    .refine((value) => Number.isInteger(value) && value >= 1 && value <= most, must(name))
    .meta({ title: name });
}

function text() {
  return typed<string>("string").refine((value) => value !== "", {
    error: ({ path = [] }) => `${path.join(".")} is empty. Leave it out for its default.`,
  });
}

function callback<T>() {
  return typed<T>("function");
}

/** The options of `sandbox.explore()`: their check, and the types in `docs/explore.md`. */
export const exploreOptions = z.strictObject(
  {
    steps: whole(mostSteps).optional(),
    seed: text().optional(),
    stepsPerWalk: whole(200).optional(),
    check: callback<Check>().optional(),
    checkEvery: whole(200).optional(),
    reset: callback<() => Promise<void> | void>().optional(),
    scenario: text().optional(),
    onProgress: callback<(done: number, all: number) => unknown>().optional(),
  } satisfies { [Name in keyof Required<ExploreOptions>]: z.ZodType<ExploreOptions[Name]> },
  {
    error: ({ code, keys, input }): string =>
      code === "unrecognized_keys" && Array.isArray(keys)
        ? `explore has no option ${keys[0]}. Use ${Object.keys(exploreOptions.shape).join(", ")}.`
        : `explore takes an object of options, not ${showValue(input)}. Pass one such as { steps: 500 }.`,
  },
);

/** The options with every default filled in. */
export interface ExploreSettings {
  steps: number;
  seed: string;
  stepsPerWalk: number;
  check: Check | null;
  checkEvery: number;
  reset: () => Promise<void> | void;
  scenario: string | null;
  onProgress: (done: number, all: number) => unknown;
}

/**
 * Checks the options and fills in the defaults.
 *
 * @param seed - the sandbox's seed.
 * @throws SandboxError argument_invalid
 */
export function readExploreOptions(options: ExploreOptions, seed: string): ExploreSettings {
  const { error } = exploreOptions.safeParse(options satisfies z.input<typeof exploreOptions>);
  if (error !== undefined) throw invalid(error.issues[0]?.message ?? "");
  return {
    steps: options.steps ?? stepsByDefault,
    seed: options.seed ?? seed,
    stepsPerWalk: options.stepsPerWalk ?? 100,
    check: options.check ?? null,
    checkEvery: options.checkEvery ?? 1,
    reset: options.reset ?? (() => {}),
    scenario: options.scenario ?? null,
    onProgress: options.onProgress ?? (() => {}),
  };
}

/**
 * Checks that a scenario could be written to a file, which is only done at the end.
 *
 * @throws SandboxError argument_invalid
 */
export async function requireWritable(file: string): Promise<void> {
  const isFolder = async (path: string) =>
    await stat(path).then(
      (found) => found.isDirectory(),
      () => false,
    );
  const folder = dirname(file);
  if (!(await isFolder(folder)))
    throw invalid(
      `scenario is ${showValue(file)}, and there is no folder ${folder}. Name a file in a folder that exists.`,
    );
  if (await isFolder(file))
    throw invalid(`scenario is ${showValue(file)}, which is a folder. Name a file in it.`);
  await requireReplaceable(file, 0o666).catch((cause: unknown) => {
    throw invalid(
      `scenario is ${showValue(file)}, which cannot be written: ${describeFileError(cause)}. Name another file.`,
    );
  });
}

function invalid(message: string): SandboxError {
  return new SandboxError("argument_invalid", message);
}
