import { styleText } from "node:util";

/** Reports each step of the demo: what was sent and what was answered. */
export interface Narrator {
  chapter(title: string): void;
  step(title: string, sent: string, back: string): void;
}

/** Writes to a terminal, in color where it is one. */
export function terminalNarrator(write: (line: string) => void): Narrator {
  let number = 0;
  return {
    chapter(title) {
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

/** Reports nothing. */
export const silentNarrator: Narrator = { chapter() {}, step() {} };

/** Writes for a program: one JSON object a line. */
export function jsonNarrator(write: (line: string) => void): Narrator {
  return {
    chapter(title) {
      write(JSON.stringify({ chapter: title }));
    },
    step(step, sent, back) {
      write(JSON.stringify({ step, sent, back }));
    },
  };
}
