import { causesOf } from "../../../protocol/coded-error.ts";

/** An error as a log may show it: what it is and what it says, with its causes, without stacks and without what it carries. */
export function describeError(error: unknown): { name: string; message: string }[] {
  const described = causesOf(error)
    .slice(0, 8)
    .map(({ name, message }) => ({ name, message: firstLine(message) }));
  return described.length > 0
    ? described
    : [{ name: typeof error, message: "Something that is no error was thrown." }];
}

function firstLine(text: string): string {
  return (text.split("\n")[0] ?? "").slice(0, 300);
}
