import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { readKeys, writeKeys } from "../../../sandbox/chain/connection/network-files.ts";
import { createApiClient, unwrap } from "../../../sandbox/client/api-client.ts";
import { joinSandbox } from "../../../sandbox/cluster/join-sandbox.ts";
import { createSandbox } from "../../../sandbox/create-sandbox.ts";
import { deployOn, startHardhatNode } from "../../kit/connected.ts";
import { hasPostgres, inPostgres, type PostgresServer, startPostgres } from "../../kit/postgres-server.ts";

const log = { info() {}, error() {} };

describe.skipIf(!hasPostgres)(`a sandbox that is connected to a node ${inPostgres}`, () => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(async () => {
    await server.close();
  });

  test("is joined by a second process with the keys, which the database does not have, and is resumed without a data directory", async () => {
    const { url, stop } = await startHardhatNode();
    onTestFinished(stop);
    const { folder: _, ...network } = await deployOn(url);
    const store = server.url("connected");
    {
      await using sandbox = await createSandbox({ network, store });
      await expect(joinSandbox({ store, apiPort: 0, log })).rejects.toMatchObject({ code: "option_invalid" });
      await using joined = await joinSandbox({ store, apiPort: 0, network, log });
      const { purchase } = await sandbox.given.purchase({ state: "refunded" });
      const [{ key }] = sandbox.description.accounts;
      const issued = unwrap(
        await createApiClient(joined.apiUrl, key).POST("/v1/routing/access", { body: {} }),
      );
      const { program, id } = purchase;
      const client = createApiClient(joined.apiUrl, issued.credential);
      const path = { program, id };
      const read = await client.GET("/v1/routing/programs/{program}/purchases/{id}", { params: { path } });
      expect(unwrap(read).status).toBe("refunded");
      const keys = await readKeys(network.keys);
      const kept = JSON.stringify(await server.ask("SELECT * FROM connected.about"));
      expect(kept).not.toContain(keys?.seed ?? "");
      expect(kept).toContain(sandbox.chain.deployment.epoch);
      for (const { operator, commitmentSigner } of Object.values(sandbox.chain.accounts.programs))
        for (const { privateKey } of [operator, commitmentSigner])
          expect(kept).not.toContain(privateKey.slice(2));
    }
    await using again = await createSandbox({ network, store });
    expect(await again.store.list("purchases", {})).toHaveLength(1);
  });

  test("no process uses keys with another seed than the records were made with, of which the database has no more than a digest", async () => {
    const { url, stop } = await startHardhatNode();
    onTestFinished(stop);
    const { folder, ...network } = await deployOn(url);
    const keys = await readKeys(network.keys);
    if (keys === null) throw new Error("There are no keys.");
    const others = { ...network, keys: join(folder, "others.json") };
    await writeKeys(others.keys, { ...keys, seed: `${keys.seed}0` });
    const store = server.url("seeds");
    const refusal = {
      code: "database_mismatch",
      message: expect.stringMatching(/were made with another seed than .* names\. Name the file/),
    };
    {
      await using _first = await createSandbox({ network, store });
      await expect(joinSandbox({ store, apiPort: 0, network: others, log })).rejects.toMatchObject(refusal);
    }
    await expect(createSandbox({ network: others, store })).rejects.toMatchObject(refusal);
    await using _fresh = await createSandbox({
      network: others,
      store,
      fresh: true,
      dataDirectory: join(folder, "fresh"),
    });
    await using _joined = await joinSandbox({ store, apiPort: 0, network: others, log });
    expect(JSON.stringify(await server.ask("SELECT * FROM seeds.about"))).not.toContain(keys.seed);
  });

  test("a process that joined continues when the first one has ended, and leads relay operations", async () => {
    const { url, stop } = await startHardhatNode();
    onTestFinished(stop);
    const { folder: _, ...network } = await deployOn(url);
    const store = server.url("ended");
    const sandbox = await createSandbox({ network, store });
    await using joined = await joinSandbox({ store, apiPort: 0, network, log });
    const { purchase } = await sandbox.given.purchase({ state: "created" });
    const [{ key }] = sandbox.description.accounts;
    await sandbox.close();
    const access = await createApiClient(joined.apiUrl, key).POST("/v1/routing/access", { body: {} });
    const client = createApiClient(joined.apiUrl, unwrap(access).credential);
    expect(await client.retrying.activate(purchase)).toMatchObject({ status: "active" });
  });
});
