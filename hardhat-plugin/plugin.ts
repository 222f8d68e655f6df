/** The plugin for Hardhat 3: the task `check-registrar`, and a network that connects to a sandbox. */
import { task } from "hardhat/config";
import { definePlugin } from "hardhat/plugins";
import { ArgumentType } from "hardhat/types/arguments";
import type { HardhatPlugin } from "hardhat/types/plugins";
import type { SandboxDescription } from "../sandbox/options/description.ts";

declare module "hardhat/types/network" {
  interface NetworkConnection<ChainTypeT extends ChainType | string = DefaultChainType> {
    /** On the network `sandbox`, the content of the sandbox's `sandbox.json`: URLs, contracts and wallets. */
    readonly sandbox?: SandboxDescription;
  }
}

/**
 * Adds the task `check-registrar` and the network `sandbox` to a Hardhat 3 project.
 *
 * @example
 * import { defineConfig } from "hardhat/config";
 * import routingSandbox from "routing-sandbox/hardhat";
 *
 * export default defineConfig({ plugins: [routingSandbox], solidity: "0.8.37" });
 */
const plugin: HardhatPlugin = definePlugin({
  id: "routing-sandbox",
  hookHandlers: {
    config: async () => await import("./config-hooks.ts"),
    configurationVariables: async () => await import("./url-hooks.ts"),
    network: async () => await import("./network-hooks.ts"),
  },
  tasks: [
    task(
      "check-registrar",
      "Compile your registrar contract and run the lifecycle, the rules and every attack against it",
    )
      .addPositionalArgument({
        name: "contract",
        description: "The name of the contract, such as MyRegistrar or contracts/MyRegistrar.sol:MyRegistrar",
      })
      .addOption({
        name: "only",
        description: "Run only the checks whose suite/name contains this text",
        type: ArgumentType.STRING_WITHOUT_DEFAULT,
        defaultValue: undefined,
      })
      .addFlag({ name: "bail", description: "Stop at the first check that fails" })
      .addOption({
        name: "gasBaseline",
        description:
          "Fail if a step costs over 1 % more gas than in this file; writes the steps that it does not have",
        type: ArgumentType.FILE_WITHOUT_DEFAULT,
        defaultValue: undefined,
      })
      .setAction(async () => await import("./check-registrar.ts"))
      .build(),
  ],
});

export default plugin;
