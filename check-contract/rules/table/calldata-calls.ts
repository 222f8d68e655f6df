import {
  type AbiParameter,
  concatHex,
  encodeFunctionData,
  type Hex,
  hexToBigInt,
  numberToHex,
  size,
  slice,
} from "viem";
import { fundingSourceAbi, purchaseRegistrarAbi } from "../../../protocol/abi.generated.ts";
import type { Call } from "../../../protocol/call.ts";
import { noReason } from "../../fixture/revert-text.ts";
import type { Scene } from "../scene.ts";
import { actors, type Role } from "../values.ts";
import { byEveryone, define, type Variant } from "./table-call.ts";
import { type ValidCall, validCalls } from "./valid-calls.ts";

/** Bytes after the calldata. */
const additions = {
  "a zero byte": "0x00",
  "four bytes": "0x01020304",
  "a zero word": `0x${"00".repeat(32)}`,
  "another word": `0x${"ff".repeat(32)}`,
  "two zero words": `0x${"00".repeat(64)}`,
} as const;

/** Returns the calldata with a zero word before its last argument, whose offset counts it. */
function withGap(data: Hex, offsetAt: number): Hex {
  const place = 4 + 32 * offsetAt;
  const offset = Number(hexToBigInt(slice(data, place, place + 32)));
  return concatHex([
    slice(data, 0, place),
    numberToHex(offset + 32, { size: 32 }),
    ...(offset === 32 * (offsetAt + 1) ? [] : [slice(data, place + 32, 4 + offset)]),
    additions["a zero word"],
    slice(data, 4 + offset),
  ]);
}

/** Returns the calldata of a signature of 65 bytes with another byte in its padding. */
function withPadding(data: Hex, byte: number): Hex {
  const place = size(data) - 31 + byte;
  return concatHex([slice(data, 0, place), "0x01", ...(byte === 30 ? [] : [slice(data, place + 1)])]);
}

/** Returns the calldata of a signature of 65 bytes without its padding. */
function withoutPadding(data: Hex): Hex {
  return slice(data, 0, size(data) - 31);
}

/** Returns the calldata of two arrays of equal length with the second one first. */
function withSwappedArrays(data: Hex): Hex {
  const middle = 4 + Number(hexToBigInt(slice(data, 36, 68)));
  const length = size(data) - middle;
  return concatHex([
    slice(data, 0, 4),
    numberToHex(64 + length, { size: 32 }),
    numberToHex(64, { size: 32 }),
    slice(data, middle),
    slice(data, 68, middle),
  ]);
}

const changing = (call: ValidCall["call"], change: (data: Hex) => Hex) => (scene: Scene) => {
  const original = call(scene);
  return { ...original, data: change(original.data) };
};

/** The calls with calldata that is not canonical. A contract may compare its length first, or all of it at once. */
export const suffixes = define<Variant & { offsetAt?: number }>(
  (_state, { offsetAt }) =>
    offsetAt === undefined
      ? { NonCanonicalLength: true, NonCanonicalEncoding: true }
      : { NonCanonicalEncoding: true, NonCanonicalLength: true },
  Object.entries(validCalls).flatMap(([name, { call, only = "offer, open", offsetAt, ...rest }]) => {
    const change = (what: string, changed: (data: Hex) => Hex) => ({
      ...rest,
      only,
      ...(offsetAt === undefined ? {} : { offsetAt }),
      name: `${name} with ${what}`,
      call: changing(call, changed),
    });
    const dynamic =
      offsetAt === undefined
        ? []
        : [change("a zero word before its last argument", (data) => withGap(data, offsetAt))];
    const isPadded = (offsetAt ?? 0) > 1;
    const padded = isPadded ? [0, 15, 30] : [];
    return [
      ...Object.entries(additions).map(([what, added]) =>
        change(`${what} after it`, (data) => concatHex([data, added])),
      ),
      ...dynamic,
      ...(offsetAt === 1 ? [change("the second array first", withSwappedArrays)] : []),
      ...(isPadded ? [change("a signature without its padding", withoutPadding)] : []),
      ...padded.map((byte) =>
        change(`byte ${byte + 1} of the padding set`, (data) => withPadding(data, byte)),
      ),
    ];
  }),
);

/** The places of the arguments that do not fill their word, in words, by their names. */
function narrowWords(inputs: readonly AbiParameter[], prefix = ""): (string | null)[] {
  return inputs.flatMap((input) => {
    const name = `${prefix}${input.name}`;
    if ("components" in input && input.type === "tuple") return narrowWords(input.components, `${name}.`);
    return [/^(?:address|bool|uint(?!256)\d+)$/.test(input.type) ? name : null];
  });
}

/** The calls with a bit before an argument that does not fill its word: the decoder refuses them, or the comparison with canonical calldata. */
export const dirtyWords = define<Variant>(
  () => ({ [noReason]: true, NonCanonicalEncoding: true, NonCanonicalLength: true }),
  purchaseRegistrarAbi.flatMap((entry) => {
    const valid = entry.type === "function" ? validCalls[entry.name] : undefined;
    if (valid === undefined || entry.type !== "function") return [];
    const { call, only = "offer, open", offsetAt: _, ...rest } = valid;
    return narrowWords(entry.inputs).flatMap((name, word) =>
      name === null
        ? []
        : [
            {
              ...rest,
              only,
              name: `${entry.name} with a bit before its argument ${name}`,
              rule: "calldata with dirty high bits is refused",
              call: changing(call, (data) => withDirtyWord(data, word)),
            },
          ],
    );
  }),
);

function withDirtyWord(data: Hex, word: number): Hex {
  const place = 4 + 32 * word;
  return concatHex([slice(data, 0, place), "0x80", slice(data, place + 1)]);
}

/** The calls with ETH. The interface names no error for it. */
export const withEther = define<Variant>(
  () => ({ [noReason]: true }),
  Object.entries(validCalls).map(([name, { by, call, only = "offer, open", after, second }]) => ({
    by,
    call,
    only,
    ...(after === undefined ? {} : { after }),
    ...(second === undefined ? {} : { second }),
    name: `${name} with ETH`,
    rule: "a call with ETH is refused",
    value: 1n,
  })),
);

/** The transfers of ETH that call no function. */
export const etherTransfers = define<Variant>(
  () => ({ [noReason]: true }),
  (
    [
      ["a plain transfer of ETH", "registrar"],
      ["a plain transfer of ETH to the funding source", "funding_source"],
    ] as const
  ).map(([name, receiver]) => ({
    name,
    by: "buyer",
    only: "offer, open",
    rule: `${name} is refused`,
    call: ({ fixture: { contracts } }) => ({
      to: contracts[receiver],
      data: "0x",
      function: "none",
      args: {},
    }),
    value: 1n,
  })),
);

const drawOf =
  (amount: bigint, to: Role | "caller", by: Role) =>
  ({ fixture }: Scene): Call => {
    const { token, funding_source: source } = fixture.contracts;
    const receiver = fixture.address(actors[to === "caller" ? by : to]);
    const args = [token, fixture.address(actors.merchant), receiver, amount] as const;
    const data = encodeFunctionData({ abi: fundingSourceAbi, functionName: "draw", args });
    return { to: source, data, function: "draw", args: {} };
  };

/** The draws from the funding source, past the registrar contract. */
export const draws = define<Variant>(
  () => ({ NotRegistrar: true }),
  byEveryone("draw", { rule: "only the registrar contract draws from the funding source" }).flatMap(
    ({ name, by, rule }) => [
      { name, by, rule, only: "offer, open", call: drawOf(1n, "caller", by) },
      {
        name: `${name}, to the beneficiary`,
        by,
        rule,
        only: "offer, open",
        call: drawOf(1n, "beneficiary", by),
      },
      { name: `${name}, of zero`, by, rule, only: "offer, open", call: drawOf(0n, "caller", by) },
    ],
  ),
);
