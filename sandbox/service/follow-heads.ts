import type { Relayer } from "../../relayer/relayer.ts";
import type { BlockPoint } from "../../server/chain/chain-reader.ts";
import type { Log } from "../../server/http/services.ts";
import type { AnnouncedHead } from "../chain/client/watch-heads.ts";
import type { ChainNode } from "../chain/start-chain.ts";
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
  watchHeads: ChainNode["watchHeads"];
  relayer: Relayer;
  gate: RequestGate;
  log: Log;
  /** Called with every new head before it is looked at; null for the one of now. */
  announce: (head: BlockPoint | null) => void;
  /** Called when the node is gone. */
  ended?: () => void;
}): Promise<HeadFollower> {
  const { watchHeads, relayer, gate, log, announce, ended } = parts;
  let newHead = false;
  let announced: AnnouncedHead | null = null;
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
  const heads = await watchHeads({
    announce(head) {
      newHead = true;
      announced = head;
      announce(head);
      looking ??= look();
    },
    ...(ended === undefined ? {} : { ended }),
  });
  return {
    reconnect: async () => await heads.reconnect(),
    async end() {
      heads.close();
      await looking;
    },
  };
}
