import { HardhatPluginError } from "hardhat/plugins";
import type { ConfigHooks } from "hardhat/types/hooks";
import { chainId, derivationPath, testMnemonic, walletNames } from "../sandbox/chain/genesis/roles.ts";
import { sandboxNetwork, urlVariable } from "./running-sandbox.ts";

/** Adds the network `sandbox`, with the chain id and the wallets that every sandbox has. */
export default async function configHooks(): Promise<Partial<ConfigHooks>> {
  return {
    async extendUserConfig(config, next) {
      const extended = await next(config);
      if (extended.networks?.[sandboxNetwork] !== undefined)
        throw new HardhatPluginError(
          "routing-sandbox",
          `networks.${sandboxNetwork} is the network that this plugin adds. Give your network another name.`,
        );
      return {
        ...extended,
        networks: {
          ...extended.networks,
          [sandboxNetwork]: {
            type: "http",
            chainId,
            url: { _type: "ConfigurationVariable", name: urlVariable },
            accounts: { mnemonic: testMnemonic, path: derivationPath, count: walletNames.length },
          },
        },
      };
    },
  };
}
