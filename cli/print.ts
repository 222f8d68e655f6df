/** Prints what a command has to tell: the answer as one line of JSON with --json, the text without. */
export function print(flags: { readonly json?: boolean | undefined }, answer: unknown, text: string): void {
  process.stdout.write(`${flags.json ? JSON.stringify(answer) : text}\n`);
}
