import { once } from "node:events";
import { hexToNumber } from "viem";
import { z } from "zod";
import { hexSchema } from "../../relayer/node/node-schemas.ts";
import type { Relayer } from "../../relayer/relayer.ts";
import type { BlockPoint } from "../../server/chain/chain-reader.ts";
import type { Log } from "../../server/services.ts";
import { AnvilSilentError } from "../chain/client/anvil-silent-error.ts";
import { openDirectSocket } from "../lib/http/direct/open-direct-socket.ts";
import type { RequestGate } from "../lib/http/request-gate.ts";

/** A follower of a chain's heads. */
export interface HeadFollower {
  /** Follows the node that answers now, whose connection is a new one. */
  reconnect(): Promise<void>;
  /** Ends it, once the check in progress has ended. */
  end(): Promise<void>;
}

/**
 * Has the relayer follow the chain: whenever the node announces a head, blocks of a reorg included, one look at it.
 *
 * Heads that come during a look make one more look together. Looks are held back like requests, so that no snapshot has half of one.
 *
 * @throws AnvilSilentError when the node cannot be reached.
 */
export async function followHeads(parts: {
  /** Returns where the node's HTTP server is now, which has its WebSocket, too. */
  urlNow: () => string;
  relayer: Relayer;
  gate: RequestGate;
  log: Log;
  /** Called with every new head before it is looked at; null for the one of now. */
  announce: (head: BlockPoint | null) => void;
  /** Called when the node is gone. */
  ended?: () => void;
}): Promise<HeadFollower> {
  const { urlNow, relayer, gate, log, announce, ended } = parts;
  let newHead = false;
  let announced: Announced | null = null;
  let looking: Promise<void> | null = null;
  const look = async () => {
    try {
      while (newHead) {
        newHead = false;
        const head = announced ?? undefined;
        await gate.runShared("the relayer's look at the chain", async () => await relayer.follow(head));
      }
    } catch (error) {
      log.error({ causes: String(error) }, "following the chain");
    } finally {
      looking = null;
    }
  };
  const open = async () => {
    const socket = openDirectSocket(urlNow());
    socket.on("message", (message) => {
      newHead = true;
      announced = readHead(String(message));
      announce(announced);
      looking ??= look();
    });
    // A close follows.
    socket.on("error", () => {});
    await once(socket, "open").catch(() => {
      throw new AnvilSilentError("Anvil accepts no connection, or has closed it.");
    });
    if (ended !== undefined) socket.once("close", ended);
    // Its confirmation is the first message, so that the head of now is looked at too.
    socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_subscribe", params: ["newHeads"] }));
    return socket;
  };
  let socket = await open();
  return {
    async reconnect() {
      socket.close();
      socket = await open();
    },
    async end() {
      socket.close();
      await looking;
    },
  };
}

const quantity = hexSchema.transform((value) => hexToNumber(value));

const announcement = z.object({
  params: z.object({
    result: z.object({ number: quantity, hash: hexSchema, parentHash: hexSchema, timestamp: quantity }),
  }),
});

/** A head that the node has announced. */
type Announced = z.infer<typeof announcement>["params"]["result"];

/** Reads the head that the node announces; null for the confirmation of the subscription. */
function readHead(message: string): Announced | null {
  return announcement.safeParse(JSON.parse(message)).data?.params.result ?? null;
}
