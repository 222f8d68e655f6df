import type { ConfigurationVariableHooks } from "hardhat/types/hooks";
import { requireProjectSandbox, urlVariable } from "./running-sandbox.ts";

/** Looks up the URL of the network `sandbox` when the network is first used, so that other commands need no sandbox. */
export default async function urlHooks(): Promise<Partial<ConfigurationVariableHooks>> {
  return {
    async fetchValue(context, variable, next) {
      if (variable.name !== urlVariable) return await next(context, variable);
      const { urls } = await requireProjectSandbox(context.config.paths.root);
      return urls.rpc;
    },
  };
}
