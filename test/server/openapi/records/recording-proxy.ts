import { createServer, type IncomingMessage, request as send } from "node:http";
import { buffer } from "node:stream/consumers";

/** An answer that passed a proxy. */
export interface PassedAnswer {
  method: string;
  target: string;
  status: number;
  text: string;
}

/** Passes requests on to an API and shows every answer. */
export async function openRecordingProxy(api: string, show: (answer: PassedAnswer) => void) {
  const { promise: listening, resolve } = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    const { method = "GET", url: target = "/", headers } = request;
    const answer = await exchange(
      `${api}${target}`,
      method,
      { ...headers, host: new URL(api).host },
      await buffer(request),
    );
    const body = await buffer(answer);
    const { statusCode: status = 0 } = answer;
    show({ method, target, status, text: body.toString() });
    response.writeHead(status, answer.headers).end(body);
  });
  server.listen(0, "127.0.0.1", resolve);
  await listening;
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The proxy must listen on a port.");
  return {
    url: `http://127.0.0.1:${address.port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

async function exchange(
  url: string,
  method: string,
  headers: IncomingMessage["headers"],
  body: Buffer,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  send(url, { method, headers, agent: false }, resolve).once("error", reject).end(body);
  return await promise;
}
