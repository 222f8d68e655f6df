import { styleText } from "node:util";

/** Reports each step of the demo: what was sent and what was answered. */
export interface Printer {
  section(title: string): void;
  step(title: string, sent: string, back: string): void;
}

/** Writes to a terminal, in color where it is one. */
export function terminalPrinter(write: (line: string) => void): Printer {
  let number = 0;
  return {
    section(title) {
      write(`\n${styleText("bold", title)}`);
    },
    step(title, sent, back) {
      number += 1;
      write(`\n${String(number).padStart(3)}  ${styleText("cyan", title)}`);
      write(`     ${styleText("dim", "sent")}  ${sent}`);
      write(`     ${styleText("dim", "back")}  ${back}`);
    },
  };
}

/** Reports nothing: for scenarios, benchmarks and tests that take steps of the demo. */
export const silentPrinter: Printer = { section() {}, step() {} };

/** Writes for a program: one JSON object a line. */
export function jsonPrinter(write: (line: string) => void): Printer {
  return {
    section(title) {
      write(JSON.stringify({ section: title }));
    },
    step(step, sent, back) {
      write(JSON.stringify({ step, sent, back }));
    },
  };
}
