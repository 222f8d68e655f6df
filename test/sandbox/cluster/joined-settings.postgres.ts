import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { createSandbox } from "../../../sandbox/create-sandbox.ts";
import type { RefusalView } from "../../../sandbox/explorer/views.ts";
import type { ViewPage } from "../../../sandbox/lib/page.ts";
import type { SandboxDescription } from "../../../sandbox/options/description.ts";
import type { SandboxOptions } from "../../../sandbox/options/options.ts";
import { merchantSchema } from "../../../server/schemas/merchants.ts";
import { notificationDeliverySchema } from "../../../server/schemas/notifications.ts";
import { codeOf } from "../../crash/books.ts";
import { send } from "../../crash/storefront.ts";
import { openReceiver } from "../../kit/external-receiver.ts";
import { hasPostgres, inPostgres, type PostgresServer, startPostgres } from "../../kit/postgres-server.ts";
import { temporaryFolder } from "../../temporary-folder.ts";
import { openStream } from "../explorer/read-stream.ts";
import { haveLead, joinAs } from "./joined-process.ts";

const access = z.object({ credential: z.string() });

describe.skipIf(!hasPostgres)(`a sandbox ${inPostgres} and a process that joined it:`, () => {
  let server: PostgresServer;
  let count = 0;

  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(async () => {
    await server.close();
  });

  test("a data directory whose records are in a database is refused without --store, and says so", async () => {
    const dataDirectory = join(await temporaryFolder(), "data");
    const store = server.url("without_store");
    await (await createSandbox({ dataDirectory, store })).close();
    await expect(createSandbox({ dataDirectory })).rejects.toMatchObject({
      code: "data_directory_mismatch",
      message: `${dataDirectory} keeps its records in a database, and the option store is missing. Name that database with the option store, or choose another directory with the option dataDirectory.`,
    });
    await (await createSandbox({ dataDirectory, store })).close();
  });

  test("a database that another sandbox runs on is refused with the code database_in_use", async () => {
    const store = server.url("in_use");
    await using _ = await createSandbox({ store });
    await expect(createSandbox({ store })).rejects.toMatchObject({
      name: "SandboxError",
      code: "database_in_use",
      message:
        "Another sandbox runs on this database and schema. Stop it, choose another schema, or join it with routing-sandbox join.",
    });
  });

  /** A sandbox with these options, a process that joined it, and a credential. */
  const open = async (options: SandboxOptions = {}) => {
    count += 1;
    const schema = `joined_${count}`;
    const sandbox = await createSandbox({ ...options, store: server.url(schema) });
    onTestFinished(async () => await sandbox.close());
    const { description } = sandbox;
    const joined = await joinAs(description, "--store", server.url(schema));
    onTestFinished(async () => await joined.end("SIGTERM"));
    const issued = await fetch(`${description.urls.api}/v1/routing/access`, {
      method: "POST",
      headers: {
        Authorization: `Bearer ${description.accounts[0]?.key}`,
        "Content-Type": "application/json",
      },
      body: "{}",
    });
    const { credential } = access.parse(await issued.json());
    return { schema, owner: description, member: joined.description, credential };
  };
  const path = (below: string) => `/v1/routing/programs/prg_demo${below}`;
  const creation = (owner: SandboxDescription) => {
    count += 1;
    const wallet = owner.wallets["merchant"]?.address ?? "";
    const body = { wallet, name: "Corner Books", funding_cap: "1" };
    return { path: path("/merchants"), key: `joined-${count}`, body };
  };

  test("the joined process accepts as many requests of a caller as the first one's options allow, and refuses the next one", async () => {
    const { owner, member, credential } = await open({ rateLimit: { requests: 3, seconds: 60 } });
    for (let taken = 0; taken < 3; taken += 1)
      expect((await send(member, credential, creation(owner))).status).toBe(201);
    const refused = await send(member, credential, creation(owner));
    expect([refused.status, codeOf(refused)]).toEqual([429, "rate_limited"]);
    expect(JSON.parse(refused.text)).toMatchObject({
      detail:
        "3 requests in 60 s are allowed. Wait for the seconds of Retry-After, then send the request again.",
    });
  });

  test("the joined process delivers to the address that the first one has resolved, and waits as long as that one's options say", async () => {
    await using receiver = await openReceiver();
    const arrived = Promise.withResolvers<void>();
    receiver.answer = (_, response) => {
      // The first attempt gets no answer.
      if (receiver.received.length > 1) response.writeHead(204).end();
      arrived.resolve();
    };
    const { schema, owner, member, credential } = await open({
      receiverUrl: `http://receiver.test:${receiver.port}/`,
      resolveHost: async () => ({ address: "127.0.0.1", family: 4 }),
      deliveryTimeoutMs: 3_000,
      receiptTimeoutMs: 60_000,
    });
    const { event_id } = merchantSchema.parse(
      JSON.parse((await send(owner, credential, creation(owner))).text),
    );
    await haveLead(server, schema, member);
    const request = { path: path("/notifications"), key: "delivered-once", body: { event_id } };
    const first = send(member, credential, request);
    await arrived.promise;
    // It waits for the first one until that is done, which the first attempt alone keeps from it for three seconds.
    const second = await send(member, credential, request);
    expect(second).toEqual({ ...(await first), replayed: true });
    const { notification } = notificationDeliverySchema.parse(JSON.parse(second.text));
    expect([second.status, notification.status]).toEqual([200, "delivered"]);
    const { attempts } = notification;
    expect(attempts.at(0)).toMatchObject({ error: "no complete response within 3000 ms", status_code: null });
    expect(attempts.at(-1)).toMatchObject({ error: null, status_code: 204 });
  });

  test("the joined process accepts as many connections as the first one's options allow", async () => {
    const { member } = await open({ connectionLimits: { connections: 4 } });
    const port = Number(new URL(member.urls.api).port);
    const opened: Socket[] = [];
    onTestFinished(() => {
      for (const socket of opened) socket.destroy();
    });
    for (let number = 1; number <= 5; number += 1) {
      const socket = connect(port, "127.0.0.1");
      opened.push(socket);
      await once(socket, "connect");
    }
    const last = opened.at(-1);
    if (last === undefined) throw new Error("Connections were opened.");
    // One that is too slow would get 408 before it is closed.
    expect(await text(last.on("error", () => {}))).toBe("");
  });

  test("the explorer of the first process shows what the joined one refuses, with every check", async () => {
    const { owner, member, credential } = await open();
    const created = merchantSchema.parse(JSON.parse((await send(member, credential, creation(owner))).text));
    const stream = await openStream(`${owner.urls.control}/stream`);
    onTestFinished(() => stream.close());
    const transaction_hash = `0x${"ab".repeat(32)}`;
    const refused = await send(member, credential, {
      path: path(`/merchants/${created.id}/enrollment`),
      key: "refused-1",
      body: { transaction_hash, signature: `0x${"11".repeat(65)}` },
    });
    const problem = JSON.parse(refused.text);
    expect([refused.status, problem.code]).toEqual([409, "transaction_not_found"]);
    const read = await fetch(`${owner.urls.control}/explorer/refusals`);
    const { data }: ViewPage<RefusalView> = JSON.parse(await read.text());
    expect(data).toMatchObject([
      {
        operation: "confirmEnrollment",
        program: "prg_demo",
        subject: created.id,
        step: "enrollment",
        code: "transaction_not_found",
        detail: problem.detail,
        transaction_hash,
        times: 1,
      },
    ]);
    // The explorer lists the failed checks first.
    const byName = (checks: readonly { name: string }[] = []) =>
      checks.toSorted((left, right) => left.name.localeCompare(right.name));
    expect(byName(data[0]?.checks)).toEqual(byName(problem.binding.checks));
    expect(data[0]?.checks[0]).toMatchObject({ name: "mined", ok: false });
    expect((await stream.change("refusals")).topics).toContain("refusals");
  });
});
