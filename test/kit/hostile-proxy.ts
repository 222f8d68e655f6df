import { once } from "node:events";
import { createServer } from "node:http";
import { hexToNumber, isHex, numberToHex } from "viem";
import { z } from "zod";

/** The failures of a provider that has limits and several nodes. */
export interface Hostility {
  /** One of so many requests is answered with 429, or its connection is cut, or it is never answered. */
  oneOf: number;
  /** The number of blocks that the newest one of some nodes is behind. */
  behind: number;
  /** The most blocks of a question for logs. */
  logBlocks: number;
}

const question = z.looseObject({
  id: z.unknown(),
  method: z.string(),
  params: z.array(z.unknown()).default([]),
});

/** A proxy in front of a node, which refuses and loses requests as a provider does, equally in each run. */
// Long: one list of failures, in their order.
export async function openHostileProxy(
  node: string,
  hostility: Hostility,
): Promise<{ url: string; counts: Map<string, number>; [Symbol.asyncDispose](): Promise<void> }> {
  const counts = new Map<string, number>();
  let requests = 0;
  const forward = async (method: string, params: unknown[]) => {
    const response = await fetch(node, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    return z
      .looseObject({ result: z.unknown(), error: z.unknown() })
      .partial()
      .parse(await response.json());
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => void answer(Buffer.concat(chunks).toString()).catch(() => response.destroy()));
    const send = (body: object, status = 200, headers = {}) =>
      response
        .writeHead(status, { "Content-Type": "application/json", ...headers })
        .end(JSON.stringify(body));
    const answer = async (text: string) => {
      requests += 1;
      const asked: unknown = JSON.parse(text);
      if (Array.isArray(asked)) return send({ error: "no batches" }, 400);
      const { id, method, params } = question.parse(asked);
      counts.set(method, (counts.get(method) ?? 0) + 1);
      const refuse = (code: number, message: string) =>
        send({ jsonrpc: "2.0", id, error: { code, message } });
      // Each failure in its turn, also after the request had its effect.
      const turn = requests % (4 * hostility.oneOf);
      if (turn === 0) return send({ error: "too many" }, 429, { "Retry-After": "0" });
      if (turn === hostility.oneOf) return response.destroy();
      if (turn === 2 * hostility.oneOf) {
        await forward(method, params);
        return response.destroy();
      }
      if (/^(?:debug|trace|txpool|anvil|evm|hardhat)_/.test(method))
        return refuse(-32_601, `the method ${method} does not exist/is not available`);
      if (method === "eth_subscribe") return refuse(-32_601, "notifications not supported");
      if (method === "eth_getLogs") {
        const { fromBlock, toBlock } = z
          .looseObject({ fromBlock: z.unknown(), toBlock: z.unknown() })
          .partial()
          .parse(params[0]);
        if (
          isHex(fromBlock) &&
          isHex(toBlock) &&
          hexToNumber(toBlock) - hexToNumber(fromBlock) >= hostility.logBlocks
        )
          return refuse(-32_005, `query exceeds max block range ${hostility.logBlocks}`);
      }
      // One node of several has fewer blocks than the others.
      const lag = requests % (hostility.behind + 1);
      const head = await forward("eth_blockNumber", []);
      const newest = isHex(head.result) ? Math.max(0, hexToNumber(head.result) - lag) : 0;
      const isAhead = (tag: unknown) => isHex(tag) && hexToNumber(tag) > newest;
      if (method === "eth_getBlockByNumber" && isAhead(params[0]))
        return send({ jsonrpc: "2.0", id, result: null });
      const seen = params.map((param) => (param === "latest" ? numberToHex(newest) : param));
      const { result, error } = await forward(method, seen);
      const mined = z.object({ blockNumber: z.string() }).safeParse(result).data?.blockNumber;
      if (method === "eth_getTransactionReceipt" && isAhead(mined))
        return send({ jsonrpc: "2.0", id, result: null });
      return send({ jsonrpc: "2.0", id, ...(error === undefined ? { result } : { error }) });
    };
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("This is no TCP server.");
  return {
    url: `http://127.0.0.1:${address.port}`,
    counts,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
