/** One bug to plant. */
export interface Mutant {
  /** The list that it is in. */
  subject: string;
  /** One sentence that names the rule which it breaks. */
  rule: string;
  file: string;
  /** Text that the file has exactly once. */
  find: string;
  replace: string;
  /** The test files that should notice. */
  tests: readonly string[];
  /** Runs only those of their tests whose names match this regular expression. */
  only: string | null;
}

/** The bugs that are planted in one file; a single bug may have other tests than the rest. */
export interface MutantGroup {
  file: string;
  tests: readonly string[];
  only?: string;
  mutants: readonly {
    rule: string;
    find: string;
    replace: string;
    tests?: readonly string[];
    only?: string;
  }[];
}

/** Thrown when the text to replace is not there exactly once. */
export class NotApplicableError extends Error {
  override name = "NotApplicableError";
}

/**
 * Returns a source with the bug in it.
 *
 * @throws NotApplicableError when the text to replace is missing or occurs more than once.
 */
export function plant(
  source: string,
  { file, find, replace, rule }: Pick<Mutant, "file" | "find" | "replace" | "rule">,
): string {
  const [before = "", after, ...more] = source.split(find);
  if (after === undefined || more.length > 0) {
    const found = after === undefined ? "does not contain" : `contains ${more.length + 1} times`;
    throw new NotApplicableError(`${file} ${found} ${JSON.stringify(find)}, to break the rule: ${rule}`);
  }
  return before + replace + after;
}
