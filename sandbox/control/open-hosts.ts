import { awaitAutomine } from "../../relayer/node/automine.ts";
import { toNode } from "../../relayer/node/node.ts";
import { createApp } from "../../server/app.ts";
import { discoveryResources } from "../../server/documentation/discovery.ts";
import { createDocumentationHost } from "../../server/documentation/host.ts";
import { problemRefusals } from "../../server/http/answers/refusal-form.ts";
import type { Services } from "../../server/http/services.ts";
import { operations } from "../../server/operations.ts";
import { apiPages } from "../../server/pages/api-pages.ts";
import type { Watch } from "../activity/watch.ts";
import { mineBlocks } from "../chain/clock/mining.ts";
import { isPlaced } from "../chain/journal/changing-methods.ts";
import type { FrontedChain } from "../chain/rpc/answer-request.ts";
import { RpcFront, rpcRefusal } from "../chain/rpc/front.ts";
import type { ChainNode } from "../chain/start-chain.ts";
import { openExplorer } from "../explorer/explorer.ts";
import type { ClosingStack } from "../lib/closing-stack.ts";
import { type Listener, listen } from "../lib/http/listen.ts";
import type { RequestGate } from "../lib/http/request-gate.ts";
import { pagesOf, sharedPaths } from "../options/pages-of-ports.ts";
import type { SandboxSettings } from "../options/settings.ts";
import type { RpcSnapshots } from "../snapshots/rpc-snapshots.ts";
import { type MakeTrace, openTraces } from "../trace/make-trace.ts";
import type { ControlledSandbox } from "./controlled-sandbox.ts";
import { createControlHost } from "./host.ts";

/** Has the listeners serve the API, the documentation, the chain RPC and the control API with the explorer. */
export function openHosts(
  listeners: Listeners,
  sandbox: Omit<ControlledSandbox, "explorer" | "makeTrace" | "metrics"> & {
    services: Services;
    withoutFaults: Services;
    gate: RequestGate;
    watch: Watch;
    rpcSnapshots: RpcSnapshots;
  },
  opened: ClosingStack,
): { makeTrace: MakeTrace } {
  const { services, receiver, recorder, watch } = sandbox;
  const refusals = watch.tracing.refusals(problemRefusals(services));
  const api = createApp(services, operations, discoveryResources(services, operations), apiPages);
  listeners.api.serve({
    handle: watch.tracing.guard(watch.requests.guard(receiver.guard(recorder.guard(api)), sandbox.gate)),
    refusals,
  });
  listeners.docs.serve({ handle: createDocumentationHost(services, operations), refusals });
  if (listeners.rpc !== null) {
    const front = openRpcFront(sandbox);
    opened.defer(() => front.close());
    listeners.rpc.serve({
      handle: (request, response) => front.handle(request, response),
      upgrade: (request, socket, head) => front.upgrade(request, socket, head),
      refusals: rpcRefusal,
    });
  }
  const explorer = openExplorer({ ...sandbox, services: sandbox.withoutFaults });
  opened.defer(() => explorer.close());
  const logs = { faults: watch.faultLog, heads: watch.heads, explain: sandbox.explain };
  const makeTrace = openTraces(explorer.sources, logs);
  const { metrics } = watch;
  listeners.control.serve({ handle: createControlHost({ ...sandbox, explorer, makeTrace, metrics }) });
  return { makeTrace };
}

function openRpcFront({
  chain,
  gate,
  rpcSnapshots,
  services,
}: {
  chain: ChainNode;
  gate: RequestGate;
  rpcSnapshots: RpcSnapshots;
  services: Services;
}): RpcFront {
  const { anvil, client, request, clock, journal, impersonation, filters, gate: miningGate } = chain;
  const node = toNode(request);
  const makeBlocks = async <T>(make: () => Promise<T>) =>
    await (journal === null ? make() : journal.mine(make));
  const fronted: FrontedChain = {
    filters,
    follow: clock.follow,
    snapshots: rpcSnapshots,
    interval: async () => await client.request({ method: "anvil_getIntervalMining" }),
    async mineBy(run) {
      await awaitAutomine(node);
      return await makeBlocks(async () => await miningGate.runShared(run));
    },
    mine: async (blocks) => await makeBlocks(async () => await mineBlocks(client, blocks)),
    reorg: async (params) => {
      await node("anvil_reorg", params);
    },
    send: async (transaction, run, isDone) =>
      await (journal === null ? run() : journal.send(transaction, run, isDone)),
    change: async (call, run, isDone) => {
      const make = async () => {
        const answer = await run();
        if (isDone(answer)) impersonation.note(call);
        return answer;
      };
      if (journal === null) return await make();
      const record = async () => await journal.call(call, make, isDone);
      return isPlaced(call.method) ? await miningGate.runExclusive(record) : await record();
    },
  };
  return new RpcFront(() => anvil.url, gate, fronted, services.settings.urls);
}

/** The listeners of a sandbox's parts. */
interface Listeners {
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
