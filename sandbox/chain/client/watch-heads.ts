import { once } from "node:events";
import { hexToNumber } from "viem";
import { z } from "zod";
import { hexSchema } from "../../../relayer/node/node-schemas.ts";
import { openDirectSocket } from "../../lib/http/direct/open-direct-socket.ts";
import { AnvilSilentError } from "./anvil-silent-error.ts";

const quantity = hexSchema.transform((value) => hexToNumber(value));

/** The schema of a head as a node announces it. */
export const announcedHead = z.object({
  number: quantity,
  hash: hexSchema,
  parentHash: hexSchema,
  timestamp: quantity,
});

/** A head that a node has announced. */
export type AnnouncedHead = z.infer<typeof announcedHead>;

/** Gets the heads of a chain. */
export interface HeadWatcher {
  /** Called with each new head; null for the head of now. */
  announce: (head: AnnouncedHead | null) => void;
  /** Called when the node is gone. */
  ended?: () => void;
}

/** The heads of a chain, which are announced until this is closed. */
export interface WatchedHeads {
  /** Watches the node that answers now, whose connection is a new one. */
  reconnect(): Promise<void>;
  close(): void;
}

const announcement = z.object({ params: z.object({ result: announcedHead }) });

/**
 * Has Anvil announce its heads, blocks of a reorg included.
 *
 * @param urlNow - returns where Anvil's HTTP server is now, which has its WebSocket, too.
 * @throws AnvilSilentError when Anvil cannot be reached.
 */
export async function watchAnvil(
  urlNow: () => string,
  { announce, ended }: HeadWatcher,
): Promise<WatchedHeads> {
  const open = async () => {
    const socket = openDirectSocket(urlNow());
    socket.on("message", (message) =>
      // The confirmation of the subscription has none.
      announce(announcement.safeParse(JSON.parse(String(message))).data?.params.result ?? null),
    );
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
    close: () => socket.close(),
  };
}
