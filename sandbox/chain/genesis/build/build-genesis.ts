import { randomUUID } from "node:crypto";
import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { isRunning } from "../../../lib/processes/processes.ts";
import { type AnvilProcess, startAnvil } from "../../anvil/start-anvil.ts";
import { type ChainClient, createChainClient } from "../../client/chain-client.ts";
import { dumpChain } from "../../client/dump-chain.ts";
import { createClock } from "../../clock/clock.ts";
import type { Accounts, GenesisDeployment } from "../deployment-record.ts";
import { findGenesis, genesisDescription, stateDigest } from "../genesis-cache.ts";
import { chainId, genesisTimestamp } from "../roles.ts";
import { deriveAccounts } from "./deploy-contracts.ts";

/** The prefix of the folder of a genesis that is being built; its builder's process id follows. */
const partPrefix = ".part-";

/** Deploys the contracts of a genesis on a fresh chain. */
export type Deploy = (
  chain: { url: AnvilProcess["url"]; client: ChainClient },
  accounts: Accounts,
) => Promise<GenesisDeployment>;

/**
 * Builds a genesis on an Anvil of its own, in a folder of its own, and moves it into place whole.
 *
 * @param target - the folder that it is found in afterwards.
 * @param signal - ends the build early.
 */
export async function buildGenesis(
  key: string,
  target: string,
  deploy: Deploy,
  signal?: AbortSignal,
): Promise<void> {
  await removeAbandonedParts(dirname(target));
  const part = join(dirname(target), `${partPrefix}${process.pid}-${randomUUID()}`);
  await mkdir(part, { recursive: true });
  try {
    const stateFile = join(part, "state.json");
    const accounts = deriveAccounts();
    const anvil = await startAnvil({
      chainId,
      genesisTimestamp,
      ...(signal === undefined ? {} : { signal }),
    });
    let deployment: GenesisDeployment;
    try {
      const client = createChainClient(anvil.url);
      await createClock(client, "deterministic");
      deployment = await deploy({ url: anvil.url, client }, accounts);
      await writeFile(stateFile, await dumpChain(client, true));
    } finally {
      await anvil.stop();
    }
    const description = { key, stateDigest: await stateDigest(stateFile), deployment, accounts };
    await writeFile(
      join(part, "genesis.json"),
      JSON.stringify(z.encode(genesisDescription, description), null, 2),
    );
    await moveIntoPlace(part, target, key);
  } finally {
    await rm(part, { recursive: true, force: true });
  }
}

// Builders of one key may run at once: each builds the same chain, and the first one whose folder is in place has won.
async function moveIntoPlace(part: string, target: string, key: string): Promise<void> {
  while (!(await tryRename(part, target)) && (await findGenesis(key, target)) === undefined) {
    // The genesis in place is broken.
    const broken = `${part}-broken`;
    await rename(target, broken).catch(ignoring("ENOENT"));
    await rm(broken, { recursive: true, force: true });
  }
}

async function tryRename(from: string, to: string): Promise<boolean> {
  return await rename(from, to).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      ignoring("ENOTEMPTY", "EEXIST")(error);
      return false;
    },
  );
}

function ignoring(...codes: readonly string[]) {
  return (error: NodeJS.ErrnoException) => {
    if (!codes.includes(error.code ?? "")) throw error;
  };
}

async function removeAbandonedParts(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const pid = Number(new RegExp(`^${partPrefix.replace(".", "\\.")}(\\d+)-`).exec(name)?.[1]);
    if (Number.isInteger(pid) && !isRunning({ pid, started: null }))
      await rm(join(folder, name), { recursive: true, force: true });
  }
}
