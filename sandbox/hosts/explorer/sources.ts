import { createPublicClient, type HttpTransport, http, type PublicClient } from "viem";
import type { Services } from "../../../server/services.ts";
import type { ChainNode } from "../../chain/genesis/start-chain.ts";
import type { SandboxReceiver } from "../../service/receiver/receiver.ts";
import type { SandboxDescription } from "../../state/description.ts";
import type { AddressLabels } from "./address-labels.ts";
import type { RefusalLog } from "./live/refusal-log.ts";

/** Reads the chain; what is asked in one turn goes out as one HTTP request. */
export type BatchingNode = PublicClient<HttpTransport>;

/** Everything that the explorer reads. It changes nothing. */
export interface Sources {
  description: SandboxDescription;
  services: Services;
  chain: ChainNode;
  node: BatchingNode;
  receiver: SandboxReceiver;
  refusals: RefusalLog;
  labels: AddressLabels;
}

/** Connects to the node for reading. */
export function connectNode({ anvil }: ChainNode): BatchingNode {
  // viem joins the batches of one URL: the query keeps these apart from the relayer's, which must not wait for them.
  const transport = http(`${anvil.url}/?explorer`, { retryCount: 0, batch: { wait: 0 } });
  return createPublicClient({ transport, cacheTime: 0 });
}
