import { execFile } from "node:child_process";
import { readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { createSandbox } from "../../sandbox/create-sandbox.ts";
import { Storefront, send } from "../crash/storefront.ts";
import { controlSandbox } from "../kit/control.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { type StartedSandbox, startLimited, startSandbox } from "./started-sandbox.ts";

const run = promisify(execFile);

/** Has no file of a running sandbox grow beyond a length: the write that would is carried out in part. */
async function limitFiles({ description }: StartedSandbox, bytes: number | "unlimited"): Promise<void> {
  await run("prlimit", [`--pid=${description.pid}`, `--fsize=${bytes}:unlimited`]);
}

/** A sandbox that has answered a write, which is in its journal alone. */
async function answeredSandbox() {
  const folder = await temporaryFolder();
  const sandbox = await startSandbox(folder);
  const storefront = await Storefront.open(sandbox.description);
  const request = await storefront.prepare("offer");
  const answer = await send(sandbox.description, storefront.credential, request);
  expect(answer.status).toBe(200);
  const journal = await stat(join(folder, "store", "store.journal"));
  expect(journal.size).toBeGreaterThan(0);
  const requireAnswer = async (again: Pick<StartedSandbox, "description">) =>
    expect(await send(again.description, storefront.credential, request)).toEqual({
      ...answer,
      replayed: true,
    });
  return { folder, sandbox, requireAnswer };
}

describe.skipIf(process.platform !== "linux")(
  "a snapshot of the store of which the disk takes only a part",
  () => {
    test("leaves the journal in place at a stop, and the next start has everything that was answered", async () => {
      const { folder, sandbox, requireAnswer } = await answeredSandbox();
      await limitFiles(sandbox, 20_000);
      expect(await sandbox.end("SIGINT")).toBe(0);
      await using again = await createSandbox({ dataDirectory: folder });
      await requireAnswer(again);
    });

    test("refuses a restore, which changes nothing, even if the process is killed right afterwards", async () => {
      const { folder, sandbox, requireAnswer } = await answeredSandbox();
      await controlSandbox(sandbox.description, "POST", "/snapshots");
      await limitFiles(sandbox, 20_000);
      const restore = await fetch(`${sandbox.description.urls.control}/snapshots/1/restore`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: "{}",
      });
      expect(await restore.json()).toMatchObject({ status: 503, code: "storage_unavailable" });
      await requireAnswer(sandbox);
      await sandbox.end("SIGKILL");
      await using again = await createSandbox({ dataDirectory: folder });
      await requireAnswer(again);
    });
  },
);

test("a data directory whose store.json is missing stops the start, and its journal stays as it is", async () => {
  const { folder, sandbox } = await answeredSandbox();
  await sandbox.end("SIGKILL");
  const store = join(folder, "store");
  await rm(join(store, "store.json"));
  const files = async () =>
    await Promise.all(
      (await readdir(store)).map(async (name) => [name, (await readFile(join(store, name))).toString()]),
    );
  const before = await files();
  await expect(createSandbox({ dataDirectory: folder })).rejects.toThrow(
    `${join(store, "store.json")} is missing, although ${join(store, "chain.json")} is there. Restore it from a backup`,
  );
  expect(await files()).toEqual(before);
});

describe.skipIf(process.platform === "win32")("a sandbox whose files may not grow beyond 100 blocks", () => {
  test("does not start a fresh one: the store is named with the reason, and the next start without the limit succeeds", async () => {
    const folder = await temporaryFolder();
    await expect(startLimited(100, folder)).rejects.toThrow(
      `The sandbox ended with 1:\nStarting chain, relayer, API and documentation …\nThe store in ${join(folder, "store")} cannot be opened: the file would be larger than this user may write (EFBIG`,
    );
    await using sandbox = await createSandbox({ dataDirectory: folder });
    expect(sandbox.chain.resumed).toBe(false);
  });

  test("continues an existing sandbox, refuses a write and a checkpoint that are too large, keeps Anvil running, and ends with its own exit code", async () => {
    const { folder, sandbox, requireAnswer } = await answeredSandbox();
    await sandbox.end("SIGKILL");
    const limited = await startLimited(100, folder);
    const { control } = limited.description.urls;
    const mine = async () =>
      await fetch(`${control}/blocks`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: '{"blocks":200}',
      });
    const answers = [await mine(), await mine(), await mine()];
    expect(answers.map(({ status }) => status)).toContain(503);
    await requireAnswer(limited);
    expect(await controlSandbox(limited.description, "GET", "/explorer/overview")).toMatchObject({
      anvil_restarts: 0,
    });
    // A refused write is not stored at the stop either.
    expect(await limited.end("SIGINT")).toBe(1);
    await using again = await createSandbox({ dataDirectory: folder });
    await requireAnswer(again);
  });
});
