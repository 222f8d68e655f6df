import { concatHex, type Hex, hexToBigInt, numberToHex, slice } from "viem";
import type { Scene } from "../scene.ts";
import { define, type Variant } from "./table-call.ts";
import { validCalls } from "./valid-calls.ts";

/** A contract that keeps an id in fewer bits loses the first or the last one. */
const bits = { first: 2n ** 255n, last: 1n } as const;

/** Returns calldata with a bit of a word flipped. */
function flip(data: Hex, word: number, bit: bigint): Hex {
  const place = 4 + 32 * word;
  const id = hexToBigInt(slice(data, place, place + 32)) ^ bit;
  return concatHex([
    slice(data, 0, place),
    numberToHex(id, { size: 32 }),
    `0x${data.slice(2 + 2 * place + 64)}`,
  ]);
}

const ofPurchases = ["pay", "payWithPermit", "withdrawOffer", "expire", "claim", "collectRefund"];

/** The functions that take an id, the place of the id, and the errors of an unknown one: a program that is not open has no admin, and none is named. */
const ids: readonly (readonly [name: string, id: string, word: number, ...errors: string[]])[] = [
  ...ofPurchases.map((name) => [name, "a purchase", 0, "UnknownPurchase"] as const),
  ["setBounds", "a program", 0, "ProgramNotOpen"],
  ["setPaused", "a program", 0, "ProgramNotOpen"],
  ["transferAdmin", "a program", 0, "ProgramNotOpen", "WrongCaller"],
  ["acceptAdmin", "a program", 0, "ProgramNotOpen", "WrongCaller"],
  ["revokeFunding", "a program", 0, "UnknownFunding"],
  ["revokeFunding", "a merchantRef", 1, "UnknownFunding"],
];

/** The calls with an id that differs from a known one in one bit. */
export const nearIds = define<Variant & { errors: readonly string[] }>(
  (_state, { errors }) => Object.fromEntries(errors.map((error) => [error, true])),
  (["first", "last"] as const).flatMap((place) =>
    ids.flatMap(([name, id, word, ...errors]) => {
      const valid = validCalls[name];
      if (valid === undefined) return [];
      const { by, call, after, second, only = "offer, open" } = valid;
      return {
        by,
        only,
        errors,
        ...(after === undefined ? {} : { after }),
        ...(second === undefined ? {} : { second }),
        name: `${name} of ${id} with another ${place} bit`,
        call: (scene: Scene) => {
          const original = call(scene);
          return { ...original, data: flip(original.data, word, bits[place]) };
        },
      };
    }),
  ),
);
