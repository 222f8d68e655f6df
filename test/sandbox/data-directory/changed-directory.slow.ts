import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, rmSync } from "node:fs";
import { cp, mkdir, readdir, rename, rm, truncate } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { createSandbox } from "../../../sandbox/create-sandbox.ts";
import { cli } from "../../cli/program.ts";
import { startSandbox } from "../../end-to-end/started-sandbox.ts";
import { listingOf } from "../../server/store/directory/held-disk.ts";
import { temporaryFolder } from "../../temporary-folder.ts";
import { writeMerchant } from "./write-merchant.ts";

const ports = ["api", "docs", "rpc", "control"].flatMap((name) => [`--${name}-port`, "0"]);

test.for([
  [
    "whose store is removed",
    async (directory: string) => await rm(join(directory, "store"), { recursive: true }),
    "store was removed, moved or replaced while it was in use.",
  ],
  [
    "that is moved away",
    async (directory: string) => await rename(directory, `${directory}.moved`),
    "data was removed, moved or replaced while it was in use.",
  ],
  [
    "that another sandbox has taken",
    async (directory: string) => {
      // Until it comes between two looks of the process, which writes a missing lock again.
      const take = async () => {
        await rm(join(directory, "lock.json"), { force: true });
        return await createSandbox({ dataDirectory: directory }).catch(() => null);
      };
      let other = await take();
      while (other === null) other = await take();
      await other.given.merchant({ state: "pending" });
      await other.close();
    },
    /whose lock\.json was removed\.|and the store was changed since\./,
  ],
] as const)("a process with a data directory %s says so, and exits with 1", async ([, lose, reason]) => {
  const directory = join(await temporaryFolder(), "data");
  const child = spawn(process.execPath, [cli, "start", "--data-dir", directory, ...ports], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const printed = text(child.stderr);
  const exited = once(child, "exit");
  await expect.poll(() => existsSync(join(directory, "sandbox.json"))).toBe(true);
  await lose(directory);
  expect(await exited).toEqual([1, null]);
  const lines = (await printed).trimEnd().split("\n");
  if (typeof reason === "string") expect(lines.at(-1)).toContain(reason);
  else expect(lines.at(-1)).toMatch(reason);
});

test("exec whose command removes the data directory says so, and exits with 125", async () => {
  const directory = join(await temporaryFolder(), "data");
  const command = ["--", "sh", "-c", `rm -r "${directory}"; sleep 60`];
  const child = spawn(process.execPath, [cli, "exec", "--data-dir", directory, ...ports, ...command], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const printed = text(child.stderr);
  expect(await once(child, "exit")).toEqual([125, null]);
  expect(await printed).toContain(`${directory} was removed, moved or replaced while it was in use.`);
});

test("a process that is killed after its journal was emptied has lost nothing that it acknowledged before and after", async () => {
  const directory = await temporaryFolder();
  const started = await startSandbox(directory, "--mode", "deterministic");
  const { urls, accounts, wallets } = started.description;
  const send = async (path: string, key: string, body: object, bearer: string | undefined) => {
    const headers = {
      Authorization: `Bearer ${bearer}`,
      "Content-Type": "application/json",
      "Idempotency-Key": key,
    };
    const response = await fetch(urls.api + path, { method: "POST", headers, body: JSON.stringify(body) });
    return (await response.json()) as { id: string; credential: string };
  };
  const { credential } = await send("/v1/routing/access", "access-1", {}, accounts[0]?.key);
  const write = async (name: string) => {
    const body = { wallet: wallets["merchant"]?.address, name, funding_cap: "1" };
    return (await send("/v1/routing/programs/prg_demo/merchants", `merchant-${name}`, body, credential)).id;
  };
  const ids = [await write("before")];
  await truncate(join(directory, "store", "store.journal"));
  ids.push(await write("after"));
  await started.end("SIGKILL");
  await using again = await createSandbox({ dataDirectory: directory });
  for (const id of ids) expect((await again.store.get("merchants", id))?.value).toMatchObject({ id });
});

describe("a sandbox that no longer has its data directory refuses writes, says why, and changes nothing in it:", () => {
  const losses: { readonly [loss: string]: (directory: string) => Promise<string> } = {
    "the store is removed": async (directory) => {
      await rm(join(directory, "store"), { recursive: true });
      return `${join(directory, "store")} was removed, moved or replaced while it was in use. Remove or move`;
    },
    "the store is replaced by a copy": async (directory) => {
      const store = join(directory, "store");
      await rename(store, `${store}.moved`);
      await cp(`${store}.moved`, store, { recursive: true });
      return `${store} was removed, moved or replaced while it was in use. Remove or move`;
    },
    "all in it is removed": async (directory) => {
      for (const name of await readdir(directory)) await rm(join(directory, name), { recursive: true });
      return `${join(directory, "store")} was removed, moved or replaced while it was in use. Remove or move`;
    },
    "it is removed": async (directory) => {
      await rm(directory, { recursive: true });
      return `${directory} was removed, moved or replaced while it was in use. Remove or move`;
    },
    "it is moved away": async (directory) => {
      await rename(directory, `${directory}.moved`);
      return `${directory} was removed, moved or replaced while it was in use. Remove or move`;
    },
    "it is moved away, and there is another": async (directory) => {
      await rename(directory, `${directory}.moved`);
      await mkdir(directory);
      return `${directory} was removed, moved or replaced while it was in use. Remove or move`;
    },
    "its lock was removed, and the store was changed": async (directory) => {
      // At once: the sandbox writes a lock again that it finds missing.
      rmSync(join(directory, "lock.json"));
      appendFileSync(join(directory, "store", "store.journal"), "x");
      return `${join(directory, "lock.json")} was removed while it was in use, and the store was changed since. Stop a sandbox`;
    },
  };

  const contentOf = async (directory: string) =>
    existsSync(directory)
      ? await Promise.all([listingOf(directory), listingOf(join(directory, "store")).catch(() => null)])
      : null;

  test.for(Object.entries(losses))("%s", async ([, lose]) => {
    const dataDirectory = join(await temporaryFolder(), "data");
    const sandbox = await createSandbox({ dataDirectory });
    const message = await lose(dataDirectory);
    const left = await contentOf(dataDirectory);
    expect(await writeMerchant(sandbox)).toBeNull();
    expect(await sandbox.ended).toContain(message);
    await expect(sandbox.close()).rejects.toThrow(message);
    expect(await contentOf(dataDirectory)).toEqual(left);
  });
});
