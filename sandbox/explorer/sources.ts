import { Mutex } from "async-mutex";
import { createPublicClient, custom, type PublicClient } from "viem";
import { HeadReader } from "../../server/chain/head-reader.ts";
import type { Services } from "../../server/http/services.ts";
import type { RefusalLog } from "../activity/refusal-log.ts";
import type { RequestLog } from "../activity/request-log.ts";
import { nodeSocket } from "../chain/client/node-socket.ts";
import type { ChainNode } from "../chain/start-chain.ts";
import type { AddressLabels } from "../explain/address-labels.ts";
import type { SandboxFaults } from "../faults/faults.ts";
import type { SandboxDescription } from "../options/description.ts";
import type { SandboxReceiver } from "../receiver/receiver.ts";

/** A connection to the node for reading; what is asked in one turn goes out together. */
interface ConnectedNode {
  node: PublicClient;
  reader: HeadReader;
  /** The turns of reads whose answers may be large: one at a time. */
  largeReads: Mutex;
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

/** Connects to the node for reading, apart from the relayer, which must not wait for these reads. */
export function connectNode(chain: ChainNode): ConnectedNode & { close(): void } {
  const socket = chain.isOwn
    ? nodeSocket(() => chain.anvil.url)
    : { transport: custom(chain, { retryCount: 0 }), close() {} };
  const node = createPublicClient({ transport: socket.transport, cacheTime: 0 });
  return { node, reader: new HeadReader(node), largeReads: new Mutex(), close: () => socket.close() };
}
