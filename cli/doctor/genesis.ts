import { messageOf } from "../../protocol/coded-error.ts";
import { findGenesis } from "../../sandbox/chain/genesis/genesis-cache.ts";
import { genesisKey } from "../../sandbox/chain/genesis/genesis-key.ts";
import { howToRepair } from "../../sandbox/lib/package-root.ts";
import { broken, type Finding, healthy } from "./finding.ts";

/** Checks that the compiled contracts and the prepared chain exist, are complete and belong to this version. */
export async function examineGenesis(): Promise<Finding> {
  const check = "prepared chain";
  const remedy = `To build the prepared chain again, ${howToRepair()}.`;
  try {
    const genesis = await findGenesis(await genesisKey());
    return genesis === undefined
      ? broken(check, "It is missing, damaged, or was built with other contracts or another Anvil.", remedy)
      : healthy(
          check,
          `It is complete and has these contracts, up to block ${genesis.deployment.block.number}.`,
        );
  } catch (error) {
    return broken(check, messageOf(error), remedy);
  }
}
