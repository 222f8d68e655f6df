import type { IncomingMessage, ServerResponse } from "node:http";
import { buffer as readWhole } from "node:stream/consumers";
import { verifySharedSecret } from "../protocol/signatures/webhook.ts";
import { type Listener, listen } from "../sandbox/lib/http/listen.ts";
import { Waits } from "../sandbox/lib/time/waits.ts";
import { pagesOf } from "../sandbox/options/pages-of-ports.ts";
import { type Arrival, headersOf, webhookHeadersOf } from "../sandbox/service/receiver/arrival.ts";
import { type ReceiverFault, ReceiverTap } from "../sandbox/service/receiver/receiver-tap.ts";

/** A delivery that a listener got; it is not verified where the secret is not known. */
export interface HeardDelivery extends Omit<Arrival, "verified"> {
  verified: boolean | null;
}

/**
 * Opens a receiver of its own for a terminal: answers 204 to what it can verify and 401 to what does not verify.
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
  const tap = new ReceiverTap({
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
    const verified = await judge(headersOf(request), await readWhole(request));
    response.writeHead(verified === false ? 401 : 204).end();
  };
  const listener = await listen({ port, option: "port", pages: pagesOf.receiver });
  listener.serve({
    handle: tap.guard((request, response) => {
      // A connection that breaks off within the body cannot be answered.
      answer(request, response).catch(() => response.destroy());
    }),
  });
  return listener;
}
