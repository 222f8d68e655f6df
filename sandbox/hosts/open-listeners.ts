import type { ClosingStack } from "../lib/closing-stack.ts";
import {
  anyPage,
  localPagesWrite,
  ownPages,
  type PagePolicy,
  walletPages,
} from "../lib/http/host-and-origin.ts";
import { type Listener, listen } from "../lib/http/listen.ts";
import type { SandboxSettings } from "../options/options.ts";

/** The listeners of a sandbox's parts. */
export interface Listeners {
  api: Listener;
  docs: Listener;
  control: Listener;
  rpc: Listener;
}

/** Opens a port for each part, to be closed with all that was opened. @throws SandboxError port_in_use */
export async function openListeners(
  { ports, connectionLimits: limits }: SandboxSettings,
  opened: ClosingStack,
): Promise<Listeners> {
  const open = async (part: keyof Listeners, pages: PagePolicy) => {
    const listener = await listen({
      port: ports[part],
      option: `ports.${part} (--${part}-port)`,
      pages,
      limits,
    });
    opened.defer(async () => await listener.close());
    return listener;
  };
  return {
    api: await open("api", localPagesWrite),
    docs: await open("docs", anyPage),
    control: await open("control", ownPages),
    rpc: await open("rpc", walletPages),
  };
}

/** Where the parts answer. */
export function urlsOf({ api, docs, control, rpc }: Listeners) {
  return { api: api.url, docs: docs.url, control: control.url, rpc: rpc.url };
}
