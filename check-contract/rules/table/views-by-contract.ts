import { encodeFunctionData } from "viem";
import { purchaseRegistrarAbi } from "../../../protocol/abi.generated.ts";
import type { Scene } from "../scene.ts";
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
