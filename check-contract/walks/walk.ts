import { createHash } from "node:crypto";
import { type Choose, chooseMoves, enrollFirst, type Progress } from "./moves.ts";
import { type Move, seconds, type WalkScene } from "./walk-scene.ts";

/** One call of a walk, in the second that the walk has reached. */
export interface WalkStep extends Move {
  /** In seconds after the start. */
  second: number;
  /** Whether it is in one transaction with the step before it. */
  joins: boolean;
}

/** Calls that are made one after the other, from the fixture's state on. */
export interface Walk {
  /** Whether the wallets have code, and calls that belong together are one transaction. */
  wallets: "keys" | "contracts";
  steps: readonly WalkStep[];
}

/** The number of walks that are tried. */
export const walkCount = 400;

/** The number of steps after which a walk ends. */
const longest = 60;

/** Returns a walk by its number: the same one for every contract. */
export function walkOf(number: number, scene: WalkScene): Walk {
  const choose = chooser(`walk ${number}`, number % 4 < 2 ? 64 : 12);
  const wallets = number % 2 === 1 ? "contracts" : "keys";
  const steps: WalkStep[] = [];
  let second = 1;
  const add = (moves: readonly Move[]) => {
    for (const [index, move] of moves.entries()) {
      steps.push({ ...move, second, joins: wallets === "contracts" && index > 0 });
      // A pause may last.
      if (wallets === "keys" && move.call.function === "setPaused" && choose(2) === 0) second += choose(50);
    }
  };
  add(scene.first);
  // Most walks begin with both merchants enrolled.
  const progress: Progress = { steps: new Map(), fundings: new Map(), refs: new Set(), permits: 0 };
  for (const funding of [0, 6, 7, 9]) if (!choose.rarely()) add(enrollFirst(scene, funding, progress));
  while (steps.length < longest) {
    add(chooseMoves(scene, progress, choose));
    const pace = choose(16);
    if (pace < 5) second += 1;
    // A few ends later at most, so that a walk does not soon pass all of them.
    if (pace === 15 && (choose.rarely() || choose(4) === 0))
      second = seconds.filter((one) => one > second)[choose(8)] ?? second + 1;
  }
  return { wallets, steps };
}

/** Returns a source of numbers that are the same for the same seed. */
function chooser(seed: string, wrongOf: number): Choose {
  let bytes = Buffer.alloc(0);
  let place = 0;
  let block = 0;
  const choose = (bound: number) => {
    if (place + 2 > bytes.length) {
      bytes = createHash("sha256").update(`${seed}/${block}`).digest();
      place = 0;
      block += 1;
    }
    const number = bytes.readUInt16BE(place);
    place += 2;
    return number % bound;
  };
  return Object.assign(choose, { rarely: () => choose(wrongOf) === 0 });
}
