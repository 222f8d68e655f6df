/** Prints the answer of a command: as one line of JSON with --json, otherwise as text. */
export function print(flags: { readonly json?: boolean | undefined }, answer: unknown, text: string): void {
  process.stdout.write(`${flags.json ? JSON.stringify(answer) : text}\n`);
}
