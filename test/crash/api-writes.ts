import { join } from "node:path";
import { expect, test } from "vitest";
import { requestAccess } from "../../sandbox/client/access/request-access.ts";
import { createSandbox, type Sandbox } from "../../sandbox/create-sandbox.ts";
import { isRunning } from "../../sandbox/lib/processes/processes.ts";
import type { SandboxDescription } from "../../sandbox/options/description.ts";
import { withoutPorts } from "../../sandbox/snapshots/fingerprint.ts";
import { openDirectoryStore } from "../../server/store/directory/directory-store.ts";
import type { StoreImage } from "../../server/store/store.ts";
import { controlSandbox } from "../kit/control.ts";
import { type Write, writes } from "../sandbox/faults/writes.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { start } from "./crash-series.ts";

/**
 * Kills a real sandbox before and after each write is committed, restarts it, repeats the request under the same key, and expects what a
 * run without a kill records.
 */
export function crashAtWrites(operations: readonly string[]): void {
  test.each(operations)(
    "killed before and after the commit, %s has one effect and one answer to the byte",
    async (operation) => {
      const prepare = writes[operation];
      if (prepare === undefined) throw new Error(`There is no write ${operation}.`);
      const expected = await withoutKill(prepare);
      const folder = await temporaryFolder();
      const { write, bearer } = await prepared({ dataDirectory: folder }, prepare);
      let sandbox = await start(folder);
      for (const point of ["before_commit", "after_commit"]) {
        const { description } = sandbox;
        await controlSandbox(description, "POST", "/faults", { intent: "crash", point, operation });
        await expect(send(description, write, bearer)).rejects.toThrow();
        await expect.poll(() => isRunning({ pid: description.pid, started: null })).toBe(false);
        sandbox = await start(folder);
      }
      const answer = await send(sandbox.description, write, bearer);
      expect(answer).toEqual(expected.answer);
      expect(await send(sandbox.description, write, bearer)).toEqual(answer);
      await sandbox.end("SIGTERM");
      const store = await openDirectoryStore(join(folder, "store"));
      expect(keysOf(await store.export())).toEqual(expected.records);
      await store.close();
    },
    60_000,
  );
}

type Prepare = (sandbox: Sandbox) => Promise<Write>;

/** Opens a sandbox, brings it to where the write is due, and does something there. */
async function prepared<T = void>(
  options: { dataDirectory?: string },
  prepare: Prepare,
  then?: (sandbox: Sandbox, write: Write, bearer: string) => Promise<T>,
) {
  await using sandbox = await createSandbox({ seed: "api-writes", ...options });
  const write = await prepare(sandbox);
  const { urls, accounts } = sandbox.description;
  const { credential } = await requestAccess(urls.api, accounts[0]?.key ?? "", fetch);
  return { write, bearer: credential, done: await then?.(sandbox, write, credential) };
}

/** The answer and the records of a run in which nothing is killed. */
async function withoutKill(prepare: Prepare) {
  const { done } = await prepared({}, prepare, async ({ description, store }, write, bearer) => ({
    answer: await send(description, write, bearer),
    records: keysOf(await store.export()),
  }));
  return { answer: done?.answer, records: done?.records };
}

/** Sends a write under one key; the ports, which differ after each start, are left out of its answer. */
async function send({ urls }: SandboxDescription, { path, body, headers }: Write, bearer: string) {
  const response = await fetch(`${urls.api}${path}`, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${bearer}`,
      "Content-Type": "application/json",
      "Idempotency-Key": "api-writes-0001",
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, text: withoutPorts(text) };
}

/** The key of every record, by collection. */
function keysOf({ collections }: StoreImage): { [collection: string]: string[] } {
  return Object.fromEntries(
    Object.entries(collections).map(([name, records]) => [name, Object.keys(records).sort()]),
  );
}
