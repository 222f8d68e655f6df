import { Router } from "express";
import { StoreUnavailableError } from "../../../server/store/store.ts";
import type { ChainJournal } from "../../chain/journal/chain-journal.ts";

const path = "/chain/kept";

/**
 * Has the first process of a shared sandbox keep what has happened on the chain by now, before another one commits what relies on it.
 *
 * @throws StoreUnavailableError
 */
export async function askToKeep(controlUrl: string): Promise<void> {
  const refused = (cause: unknown) =>
    new StoreUnavailableError("The first process of the sandbox does not keep the chain.", { cause });
  const response = await fetch(new URL(path, controlUrl), { method: "POST" }).catch((cause: unknown) => {
    throw refused(cause);
  });
  if (!response.ok) throw refused(new Error(`It answered ${response.status}.`));
}

/** The part of the control API that keeps the chain for other processes of the sandbox: it changes nothing that is recorded. */
export function keptChainRoutes(journal: ChainJournal | null): Router {
  const router = Router();
  router.post(path, async (_request, response) => {
    await journal?.announce();
    response.status(204).end();
  });
  return router;
}
