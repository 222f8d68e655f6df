import type { HookContext, NetworkHooks } from "hardhat/types/hooks";
import type { ChainType, NetworkConnection } from "hardhat/types/network";
import { requireProjectSandbox, sandboxNetwork } from "./running-sandbox.ts";
import { movesTime, moveTime } from "./time-requests.ts";

/** Gives each connection to the network `sandbox` the sandbox's description, and lets its requests move the sandbox's clock. */
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
    async onRequest(context, connection, request, next) {
      const { sandbox } = connection;
      return sandbox !== undefined && movesTime(request)
        ? await moveTime(connection, sandbox, request)
        : await next(context, connection, request);
    },
  };
}
