import type { IncomingMessage, ServerResponse } from "node:http";
import { verifySharedSecret } from "../protocol/signatures/webhook.ts";
import { type Listener, listen } from "../sandbox/lib/http/listen.ts";
import { readBytes } from "../sandbox/lib/http/read-bytes.ts";
import { Waits } from "../sandbox/lib/time/waits.ts";
import { pagesOf } from "../sandbox/options/pages-of-ports.ts";
import { type Arrival, headersOf, webhookHeadersOf } from "../sandbox/receiver/arrival.ts";
import { DeliveryRecorder, type ReceiverFault } from "../sandbox/receiver/delivery-recorder.ts";
import { limits } from "../server/limits.ts";

/** A delivery that a listener got; it is not verified where the secret is not known. */
export interface HeardDelivery extends Omit<Arrival, "verified"> {
  verified: boolean | null;
}

/**
 * Opens a receiver of its own for a terminal: answers 204 to what it can verify, 401 to what does not verify, and 413 to what is longer
 * than any delivery.
 *
 * @param secret - the shared secret, asked for at each delivery; null while it is not known or cannot be read.
 * @example await openReceiver({ port: 4040, secret: async () => "whsec_…", takeFault: () => null, heard: console.log })
 */
export async function openReceiver(options: {
  port: number;
  secret: () => Promise<string | null>;
  /** Returns the fault of the next delivery, if it has one. */
  takeFault: () => ReceiverFault | null;
  heard: (delivery: HeardDelivery) => void;
}): Promise<Pick<Listener, "url" | "close">> {
  const { port, secret, takeFault, heard } = options;
  const judge = async (headers: Arrival["headers"], body: Buffer) => {
    const known = await secret().catch(() => null);
    return known === null ? null : verifySharedSecret(webhookHeadersOf(headers), body, known);
  };
  const recorder = new DeliveryRecorder({
    path: null,
    takeFault,
    waits: new Waits(),
    arrived: async (arrival, body) => heard({ ...arrival, verified: await judge(arrival.headers, body) }),
  });
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.method !== "POST") {
      response.writeHead(405, { Allow: "POST" }).end();
      return;
    }
    const body = await readBytes(request.iterator({ destroyOnReturn: false }), limits.body_bytes);
    if (body === null) {
      // The rest of the body is not read.
      response.writeHead(413, { Connection: "close" }).end();
      return;
    }
    const verified = await judge(headersOf(request), body);
    response.writeHead(verified === false ? 401 : 204).end();
  };
  const listener = await listen({ port, option: "port", pages: pagesOf.receiver });
  listener.serve({
    handle: recorder.guard((request, response) => {
      // A connection that breaks off within the body cannot be answered.
      answer(request, response).catch(() => response.destroy());
    }),
  });
  return listener;
}
