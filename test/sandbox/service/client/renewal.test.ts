import { describe, expect, test } from "vitest";
import { createSandbox } from "../../../../sandbox/create-sandbox.ts";
import { createApiClient, unwrap } from "../../../../sandbox/service/client/api-client.ts";

describe("the sandbox's own client after its credential's seven days:", () => {
  const program = "prg_demo";
  const path = "/v1/routing/programs/{program}";
  const used = async () => {
    const sandbox = await createSandbox({ seed: "expired-credential" });
    unwrap(await sandbox.client.GET(path, { params: { path: { program } } }));
    await sandbox.clock.travel({ days: 8 });
    return sandbox;
  };

  test.each(["client", "client.retrying"])("%s renews the credential, reads and writes", async (name) => {
    await using sandbox = await used();
    const client = name === "client" ? sandbox.client : sandbox.client.retrying;
    const { buyer } = sandbox.wallets;
    const read = async () => unwrap(await client.GET(path, { params: { path: { program } } })).id;
    expect(await Promise.all([read(), read(), read()])).toEqual([program, program, program]);
    await sandbox.clock.travel({ days: 8 });
    const params = { path: { program }, header: { "Idempotency-Key": "after-8-days" } };
    const body = { wallet: buyer.address, name: "Late", funding_cap: "1" };
    const answer = await client.POST(`${path}/merchants`, { params, body });
    expect(unwrap(answer)).toMatchObject({ name: "Late" });
  });

  test("a named write renews the credential and succeeds", async () => {
    await using sandbox = await used();
    const body = { wallet: sandbox.wallets.buyer.address, name: "Late", funding_cap: "1" };
    expect(await sandbox.client.retrying.createMerchant(program, body)).toMatchObject({ name: "Late" });
  });

  test("equal runs renew to equal state", async () => {
    const digest = async () => {
      await using sandbox = await used();
      unwrap(await sandbox.client.GET(path, { params: { path: { program } } }));
      return (await sandbox.fingerprint()).digest;
    };
    expect(await digest()).toBe(await digest());
  });

  test("a credential that a test issued itself still expires, and one that it revoked stays revoked", async () => {
    await using sandbox = await used();
    const [account] = sandbox.description.accounts;
    const issued = async () =>
      unwrap(
        await createApiClient(sandbox.description.urls.api, account?.key).POST("/v1/routing/access", {
          body: {},
        }),
      );
    const own = createApiClient(sandbox.description.urls.api, (await issued()).credential);
    const codes = async () => {
      const reads = [own, sandbox.client].map(async (client) => {
        const { error } = await client.GET(path, { params: { path: { program } } });
        return error?.code;
      });
      return await Promise.all(reads);
    };
    expect(await codes()).toEqual([undefined, "credential_revoked"]);
    await sandbox.clock.travel({ days: 8 });
    expect(await codes()).toEqual(["credential_expired", "credential_revoked"]);
  });
});
