import type { HookContext, NetworkHooks } from "hardhat/types/hooks";
import type { ChainType, NetworkConnection } from "hardhat/types/network";
import { requireProjectSandbox, sandboxNetwork } from "./running-sandbox.ts";

/** Gives each connection to the network `sandbox` the sandbox's description. */
export default async function networkHooks(): Promise<Partial<NetworkHooks>> {
  return {
    async newConnection<ChainTypeT extends ChainType | string>(
      context: HookContext,
      next: (context: HookContext) => Promise<NetworkConnection<ChainTypeT>>,
    ) {
      const connection = await next(context);
      if (connection.networkName !== sandboxNetwork) return connection;
      return Object.assign(connection, { sandbox: await requireProjectSandbox(context.config.paths.root) });
    },
  };
}
