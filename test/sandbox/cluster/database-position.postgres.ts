import { execFile } from "node:child_process";
import { cp, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Finding } from "../../../cli/doctor/finding.ts";
import { createSandbox, type Sandbox } from "../../../sandbox/create-sandbox.ts";
import { tryCli } from "../../cli/run-cli.ts";
import { startSandbox } from "../../end-to-end/started-sandbox.ts";
import { hasPostgres, inPostgres, type PostgresServer, startPostgres } from "../../kit/postgres-server.ts";
import { temporaryFolder } from "../../temporary-folder.ts";
import { joinAs, runSandbox } from "./joined-process.ts";

const tables = ["about", "counters", "records"];

describe.skipIf(!hasPostgres)(`a data directory and its database ${inPostgres}`, () => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(async () => {
    await server.close();
  });

  /** Where a new sandbox has its chain and its records. */
  async function newPlace(schema: string) {
    const dataDirectory = join(await temporaryFolder(), "data");
    return { schema, dataDirectory, copy: `${dataDirectory}-copy`, store: server.url(schema) };
  }
  type Place = Awaited<ReturnType<typeof newPlace>>;

  async function run<T>({ dataDirectory, store }: Place, use: (sandbox: Sandbox) => Promise<T>): Promise<T> {
    await using sandbox = await createSandbox({ dataDirectory, store });
    return await use(sandbox);
  }

  const reopen = async ({ dataDirectory, store }: Place) => await createSandbox({ dataDirectory, store });
  const pay = async (sandbox: Sandbox) => await sandbox.given.purchase({ state: "paid" });
  const countPurchases = async ({ store }: Sandbox) => (await store.list("purchases", {})).length;

  /** Starts a program whose `--store` is in the environment. */
  async function withStore<T>({ store }: Place, start: () => Promise<T>): Promise<T> {
    process.env["ROUTING_SANDBOX_STORE"] = store;
    try {
      return await start();
    } finally {
      delete process.env["ROUTING_SANDBOX_STORE"];
    }
  }

  async function backUpDatabase({ schema }: Place): Promise<void> {
    await server.ask(`CREATE SCHEMA ${schema}_copy`);
    for (const table of tables)
      await server.ask(`CREATE TABLE ${schema}_copy.${table} AS TABLE ${schema}.${table}`);
  }

  async function restoreDatabase({ schema }: Place): Promise<void> {
    for (const table of tables) {
      await server.ask(`DELETE FROM ${schema}.${table}`);
      await server.ask(`INSERT INTO ${schema}.${table} SELECT * FROM ${schema}_copy.${table}`);
    }
  }

  async function restoreDirectory({ dataDirectory, copy }: Place): Promise<void> {
    await rm(dataDirectory, { recursive: true });
    await rename(copy, dataDirectory);
  }

  const mismatch = (found: RegExp) => ({
    name: "SandboxError",
    code: "database_mismatch",
    message: expect.stringMatching(found),
  });
  const advice =
    "Put both back to backups of the same moment, or choose another data directory \\(the option dataDirectory\\) and schema \\(\\?schema= in the option store\\)\\.$";

  test("are compared by doctor, which finds what a start would refuse, and changes nothing", async () => {
    const place = await newPlace("examined");
    const doctor = async ({ dataDirectory }: Pick<Place, "dataDirectory">) => {
      const { stdout } = await tryCli(["doctor", "--json", "--data-dir", dataDirectory]);
      const findings: Finding[] = JSON.parse(stdout).findings;
      return findings.filter(({ ok, check }) => !ok && ["database", "store"].includes(check));
    };
    const other = await newPlace("another");
    const found = (check: string, text: string) => [
      expect.objectContaining({ check, found: expect.stringContaining(text) }),
    ];
    const isOfAnother = found("database", "holds what belongs to another chain");
    expect(await withStore(place, async () => await doctor(place))).toEqual([]);
    expect(await server.ask("SELECT 1 FROM pg_namespace WHERE nspname = 'examined'")).toEqual([]);
    await run(place, pay);
    // In live mode, a chain has the time of its start.
    const { dataDirectory, store } = other;
    await (await createSandbox({ dataDirectory, store, mode: "live" })).close();
    expect(await withStore(place, async () => await doctor(place))).toEqual([]);
    expect(await doctor(place)).toEqual(found("store", "and --store is missing"));
    expect(await withStore(other, async () => await doctor(place))).toEqual(isOfAnother);
    const inFiles = await newPlace("files");
    await (await createSandbox({ dataDirectory: inFiles.dataDirectory })).close();
    expect(await withStore(inFiles, async () => await doctor(inFiles))).toEqual([
      expect.objectContaining({
        check: "store",
        found: expect.stringContaining("Leave out ROUTING_SANDBOX_STORE"),
      }),
      ...found("database", "holds nothing of this sandbox's chain"),
    ]);
    const gone = await newPlace("gone");
    expect(await withStore(place, async () => await doctor(gone))).toEqual(isOfAnother);
    await server.ask("CREATE ROLE reader LOGIN");
    const reader = { ...gone, store: gone.store.replace("sandbox:", "reader:") };
    expect(await withStore(reader, async () => await doctor(gone))).toEqual(
      found("database", "(42501). The role lacks a right."),
    );
    await server.ask("ALTER ROLE reader SET default_transaction_read_only = on");
    expect(await withStore(reader, async () => await doctor(gone))).toEqual(
      found("database", "(25006). It can only be read."),
    );
  });

  test("are refused when the directory is older than the database, and accepted when both are put back", async () => {
    const place = await newPlace("older_directory");
    await run(place, pay);
    await cp(place.dataDirectory, place.copy, { recursive: true });
    await backUpDatabase(place);
    await run(place, pay);
    await restoreDirectory(place);
    const refused = mismatch(
      new RegExp(
        `^The data directory has \\d+ records of the chain, and the database \\(.+\\) relies on \\d+: the data directory is older than the other\\. ${advice}`,
      ),
    );
    await expect(reopen(place)).rejects.toMatchObject(refused);
    await expect(reopen(place)).rejects.toMatchObject(refused);
    await restoreDatabase(place);
    expect(await run(place, countPurchases)).toBe(1);
  });

  test("are refused when the database is older than the directory, even by commits without a block", async () => {
    const place = await newPlace("older_database");
    await run(place, pay);
    await backUpDatabase(place);
    await run(place, async (sandbox) => await sandbox.given.purchase({ state: "created" }));
    await restoreDatabase(place);
    await expect(reopen(place)).rejects.toMatchObject(
      mismatch(
        new RegExp(
          `^The database \\(.+\\) has \\d+ commits, and the data directory knows of \\d+: the database is older than the other\\. ${advice}`,
        ),
      ),
    );
  });

  test("are refused when the database lacks what a joined process has committed", async () => {
    const place = await newPlace("older_than_joined");
    await run(place, pay);
    await backUpDatabase(place);
    const owner = await runSandbox({ dataDirectory: place.dataDirectory, store: place.store });
    const member = await withStore(place, async () => await joinAs(owner.description));
    const [account] = owner.description.accounts;
    for (let count = 0; count < 2; count += 1) {
      const answer = await fetch(new URL("/v1/routing/access", member.description.urls.api), {
        method: "POST",
        headers: { Authorization: `Bearer ${account?.key}` },
      });
      expect(answer.status).toBe(201);
    }
    await member.end("SIGTERM");
    await owner.end("SIGTERM");
    await restoreDatabase(place);
    await expect(reopen(place)).rejects.toMatchObject(mismatch(/the database is older/));
  });

  test("are refused when one of them alone was restored to a snapshot", async () => {
    const place = await newPlace("restored_alone");
    await run(place, pay);
    const restored = async () =>
      await run(place, async (sandbox) => {
        const snapshot = await sandbox.snapshot();
        await pay(sandbox);
        await snapshot.restore();
        expect(await countPurchases(sandbox)).toBe(1);
      });
    await restored();
    await cp(place.dataDirectory, place.copy, { recursive: true });
    await backUpDatabase(place);
    await restored();
    await cp(place.dataDirectory, `${place.copy}-2`, { recursive: true });
    await restoreDirectory(place);
    await expect(reopen(place)).rejects.toMatchObject(mismatch(/the data directory is older/));
    await rename(`${place.copy}-2`, place.copy);
    await restoreDirectory(place);
    await restoreDatabase(place);
    await expect(reopen(place)).rejects.toMatchObject(mismatch(/the database is older/));
  });

  test("are accepted after a kill at any moment", async () => {
    const place = await newPlace("killed");
    await run(place, pay);
    for (const after of [0, 1, 2, 3]) {
      const killed = await runSandbox({ dataDirectory: place.dataDirectory, store: place.store });
      const given = new URL("/given", killed.description.urls.control);
      const ask = async () =>
        await fetch(given, {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify({ purchase: { state: "refunded" } }),
        }).catch(() => null);
      for (let done = 0; done < after; done += 1) expect((await ask())?.status).toBe(201);
      const underWay = ask();
      await killed.end("SIGKILL");
      await underWay;
    }
    expect(await run(place, countPurchases)).toBeGreaterThanOrEqual(7);
  });

  test.skipIf(process.platform !== "linux")(
    "stay as they are when the directory does not take a restore",
    async () => {
      const place = await newPlace("refused_restore");
      const sandbox = await withStore(place, async () => await startSandbox(place.dataDirectory));
      const { control } = sandbox.description.urls;
      const post = async (path: string, body: object = {}) => {
        const answer = await fetch(new URL(path, control), {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify(body),
        });
        return { status: answer.status, body: JSON.parse((await answer.text()) || "null") };
      };
      const limit = async (bytes: string) =>
        await promisify(execFile)("prlimit", [
          `--pid=${sandbox.description.pid}`,
          `--fsize=${bytes}:unlimited`,
        ]);
      const count = async () =>
        Number(
          (
            await server.ask("SELECT count(*) FROM refused_restore.records WHERE collection = 'purchases'")
          )[0]?.["count"],
        );
      const { body: snapshot } = await post("/snapshots");
      await post("/given", { purchase: { state: "paid" } });
      expect(await count()).toBe(1);
      await limit("1");
      const refused = await post(`/snapshots/${snapshot.number}/restore`);
      expect(refused).toMatchObject({ status: 503, body: { code: "storage_unavailable" } });
      expect(await count()).toBe(1);
      await limit("unlimited");
      expect((await post(`/snapshots/${snapshot.number}/restore`)).status).toBe(200);
      expect(await count()).toBe(0);
      await sandbox.end("SIGTERM");
      expect(await run(place, countPurchases)).toBe(0);
    },
  );
});
