import type { ClosingStack } from "../lib/closing-stack.ts";
import { type Listener, listen } from "../lib/http/listen.ts";
import { pagesOf, sharedPaths } from "../options/pages-of-ports.ts";
import type { SandboxSettings } from "../options/settings.ts";

/** The listeners of a sandbox's parts. */
export interface Listeners {
  api: Listener;
  docs: Listener;
  control: Listener;
  /** None for the chain of a node, which has its own. */
  rpc: Listener | null;
}

/** Opens a port for each part, to be closed with all that was opened. @throws SandboxError port_in_use */
export async function openListeners(
  { ports, listen: address, allowHosts, allowOrigins, connectionLimits: limits, network }: SandboxSettings,
  opened: ClosingStack,
): Promise<Listeners> {
  const ownPorts = new Set<number>();
  const open = async (part: keyof Listeners, docsUrl?: string) => {
    const listener = await listen({
      port: ports[part],
      address,
      allowHosts,
      allowOrigins,
      ownPorts,
      option: `ports.${part}`,
      pages: pagesOf[part],
      shared: sharedPaths[part],
      limits,
      ...(docsUrl === undefined ? {} : { docsUrl }),
    });
    opened.defer(async () => await listener.close());
    return listener;
  };
  const docs = await open("docs");
  return {
    api: await open("api", docs.url),
    docs,
    control: await open("control", docs.url),
    rpc: network === null ? await open("rpc", docs.url) : null,
  };
}

/** Returns the URLs of the parts. @param nodeUrl - where wallets and pages reach the node, if the chain is not the sandbox's own. */
export function urlsOf({ api, docs, control, rpc }: Listeners, nodeUrl: string | null) {
  return { api: api.url, docs: docs.url, control: control.url, rpc: rpc?.url ?? nodeUrl ?? "" };
}
