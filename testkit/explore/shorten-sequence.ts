import type { ResolvedStep } from "./moves/step.ts";

/** The number of candidates that shortening tries at most. */
export const mostCandidates = 1_000;

/** A sequence that fails, and whether the bound of candidates ended its shortening. */
export interface Shortened {
  steps: readonly ResolvedStep[];
  isBounded: boolean;
}

/**
 * Shortens a sequence as long as the rest fails in the same way: drops all that is about one merchant or purchase, then parts, then single
 * steps, and makes what is left simpler, until nothing more can be dropped.
 *
 * @param fails - takes a candidate; returns those of its steps that did something, or null when it does not fail in the same way.
 */
export async function shortenSequence(
  steps: readonly ResolvedStep[],
  fails: (candidate: readonly ResolvedStep[]) => Promise<readonly ResolvedStep[] | null>,
): Promise<Shortened> {
  const shortening = new Shortening(steps, fails);
  return await shortening.run();
}

class Shortening {
  #kept: readonly ResolvedStep[];
  #candidates = 0;
  readonly #fails: (candidate: readonly ResolvedStep[]) => Promise<readonly ResolvedStep[] | null>;

  constructor(
    steps: readonly ResolvedStep[],
    fails: (candidate: readonly ResolvedStep[]) => Promise<readonly ResolvedStep[] | null>,
  ) {
    this.#kept = steps;
    this.#fails = fails;
  }

  async run(): Promise<Shortened> {
    for (let size = Math.ceil(this.#kept.length / 2); size > 1; size = Math.floor(size / 2)) {
      await this.#dropSubjects();
      await this.#drop(size);
    }
    let before: readonly ResolvedStep[];
    do {
      before = this.#kept;
      await this.#dropSubjects();
      await this.#drop(1);
      await this.#simplify();
    } while (this.#kept !== before && this.#candidates < mostCandidates);
    return { steps: this.#kept, isBounded: this.#candidates >= mostCandidates };
  }

  /** @returns whether the candidate fails, and is kept. */
  async #try(candidate: readonly ResolvedStep[]): Promise<boolean> {
    if (this.#candidates >= mostCandidates) return false;
    this.#candidates += 1;
    const acted = await this.#fails(candidate);
    if (acted === null) return false;
    this.#kept = acted;
    return true;
  }

  /** Drops what makes a merchant or a purchase, with all that is about it. */
  async #dropSubjects(): Promise<void> {
    for (const { id, kind } of this.#kept.toReversed())
      if (kind === "createMerchant" || kind === "createPurchase")
        await this.#try(without(this.#kept, new Set([id])));
  }

  /** Drops so many steps at once, from the end. */
  async #drop(size: number): Promise<void> {
    for (let end = this.#kept.length; end > 0; end = Math.min(end - size, this.#kept.length)) {
      const dropped = this.#kept.slice(Math.max(0, end - size), end);
      await this.#try(without(this.#kept, new Set(dropped.map(({ id }) => id))));
    }
  }

  /** Makes each step simpler: nothing wrong, no fault, the whole amount, the first choice, the first merchant. */
  async #simplify(): Promise<void> {
    const first = this.#kept.find(({ kind }) => kind === "createMerchant")?.id ?? null;
    for (const { id } of this.#kept)
      for (const simpler of [
        { fault: "none" },
        { mistake: "none" },
        { amount: "all" },
        { choice: 0 },
        { about: first },
      ] as const) {
        const step = this.#kept.find((one) => one.id === id);
        if (step === undefined || !applies(step, simpler)) continue;
        const changed = { ...step, ...simpler };
        if (JSON.stringify(changed) === JSON.stringify(step)) continue;
        await this.#try(this.#kept.map((one) => (one === step ? changed : one)));
      }
  }
}

/** The merchant of every walk is no simpler with another wallet, and only a purchase can have another merchant. */
function applies({ kind }: ResolvedStep, simpler: object): boolean {
  return "about" in simpler ? kind === "createPurchase" : !("choice" in simpler) || kind !== "createMerchant";
}

/** Returns the steps without those with the ids, and without all that is about one of these. */
function without(steps: readonly ResolvedStep[], dropped: Set<number>): ResolvedStep[] {
  return steps.filter(({ id, about }) => {
    if (about !== null && dropped.has(about)) dropped.add(id);
    return !dropped.has(id);
  });
}
