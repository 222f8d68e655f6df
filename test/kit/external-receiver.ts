import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, isIPv6 } from "node:net";
import { text } from "node:stream/consumers";

/** One request that an external receiver got. */
export interface Received {
  method: string;
  url: string;
  headers: { [name: string]: string };
  body: string;
}

/** A receiver outside of the sandbox. */
export interface ExternalReceiver extends AsyncDisposable {
  url: string;
  port: number;
  received: Received[];
  /** The status of its answers; 204 by default. */
  answer: (received: Received, response: ServerResponse) => void;
}

/** Opens a receiver on a loopback address. */
export async function openReceiver(host = "127.0.0.1", port = 0): Promise<ExternalReceiver> {
  const received: Received[] = [];
  const server = createServer(async (request: IncomingMessage, response) => {
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    const { method = "", url = "" } = request;
    const one = { method, url, headers, body: await text(request) };
    received.push(one);
    receiver.answer(one, response);
  });
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  const bound = (server.address() as AddressInfo).port;
  const receiver: ExternalReceiver = {
    url: `http://${isIPv6(host) ? `[${host}]` : host}:${bound}/`,
    port: bound,
    received,
    answer: (_, response) => response.writeHead(204).end(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}
