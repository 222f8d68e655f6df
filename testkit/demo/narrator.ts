import { styleText } from "node:util";

/** Reports each step of the demo: what was sent and what was answered. */
export interface Narrator {
  chapter(title: string): void;
  step(title: string, sent: string, back: string): void;
}

/** Tells it to a terminal, in colour where it is one. */
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

/** Tells nothing. */
export const silentNarrator: Narrator = { chapter() {}, step() {} };

/** Tells it to a program: one JSON object a line. */
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
