import { styleText } from "node:util";

/** Colors a text, or leaves it as it is. */
export type Paint = (style: "bold" | "dim" | "red" | "green" | "inverse", text: string) => string;

/** Returns what colors texts for a terminal, or leaves all of them as they are. */
export function paintIn(color: boolean): Paint {
  return (style, value) => (color ? styleText(style, value, { validateStream: false }) : value);
}

/** Returns the lines of a section below its title; none if it is empty. */
export function section(title: string, paint: Paint, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ["", paint("bold", title), ...lines.map((line) => `  ${line}`)];
}

/** Returns a value as a text. */
export function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
