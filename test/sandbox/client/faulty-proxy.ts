import { createServer, request as send } from "node:http";
import { buffer } from "node:stream/consumers";

/** The proxy's treatment of one request; after the last one it passes on all requests. */
export type Treatment = "lose request" | "lose answer" | "cut answer" | "answer 502" | "answer 503" | "pass";

/** A request as it arrived. */
export interface SeenRequest {
  key: string | undefined;
  body: string;
}

/** Starts a proxy in front of an API that loses requests and answers, and notes what it saw. */
export async function openFaultyProxy(api: string, faults: readonly Treatment[]) {
  const left = [...faults];
  const seen: SeenRequest[] = [];
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const { method, headers } = request;
    const fault = left.shift() ?? "pass";
    seen.push({ key: request.headersDistinct["idempotency-key"]?.[0], body: body.toString() });
    if (fault === "lose request") {
      request.socket.destroy();
      return;
    }
    if (fault === "answer 502") {
      response.writeHead(502).end("busy");
      return;
    }
    if (fault === "answer 503") {
      response.writeHead(503, { "Retry-After": "3600" }).end("busy");
      return;
    }
    const passed = send(new URL(request.url ?? "/", api), { method, headers }, async (answer) => {
      const bytes = await buffer(answer);
      if (fault === "lose answer") {
        request.socket.destroy();
        return;
      }
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      if (fault === "pass") response.end(bytes);
      else response.write(bytes.subarray(0, 20), () => request.socket.destroy());
    });
    passed.setHeader("host", new URL(api).host);
    passed.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
