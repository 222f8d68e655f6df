import { once } from "node:events";
import { WebSocket } from "ws";
import type { Relayer } from "../../relayer/relayer.ts";
import type { Log } from "../../server/services.ts";
import type { RequestGate } from "../lib/http/request-gate.ts";

/**
 * Has the relayer follow the chain: whenever the node announces a head, blocks of a reorg included, one look at it.
 *
 * Heads that come during a look make one more look together. Looks are held back like requests, so that no snapshot has half of one.
 *
 * @returns a function that ends it, once the look under way has ended.
 */
export async function followHeads(parts: {
  /** The node's WebSocket, which has the address of its HTTP server. */
  url: string;
  relayer: Relayer;
  gate: RequestGate;
  log: Log;
  /** Is told of every new head before it is looked at. */
  announce: () => void;
  /** Is told when the node is gone. */
  ended?: () => void;
}): Promise<() => Promise<void>> {
  const { url, relayer, gate, log, announce, ended } = parts;
  let newHead = false;
  let looking: Promise<void> | null = null;
  const look = async () => {
    try {
      while (newHead) {
        newHead = false;
        await gate.runShared("the relayer's look at the chain", async () => await relayer.follow());
      }
    } catch (error) {
      log.error({ causes: String(error) }, "following the chain");
    } finally {
      looking = null;
    }
  };

  const socket = new WebSocket(url.replace(/^http/, "ws"), { perMessageDeflate: false });
  socket.on("message", () => {
    newHead = true;
    announce();
    looking ??= look();
  });
  // Rejects with what keeps it from opening.
  await once(socket, "open");
  // A close follows.
  socket.on("error", () => {});
  if (ended !== undefined) socket.once("close", ended);
  // Its confirmation is the first message, so that the head of now is looked at too.
  socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_subscribe", params: ["newHeads"] }));
  return async () => {
    socket.close();
    await looking;
  };
}
