import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { examineParts } from "../../../cli/doctor/services.ts";
import { joinSandbox } from "../../../sandbox/cluster/join-sandbox.ts";
import { controlOperations } from "../../../sandbox/control/table.ts";
import { createSandbox } from "../../../sandbox/create-sandbox.ts";
import type { PurchaseView } from "../../../sandbox/explorer/views.ts";
import type { ViewPage } from "../../../sandbox/lib/page.ts";
import type { SandboxDescription } from "../../../sandbox/options/description.ts";
import type { Arrival } from "../../../sandbox/receiver/arrival.ts";
import { receiveNotification } from "../../../server/notifications/receive-notification.ts";
import { operations } from "../../../server/operations.ts";
import { purchaseSchema } from "../../../server/schemas/purchases.ts";
import { actorsOf } from "../../../testkit/demo/actors.ts";
import { silentPrinter } from "../../../testkit/demo/printer.ts";
import { Session } from "../../../testkit/demo/session.ts";
import { enrollMerchant } from "../../../testkit/demo/show-merchant.ts";
import { codeOf, expectBooksToBalance, operationIn, readTransactions } from "../../crash/books.ts";
import { type RelayedRequest, send } from "../../crash/storefront.ts";
import { type StartedSandbox, startSandbox } from "../../end-to-end/started-sandbox.ts";
import { controlSandbox } from "../../kit/control.ts";
import { portOf } from "../../kit/free-port.ts";
import {
  hasPostgres,
  inPostgres,
  type PostgresServer,
  password,
  startPostgres,
} from "../../kit/postgres-server.ts";
import { temporaryFolder } from "../../temporary-folder.ts";
import { openStream } from "../explorer/read-stream.ts";
import { haveLead, joinAs, leaderOf, type RunningProcess } from "./joined-process.ts";

const silent = { info() {}, error() {} };

/** Opens a way over TCP to a database that listens at a Unix socket; `silence` keeps its connections, and lets nothing through any more. */
async function openWay(to: string): Promise<{ url: string; silence(): void }> {
  const socket = join(new URL(to).searchParams.get("host") ?? "", ".s.PGSQL.5432");
  let isSilent = false;
  const open = new Set<Socket>();
  const way = createServer((near) => {
    const far = connect(socket);
    for (const one of [near, far]) open.add(one.on("error", () => {}));
    near.on("data", (bytes) => isSilent || far.write(bytes));
    far.on("data", (bytes) => isSilent || near.write(bytes));
    near.on("close", () => far.destroy());
    far.on("close", () => near.destroy());
  }).listen(0, "127.0.0.1");
  await once(way, "listening");
  onTestFinished(() => {
    way.close();
    for (const one of open) one.destroy();
  });
  const url = new URL(to);
  url.searchParams.delete("host");
  url.hostname = "127.0.0.1";
  url.port = String(portOf(way));
  return {
    url: url.href,
    silence() {
      isSilent = true;
    },
  };
}

type Where = Pick<SandboxDescription, "urls">;

describe.skipIf(!hasPostgres)(`two processes ${inPostgres}:`, () => {
  let server: PostgresServer;
  let folder: string;
  let owner: StartedSandbox;
  let member: RunningProcess;
  let credential: string;
  let merchant: string;
  let count = 0;
  const offers: RelayedRequest[] = [];

  beforeAll(async () => {
    server = await startPostgres();
    folder = await mkdtemp(join(tmpdir(), "routing-sandbox-shared-"));
    // From the environment, where no list of processes shows it.
    process.env["ROUTING_SANDBOX_STORE"] = server.url("shared");
    owner = await startSandbox(folder, "--mode", "deterministic");
    const session = await Session.open(actorsOf(owner.description), silentPrinter);
    ({ id: merchant } = await enrollMerchant(session));
    ({ credential } = session);
    member = await joinAs(owner.description);
  }, 60_000);

  afterAll(async () => {
    delete process.env["ROUTING_SANDBOX_STORE"];
    await member.end("SIGTERM");
    await owner.end("SIGTERM");
    await server.close();
    await rm(folder, { recursive: true, force: true });
  });

  const both = () => [owner.description, member.description] as const;
  const path = (step: string) => `/v1/routing/programs/${owner.description.accounts[0]?.program}${step}`;
  const creation = () => {
    count += 1;
    const { buyer, beneficiary } = owner.description.wallets;
    return {
      path: path("/purchases"),
      key: `two-processes-${count}`,
      body: {
        merchant_id: merchant,
        buyer: buyer?.address ?? "",
        beneficiary: beneficiary?.address ?? "",
        amount: "1000",
        terms: { count },
      },
    };
  };
  const offer = async (where: Where): Promise<RelayedRequest> => {
    const { text } = await send(where, credential, creation());
    const { id, commitment } = purchaseSchema.parse(JSON.parse(text));
    const request: RelayedRequest = {
      kind: "offer",
      success: 200,
      purchase: id,
      commitment: commitment.hash,
      path: path(`/purchases/${id}/activate`),
      key: `activate-${id}`,
      body: { commitment_hash: commitment.hash },
    };
    offers.push(request);
    return request;
  };
  const untilDone = async (where: Where, request: RelayedRequest) => {
    for (;;) {
      const answer = await send(where, credential, request);
      if (answer.status !== 202) return answer;
    }
  };
  const leader = async () => await leaderOf(server, "shared");

  test("one process reads at once what the other has written, and a credential counts in both", async () => {
    const { text } = await send(owner.description, credential, creation());
    const { id } = purchaseSchema.parse(JSON.parse(text));
    const read = async (where: Where) => {
      const url = new URL(path(`/purchases/${id}`), where.urls.api);
      return await (await fetch(url, { headers: { Authorization: `Bearer ${credential}` } })).json();
    };
    expect(await read(member.description)).toMatchObject({ id, status: "created" });
  });

  test("the explorer of one process receives what the other has committed", async () => {
    const { control } = owner.description.urls;
    const stream = await openStream(`${control}/stream`);
    onTestFinished(() => stream.close());
    const { text } = await send(member.description, credential, creation());
    const { id } = purchaseSchema.parse(JSON.parse(text));
    expect(await stream.change("everything")).toMatchObject({ topics: ["everything"] });
    const listed = await fetch(`${control}/explorer/purchases`);
    const { data }: ViewPage<PurchaseView> = JSON.parse(await listed.text());
    expect(data.map((purchase) => purchase.id)).toContain(id);
  });

  test("a key sent to both processes at once has one effect, and the other answers the same bytes", async () => {
    const requests = Array.from({ length: 10 }, creation);
    const answers = await Promise.all(
      requests.map(async (request) => await Promise.all(both().map((one) => send(one, credential, request)))),
    );
    const ids = new Set<string>();
    for (const [left, right] of answers) {
      expect(left?.status).toBe(201);
      expect(right).toEqual({ ...left, replayed: !left?.replayed });
      ids.add(purchaseSchema.parse(JSON.parse(left?.text ?? "")).id);
    }
    expect(ids.size).toBe(10);
    const other = { ...requests[0], body: { ...requests[0]?.body, amount: "2000" } };
    const reused = await send(member.description, credential, { ...creation(), ...other });
    expect([reused.status, codeOf(reused)]).toEqual([422, "idempotency_key_reused"]);
  });

  test("both relay each effect once without a gap in the nonces when they are asked at once", async () => {
    const requests = await Promise.all(
      Array.from({ length: 6 }, async (_, index) => await offer(both()[index % 2] ?? owner.description)),
    );
    const sent = requests.map(async (request) => {
      const first = await Promise.all(both().map((one) => send(one, credential, request)));
      for (const { status } of first) expect([200, 202, 409]).toContain(status);
      const answers = await Promise.all(both().map((one) => untilDone(one, request)));
      expect(answers.map(({ text }) => text)).toEqual([answers[0]?.text, answers[0]?.text]);
      const renamed = await send(member.description, credential, { ...request, key: `${request.key}-again` });
      expect([renamed.status, codeOf(renamed)]).toEqual([409, "state_conflict"]);
    });
    await Promise.all(sent);
    await expectBooksToBalance(owner.description, credential, offers);
  });

  test("a process that leads and is killed while it holds a key leaves the key to the next one", async () => {
    await haveLead(server, "shared", member.description);
    const request = await offer(owner.description);
    await controlSandbox(owner.description, "POST", "/mining", { every: "never" });
    // The owner hands it to the member, which sends the transaction and waits for its block.
    const answering = send(owner.description, credential, request);
    const sent = async () => {
      const { data } = await readTransactions(owner.description, credential);
      return data.find(({ subject }) => subject.id === request.purchase)?.status;
    };
    await expect.poll(sent, { timeout: 10_000, interval: 5 }).toBe("broadcast");
    await member.end("SIGKILL");
    await controlSandbox(owner.description, "POST", "/mining", { every: "transaction" });
    await controlSandbox(owner.description, "POST", "/blocks", {});
    const first = await answering;
    expect([200, 202]).toContain(first.status);
    const answer = await untilDone(owner.description, request);
    expect(answer.status).toBe(200);
    expect(operationIn(first).operation_id).toBe(operationIn(answer).operation_id);
    expect(await leader()).toBe(owner.description.urls.api);
    await expectBooksToBalance(owner.description, credential, offers);
    member = await joinAs(owner.description);
    expect(await send(member.description, credential, request)).toEqual({ ...answer, replayed: true });
  });

  test("states are given whichever process leads, except a refund that is due, whose fault acts in the first process", async () => {
    const give = async (state: string) => {
      const answer = await fetch(`${owner.description.urls.control}/given`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ purchase: { state, program: "prg_other" } }),
      });
      return { status: answer.status, body: JSON.parse(await answer.text()) };
    };
    await haveLead(server, "shared", member.description);
    expect((await give("refunded")).body.refund).toMatchObject({ status: "collected" });
    expect(await give("refund_due")).toMatchObject({
      status: 422,
      body: { detail: expect.stringContaining("another process leads") },
    });
    await haveLead(server, "shared", owner.description);
    expect((await give("refund_due")).body.refund).toMatchObject({ status: "due" });
  });

  test("a process without its database answers 503, and continues when the database is back", async () => {
    const request = creation();
    await server.stop();
    for (const one of both()) {
      const refused = await send(one, credential, request);
      expect([refused.status, codeOf(refused)]).toEqual([503, "storage_unavailable"]);
      expect(JSON.parse(refused.text).title).toBe("The store is not available");
    }
    const health = async () => (await fetch(`${owner.description.urls.control}/health`)).json();
    expect(await health()).toMatchObject({
      code: "unhealthy",
      detail: "No response from store. Check that its database runs, and send the request again.",
    });
    const read = async (path: string) => await fetch(owner.description.urls.control + path);
    expect(await (await read("/metrics")).text()).not.toContain("undelivered");
    expect(await (await read("/requests")).json()).toMatchObject({
      data: expect.arrayContaining([expect.objectContaining({ status: 503 })]),
    });
    expect(await examineParts(owner.description)).toMatchObject({
      ok: false,
      found: expect.stringContaining("No response from store."),
    });
    await server.start();
    const answer = await send(member.description, credential, request);
    expect(answer.status).toBe(201);
    expect(await health()).toMatchObject({ status: "ok" });
    const relayed = await offer(member.description);
    for (const one of both()) expect((await untilDone(one, relayed)).status).toBe(200);
    await expectBooksToBalance(owner.description, credential, offers);
  });

  test("a process whose database is silent answers in time what needs it alone, and can be closed", async () => {
    const way = await openWay(server.url("silent"));
    const sandbox = await createSandbox({ store: way.url });
    way.silence();
    await expect(sandbox.receiver.pin("http://127.0.0.1:9/")).rejects.toMatchObject({
      name: "StoreUnavailableError",
      message: expect.stringContaining("The database refused or did not respond"),
    });
    await sandbox.close();
  });

  test("no request to a process without its database ends it", async () => {
    const { urls } = owner.description;
    const targets = [
      ...both().flatMap((one) => operations.map(({ method, path }) => ({ method, path, url: one.urls.api }))),
      ...controlOperations.map(({ method, path }) => ({ method, path, url: urls.control })),
    ].filter(({ path }) => path !== "/stream");
    const signature = { "webhook-id": "evt_1", "webhook-timestamp": "1", "webhook-signature": "v1a,x" };
    await server.stop();
    const answers = await Promise.all(
      targets.map(async ({ method, path, url }) => {
        const target = new URL(path.replaceAll(/\{\w+\}/g, "1"), url);
        const headers = { "Content-Type": "application/json", ...signature };
        const body = method === "get" ? {} : { body: "{}" };
        const answer = await fetch(target, { method: method.toUpperCase(), headers, ...body });
        return { path, status: answer.status, text: await answer.text() };
      }),
    );
    const snapshot = await fetch(urls.rpc, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "evm_snapshot", params: [] }),
    });
    expect(await snapshot.json()).toMatchObject({
      id: 1,
      error: { code: -32603, message: expect.stringContaining("The database refused or did not respond") },
    });
    await server.start();
    expect(answers.filter(({ status }) => status === 500)).toEqual([]);
    const deliveries = answers.filter(({ path }) => path === receiveNotification.path);
    expect(deliveries.map(({ status }) => status)).toEqual([503, 503]);
    const { data }: { data: Arrival[] } = JSON.parse(
      await (await fetch(`${urls.control}/receiver/deliveries`)).text(),
    );
    expect(data.at(-1)).toMatchObject({ status: 503, verified: false });
    expect((await send(member.description, credential, creation())).status).toBe(201);
  });

  test.each([
    ["cannot write down that it leads leaves the lead", "RAISE 'No space is left.'"],
    // Longer than any other statement may take.
    ["writes down late that it leads has the lead since then", "PERFORM pg_sleep(12)"],
  ])("a process that %s, and every request reaches the one that leads", async (_, act) => {
    await haveLead(server, "shared", owner.description);
    await server.ask(`
      CREATE FUNCTION shared.hinder() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${act}; RETURN NEW; END $$;
      CREATE TRIGGER hinder BEFORE INSERT OR UPDATE ON shared.about FOR EACH ROW
        WHEN (NEW.name = 'leader' AND NEW.value = '${member.description.urls.api}') EXECUTE FUNCTION shared.hinder()`);
    await server.ask("DELETE FROM shared.about WHERE name = 'leader'");
    await server.ask(
      "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objid = 2 AND granted",
    );
    await expect.poll(leader).toBeDefined();
    const relayed = await offer(member.description);
    for (const one of both()) expect((await untilDone(one, relayed)).status).toBe(200);
    await server.ask("DROP FUNCTION shared.hinder CASCADE");
    for (const one of both()) expect((await untilDone(one, await offer(one))).status).toBe(200);
  });

  test("the database has one owner, and one chain", async () => {
    const other = await temporaryFolder();
    await expect(startSandbox(other)).rejects.toThrow("Another sandbox runs on this database and schema");
    expect(await owner.end("SIGTERM")).toBe(0);
    await expect
      .poll(() => member.output())
      .toContain("The sandbox has ended. Start it again, then join it.");
    await expect(startSandbox(other)).rejects.toThrow("holds what belongs to another chain");
    owner = await startSandbox(folder);
    member = await joinAs(owner.description);
    const [request] = offers;
    if (request === undefined) throw new Error("Nothing was offered.");
    expect(await send(member.description, credential, request)).toMatchObject({
      status: 200,
      replayed: true,
    });
  });

  test("the password is in no file and no output", async () => {
    expect(member.output()).not.toContain(password);
    for (const file of [
      "sandbox.json",
      ".env",
      "store/store.json",
      "store/store.journal",
      "store/chain.json",
    ])
      expect(await readFile(join(folder, file), "utf8")).not.toContain(password);
  });
});

describe.skipIf(!hasPostgres)(`snapshots ${inPostgres}:`, () => {
  test("a snapshot is refused while another process has joined and succeeds once that has left", async () => {
    const server = await startPostgres();
    try {
      const store = server.url("snapshots");
      await using sandbox = await createSandbox({ store });
      // As soon as a process has left it is out, however long the database takes to notice the end of its connection.
      for (let times = 0; times < 8; times += 1) {
        const joined = await joinSandbox({ store, apiPort: 0, log: silent });
        await expect(sandbox.snapshot()).rejects.toMatchObject({ code: "sandbox_shared" });
        await joined[Symbol.asyncDispose]();
        await sandbox.snapshot();
      }
      const before = await sandbox.store.export();
      const snapshot = await sandbox.snapshot();
      await sandbox.store.commit(["outbox/x"], () => []);
      await snapshot.restore();
      expect(await sandbox.store.export()).toEqual(before);
    } finally {
      await server.close();
    }
  });
});

describe.skipIf(!hasPostgres)(`receivers ${inPostgres}:`, () => {
  test("a receiver is pinned while no other process has joined and then gets the deliveries of those that join", async () => {
    const server = await startPostgres();
    try {
      const store = server.url("receivers");
      await using sandbox = await createSandbox({ store });
      const own = sandbox.receiver.url;
      const url = "http://127.0.0.1:9/webhooks";
      const early = await joinSandbox({ store, apiPort: 0, log: silent });
      await expect(sandbox.receiver.pin(url)).rejects.toMatchObject({ code: "sandbox_shared" });
      expect(sandbox.receiver.url).toBe(own);
      await early[Symbol.asyncDispose]();
      await sandbox.receiver.pin(url);
      await using joined = await joinSandbox({ store, apiPort: 0, log: silent });
      const { data } = await sandbox.client.GET("/v1/routing/programs/{program}", {
        params: { path: { program: "prg_demo" } },
        baseUrl: joined.apiUrl,
      });
      expect(data?.receiver.url).toBe(url);
    } finally {
      await server.close();
    }
  });
});
