import { type IncomingMessage, Server, type ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { createApiClient, unwrap } from "../../../sandbox/client/api-client.ts";
import { createSandbox } from "../../../sandbox/create-sandbox.ts";
import { clientAccount } from "../../../sandbox/service/keys.ts";
import { freshSandbox } from "../../kit/fresh-sandbox.ts";

const delayAccess = () => delay("request", "/v1/routing/access");

/** Holds the next request to one of the paths back, or its answer, as a slow network would, until it is sent. */
function delay(
  held: "request" | "answer",
  ...paths: string[]
): { asked: Promise<void>; send: () => void } & AsyncDisposable {
  const [asked, sent] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  Server.prototype.emit = new Proxy(Server.prototype.emit, {
    apply(target, server, args: [event: unknown, request: IncomingMessage, response: ServerResponse]) {
      const [event, request, response] = args;
      const go = () => Reflect.apply(target, server, args);
      if (event !== "request" || !paths.some((path) => request.url?.endsWith(path))) return go();
      paths.length = 0;
      if (held === "request") {
        asked.resolve();
        void sent.promise.then(go);
        return true;
      }
      response.end = new Proxy(response.end, {
        apply(end, _response, given) {
          asked.resolve();
          void sent.promise.then(() => Reflect.apply(end, response, given));
          return response;
        },
      });
      return go();
    },
  });
  return {
    asked: asked.promise,
    send: sent.resolve,
    async [Symbol.asyncDispose]() {
      Reflect.deleteProperty(Server.prototype, "emit");
    },
  };
}

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

  test.each(["client", "client.retrying"])(
    "%s renews the credential that its own request revoked after a restore",
    async (name) => {
      await using sandbox = await used();
      const client = name === "client" ? sandbox.client : sandbox.client.retrying;
      const read = async () => unwrap(await client.GET(path, { params: { path: { program } } })).id;
      const expired = await sandbox.snapshot();
      for (let round = 1; round <= 2; round += 1) {
        await expired.restore();
        await using access = delayAccess();
        const reads = [read(), read()];
        await access.asked;
        await expired.restore();
        access.send();
        expect(await Promise.all(reads)).toEqual([program, program]);
        const revoked = await sandbox.snapshot();
        expect(await read()).toBe(program);
        await revoked.restore();
        expect(await read()).toBe(program);
      }
    },
  );

  test("a given state whose credential is issued during a restore succeeds", async () => {
    const sandbox = await freshSandbox();
    const start = await sandbox.snapshot();
    await using access = delayAccess();
    const given = sandbox.given.purchase({ state: "created" });
    await access.asked;
    await start.restore();
    access.send();
    expect((await given).purchase.status).toBe("created");
    expect((await sandbox.given.purchase({ state: "created" })).purchase.status).toBe("created");
  });

  test.each([
    ["client", "valid", 0],
    ["client.retrying", "valid", 0],
    ["given", "valid", 0],
    ["client", "expired", 1],
    ["client.retrying", "expired", 1],
    ["given", "expired", 1],
  ])(
    "%s continues with the restored credential, which is %s, if a new one arrives after the restore",
    async (name, restored, issued) => {
      const sandbox = await freshSandbox();
      const { client, given, description } = sandbox;
      const reader = name === "client" ? client : client.retrying;
      const use = async () =>
        name === "given"
          ? (await given.purchase({ state: "created" })).purchase.program
          : unwrap(await reader.GET(path, { params: { path: { program } } })).id;
      await use();
      const valid = await sandbox.snapshot();
      await sandbox.clock.travel({ days: 8 });
      const start = restored === "valid" ? valid : await sandbox.snapshot();
      await using access = delay("answer", "/v1/routing/access");
      const late = use();
      await access.asked;
      await start.restore();
      access.send();
      expect([await late, await use(), await use()]).toEqual([program, program, program]);
      const log = await fetch(`${description.urls.control}/requests?operation=issueAccess`);
      expect(JSON.parse(await log.text()).data).toHaveLength(issued);
    },
  );

  test.each([
    ["client", `/programs/${program}`],
    ["client.retrying", `/programs/${program}`],
    ["given", "/merchants"],
  ])("%s sends a request again after each restore that removes its credential", async (name, held) => {
    const sandbox = await freshSandbox();
    const { client, given } = sandbox;
    const reader = name === "client" ? client : client.retrying;
    const use = async () =>
      name === "given"
        ? (await given.merchant({ state: "pending" })).merchant.program
        : unwrap(await reader.GET(path, { params: { path: { program } } })).id;
    const start = await sandbox.snapshot();
    await using first = delay("request", held);
    let request: Pick<typeof first, "asked" | "send"> = first;
    const late = use();
    for (let restores = 0; restores < 6; restores += 1) {
      await request.asked;
      await start.restore();
      const next = delay("request", held);
      request.send();
      request = next;
    }
    await request.asked;
    request.send();
    expect(await late).toBe(program);
  });

  test("requests after a restore share one request for a credential, even if one from before it is in progress", async () => {
    const { client, snapshot, description } = await freshSandbox();
    const use = async () => unwrap(await client.GET(path, { params: { path: { program } } })).id;
    const start = await snapshot();
    await using before = delayAccess();
    const reads = [use()];
    await before.asked;
    await start.restore();
    await using after = delayAccess();
    reads.push(use());
    await after.asked;
    before.send();
    await reads[0];
    reads.push(use());
    after.send();
    expect(await Promise.all(reads)).toEqual([program, program, program]);
    const log = await fetch(`${description.urls.control}/requests?operation=issueAccess`);
    expect(JSON.parse(await log.text()).data).toHaveLength(2);
  });

  test.each(["client", "given"])(
    "a write of %s after a restore has another key than one that is in progress",
    async (name) => {
      const sandbox = await freshSandbox();
      const { merchant } = await sandbox.given.purchase({ state: "created" });
      const { retrying } = sandbox.client;
      await retrying.deliver(program);
      const { address: buyer } = sandbox.wallets.buyer;
      const create = async (amount: string) =>
        name === "client"
          ? await retrying.createPurchase(merchant, { buyer, amount, terms: {} })
          : (await sandbox.given.purchase({ state: "created", amount })).purchase;
      const start = await sandbox.snapshot();
      await using late = delay("request", "/purchases");
      const first = create("1000");
      await late.asked;
      await start.restore();
      const second = create("2000");
      late.send();
      const amounts = (await Promise.all([first, second])).map(({ amount }) => amount);
      expect(amounts).toEqual(["1000", "2000"]);
    },
  );

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
    const { seed, accounts, urls } = sandbox.description;
    const account = createApiClient(urls.api, clientAccount("client", seed, accounts).key);
    const issued = unwrap(await account.POST("/v1/routing/access", { body: {} }));
    const own = createApiClient(urls.api, issued.credential);
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
