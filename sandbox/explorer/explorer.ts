import type { Router } from "express";
import type { Services, Urls } from "../../server/http/services.ts";
import { pageRoutes } from "../../server/pages/page-routes.ts";
import { EventStream } from "../activity/event-stream.ts";
import type { Watch } from "../activity/watch.ts";
import type { ChainNode } from "../chain/start-chain.ts";
import { AddressLabels } from "../explain/address-labels.ts";
import type { SandboxFaults } from "../faults/faults.ts";
import type { SandboxDescription } from "../options/description.ts";
import type { SandboxReceiver } from "../receiver/receiver.ts";
import { connectNode, type Sources } from "./sources.ts";

/** The interval of the stream's heartbeats, in milliseconds. */
export const heartbeatMs = 15_000;

/** The explorer: pages and data for the control host, and the stream of changes. */
export interface Explorer {
  pages: Router;
  sources: Sources;
  stream: EventStream;
  /** Ends the streams and the connection to the node, so that nothing waits for them. */
  close(): void;
}

/** Opens the explorer of a sandbox. */
export function openExplorer(parts: {
  description: SandboxDescription;
  services: Services;
  chain: ChainNode;
  receiver: SandboxReceiver;
  faults: SandboxFaults;
  watch: Watch;
}): Explorer {
  const { watch, ...read } = parts;
  const { feed, refusals, requests } = watch;
  const stream = new EventStream(feed, heartbeatMs);
  const { close, ...connected } = connectNode(read.chain);
  const page = ({ docs }: Urls) => ({ file: "explorer/page.html", values: { docs_url: docs } });
  const sources = { ...read, ...connected, refusals, requests, labels: new AddressLabels(read.chain) };
  return {
    pages: pageRoutes(
      { pages: { "/": page }, folders: ["style", "vendor", "amounts", "explorer"] },
      read.services,
    ),
    sources,
    stream,
    close() {
      stream.close();
      close();
    },
  };
}
