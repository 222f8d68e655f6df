import { createPublicClient, type HttpTransport, http, type PublicClient } from "viem";
import { HeadReader } from "../../../server/chain/head-reader.ts";
import type { Services } from "../../../server/services.ts";
import type { ChainNode } from "../../chain/start-chain.ts";
import { fetchDirect } from "../../lib/http/direct/fetch-direct.ts";
import type { SandboxFaults } from "../../service/faults/faults.ts";
import type { SandboxReceiver } from "../../service/receiver/receiver.ts";
import type { SandboxDescription } from "../../state/description.ts";
import type { RequestLog } from "../requests/request-log.ts";
import type { AddressLabels } from "./address-labels.ts";
import type { RefusalLog } from "./live/refusal-log.ts";

/** Reads the chain; what is asked in one turn goes out as one HTTP request. */
export type BatchingNode = PublicClient<HttpTransport>;

/** A connection to the node for reading. */
interface ConnectedNode {
  node: BatchingNode;
  reader: HeadReader;
}

/** Everything that the explorer reads. It changes nothing. */
export interface Sources extends ConnectedNode {
  description: SandboxDescription;
  services: Services;
  chain: ChainNode;
  receiver: SandboxReceiver;
  faults: SandboxFaults;
  refusals: RefusalLog;
  requests: RequestLog;
  labels: AddressLabels;
}

/** Returns what connects to the node for reading, at the URL that Anvil has now. */
export function connectNode({ anvil }: ChainNode): () => ConnectedNode {
  let connected: (ConnectedNode & { url: string }) | undefined;
  return () => {
    const { url } = anvil;
    if (connected?.url === url) return connected;
    // viem joins the batches of one URL: the query keeps these apart from the relayer's, which must not wait for them.
    const transport = http(`${url}/?explorer`, { retryCount: 0, batch: { wait: 0 }, fetchFn: fetchDirect });
    const node = createPublicClient({ transport, cacheTime: 0 });
    connected = { url, node, reader: new HeadReader(node) };
    return connected;
  };
}
