// biome-ignore lint/suspicious/noExplicitAny: a bug is planted as text, into code of every type
type Anything = any;

/** One bug to plant. It names the declaration that it breaks, so that it outlives a move or a new wording of the code. */
export interface Bug {
  /** One sentence that states the rule that is broken. */
  rule: string;
  /** A function or constant at the top of a file, or a method as `Class.method`. */
  of: string;
  /**
   * Returns the replacement of the original, which it is given. Its text is planted: apart from the original it can only use what
   * JavaScript has everywhere.
   */
  bug: string | ((original: Anything) => ((...args: Anything[]) => Anything) | object | bigint | number);
  /** A part of the path of the test files that should notice. */
  tests: string;
  /** Runs only those of their tests whose names match this regular expression. */
  only?: RegExp;
}
