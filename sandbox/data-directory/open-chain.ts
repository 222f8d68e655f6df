import { randomBytes } from "node:crypto";
import { toHex } from "viem";
import type { JournaledStore } from "../../server/store/journaled/journaled-store.ts";
import { connectChain } from "../chain/connection/connect-chain.ts";
import { type ChainNode, startChain } from "../chain/start-chain.ts";
import type { ClosingStack } from "../lib/closing-stack.ts";
import type { SandboxSettings } from "../options/settings.ts";
import type { StartDeadline } from "../options/start-deadline.ts";
import { placeState, refuseState } from "../snapshots/file/place-state.ts";
import type { SnapshotContent } from "../snapshots/file/snapshot-content.ts";
import { type ChainKeeper, keepChain } from "./keep-chain.ts";
import type { DataDirectory } from "./open-data-directory.ts";
import type { SandboxJournal } from "./open-journal.ts";

/** The settings of a start, and what it has opened before its chain. */
export interface ChainStart {
  settings: SandboxSettings;
  /** The snapshot file that the start loads; null for none. */
  saved: SnapshotContent | null;
  directory: DataDirectory;
  opened: ClosingStack;
  /** The files that are needed only until the chain is kept. */
  placed: ClosingStack;
  deadline: StartDeadline;
}

/** A chain that runs, and the data directory that it is kept in; nothing of it is kept in memory. */
export interface OpenedChain extends ChainKeeper {
  chain: ChainNode;
  /** The store of the data directory's journal, which has the records too; null in memory. */
  store: JournaledStore | null;
  /** Has the data directory contain this sandbox from now on. */
  begin(): Promise<void>;
}

/** Opens the journal of the data directory, starts the chain that it has, or a new one, and has what happens on the chain kept. */
export async function openChain(start: ChainStart): Promise<OpenedChain> {
  const { settings, directory, opened, deadline } = start;
  const journal = await deadline.within("the store to open", directory.openJournal());
  const started = opened.use(await startFrom(journal, start));
  if (started.isOwn) await directory.nameAnvil(started.anvil.pid);
  const chain = await deadline.within("adaptChain", settings.adaptChain(started));
  if (settings.mode === "live" && journal !== null && chain.resumed)
    await chain.clock.continueFrom(journal.store.newestTime);
  return {
    ...keepChain(chain, journal, opened, settings.log),
    chain,
    store: journal?.store ?? null,
    begin: async () => await journal?.begin(chain),
  };
}

async function startFrom(
  journal: SandboxJournal | null,
  { settings, saved, placed, deadline }: ChainStart,
): Promise<ChainNode> {
  const { mode, seed, programs, dataDirectory, network } = settings;
  if (network !== null) {
    const connecting = connectChain(network, journal?.resumed ?? false);
    return await deadline.within("the node to respond", connecting, async (late) => await late.stop());
  }
  const { registrar } = settings.contracts;
  const kept = journal?.kept ?? null;
  deadline.waitsFor("Anvil to start");
  const made = (blocks: number, all: number) => {
    deadline.waitsFor("Anvil to make the blocks of the journal again");
    deadline.restart();
    settings.onReplay(blocks, all);
  };
  const starting = startChain({
    mode,
    seed,
    programs,
    // A chain that continues has its contract already.
    ...(registrar !== null && "creation" in registrar ? { registrar } : {}),
    journaled: journal !== null,
    signal: deadline.signal,
    ...(kept === null ? {} : { kept: { ...kept, made } }),
    ...(saved === null ? {} : { saved: placed.use(await placeState(saved, dataDirectory)) }),
    ...(mode === "live" ? { random: toHex(randomBytes(32)) } : {}),
  });
  return saved === null
    ? await starting
    : await starting.catch((cause: unknown) => refuseState(saved, cause));
}
