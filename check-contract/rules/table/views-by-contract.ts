import { encodeFunctionData, maxUint64, maxUint256, zeroAddress } from "viem";
import { purchaseRegistrarAbi } from "../../../protocol/abi.generated.ts";
import { hashId } from "../../../protocol/values/id.ts";
import { encodeView, type ViewName } from "../../fixture/effects.ts";
import type { Scene } from "../scene.ts";
import { zero } from "../values.ts";
import { otherViews, viewCaller, viewsOf } from "../views.ts";
import { define, type Variant } from "./table-call.ts";

/** The calls of the interface's views by a contract. */
export const viewsByContract = define<Variant>(
  () => ({}),
  purchaseRegistrarAbi.flatMap((entry) => {
    if (entry.type !== "function" || !/view|pure/.test(entry.stateMutability)) return [];
    const { name } = entry;
    if (name === "eip712Domain") return [];
    return {
      name: `${name}() by a contract`,
      by: "stranger" as const,
      only: "offer, open" as const,
      rule: "a view gives a contract the same result as a wallet",
      call: (scene: Scene) => ({
        to: viewCaller,
        data:
          [...viewsOf(scene), ...otherViews(scene)].find(({ view }) => view === name)?.data ??
          encodeFunctionData({ abi: purchaseRegistrarAbi, functionName: "fundingSource" }),
        function: name,
        args: {},
      }),
    };
  }),
);

const unknown = hashId("unknown");

/** Arguments of the views by what they are: unknown ids, and messages of extreme values. */
const unusual: readonly (readonly [
  view: ViewName,
  what: string,
  args: (scene: Scene) => readonly unknown[],
])[] = [
  ...(["programState", "pendingAdmin", "purchase", "figures"] as const).flatMap((view) => [
    [view, "an unknown id", () => [unknown]] as const,
    [view, "a zero id", () => [zero]] as const,
  ]),
  ["funding", "a program that is not open", ({ merchantRef }) => [unknown, merchantRef]],
  ["funding", "an unknown reference", ({ program }) => [program, unknown]],
  ["funding", "a zero reference", ({ program }) => [program, zero]],
  ["enrolledAs", "a program that is not open", ({ authorization }) => [unknown, authorization.wallet]],
  [
    "enrolledAs",
    "a wallet that is not enrolled",
    ({ authorization: { program, wallet } }) => [program, wallet],
  ],
  ["enrolledAs", "address 0", ({ program }) => [program, zeroAddress]],
  ...(["00", "ff"] as const).flatMap((byte) => {
    const what = byte === "00" ? "zeros" : "the largest values";
    const claim = { commitment: zero, beneficiary: zeroAddress, requestedAmount: 0n, reasonHash: zero };
    return [
      ["hashPurchase", what, ({ purchase }: Scene) => [fill(purchase.commitment, byte)]] as const,
      ["hashFunding", what, ({ authorization }: Scene) => [fill(authorization, byte)]] as const,
      ["hashClaim", what, () => [fill(claim, byte)]] as const,
    ];
  }),
];

/** Returns a message whose fields have only such bytes. */
function fill(message: object, byte: "00" | "ff"): object {
  const numberOf = (name: string) => (/Deadline|Until/.test(name) ? maxUint64 : maxUint256);
  return Object.fromEntries(
    Object.entries(message).map(([name, value]) => [
      name,
      typeof value === "bigint"
        ? byte === "00"
          ? 0n
          : numberOf(name)
        : `0x${byte.repeat(value.length / 2 - 1)}`,
    ]),
  );
}

/** The calls of the views with unusual arguments: none reverts. */
export const unusualViews = define<Variant>(
  () => ({}),
  unusual.map(([view, what, args]) => ({
    name: `${view}() of ${what}`,
    by: "stranger",
    only: "offer, open",
    rule: `${view}() returns the right value`,
    call: (scene) => ({
      to: scene.registrar,
      data: encodeView(view, args(scene)).data,
      function: view,
      args: {},
    }),
  })),
);
