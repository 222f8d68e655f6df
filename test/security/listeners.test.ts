import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createSandbox, type Sandbox } from "../../sandbox/create-sandbox.ts";
import { ask } from "../ask.ts";
import { parseAnswer } from "../exchange.ts";

const parts = ["api", "docs", "control", "rpc"] as const;
type Part = (typeof parts)[number];

/** The limit of connections for each port of the sandbox under test. */
const connections = 4;

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await createSandbox({ seed: "listeners", allowOrigins: ["https://shop.example"] });
});

afterAll(async () => await sandbox.close());

function urlOf(part: Part): string {
  return sandbox.description.urls[part];
}

function portOf(part: Part): number {
  return Number(new URL(urlOf(part)).port);
}

async function open(part: Part): Promise<Socket> {
  const socket = connect(portOf(part), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  return socket;
}

/** Every address that something listens at with one of these ports, in hexadecimal as Linux writes it. */
async function listening(ports: readonly number[]): Promise<string[]> {
  const tables = await Promise.all(["tcp", "tcp6"].map((name) => readFile(`/proc/net/${name}`, "utf8")));
  return tables
    .flatMap((table) => table.split("\n"))
    .map((row) => row.trim().split(/\s+/))
    .filter(([, local = "", , state]) => state === "0A" && ports.includes(Number(`0x${local.split(":")[1]}`)))
    .map(([, local = ""]) => local);
}

describe("every port", () => {
  beforeAll(async () => {
    const limits = { connections, headersMs: 150, requestMs: 300 };
    const before = sandbox;
    sandbox = await createSandbox({ seed: "listeners", connectionLimits: limits });
    return async () => {
      await sandbox.close();
      sandbox = before;
    };
  });

  test.skipIf(process.platform !== "linux")("listens only on loopback, including Anvil", async () => {
    const ports = [...parts.map(portOf), sandbox.chain.anvil.port];
    // Another process may listen with the same port on another loopback address.
    const addresses = await listening(ports);
    const found = addresses.map((address) => Number(`0x${address.split(":")[1]}`));
    expect(new Set(found)).toEqual(new Set(ports));
    // The bytes of an IPv4 address in the order of the machine: 127 is the last one.
    for (const address of addresses) expect(address).toMatch(/^[0-9A-F]{6}7F:/);
  });

  test.each(parts)(
    "%s refuses a Host that is not its own, whatever is asked (DNS rebinding)",
    async (part) => {
      const port = portOf(part);
      const path = part === "api" ? "/v1/routing/capabilities" : "/";
      const hosts = ["evil.example", `evil.example:${port}`, "localhost", `localhost:${port + 1}`, "0.0.0.0"];
      for (const Host of hosts)
        for (const method of ["GET", "POST", "OPTIONS"]) {
          const answer = await ask(urlOf(part) + path, { method, headers: { Host } });
          expect([answer.status, answer.headers["content-type"]], `${method} ${Host}`).toEqual([
            403,
            part === "rpc" ? "application/json" : "application/problem+json; charset=utf-8",
          ]);
          const { detail, error } = JSON.parse(answer.text);
          expect(part === "rpc" ? error.message : detail).toContain(`http://127.0.0.1:${port}`);
        }
      for (const Host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`])
        expect((await ask(urlOf(part) + path, { headers: { Host } })).status).not.toBe(403);
    },
  );

  test.each(parts)(
    "%s ends a connection without a request, and one whose headers never end",
    async (part) => {
      const silent = await open(part);
      const slow = await open(part);
      slow.write(`GET / HTTP/1.1\r\nHost: 127.0.0.1:${portOf(part)}\r\nX-Slow: `);
      const dripping = setInterval(() => slow.write("a"), 20);
      onTestFinished(() => clearInterval(dripping));
      slow.on("error", () => {});
      const form = part === "rpc" ? "application/json" : "application/problem+json";
      const { status, headers } = parseAnswer(await text(slow));
      expect(status).toBe(408);
      expect(headers["content-type"]).toContain(form);
      await text(silent);
    },
  );

  test.each(["api", "control", "rpc"] as const)("%s ends a request whose body never ends", async (part) => {
    const path = { api: "/v1/routing/access", control: "/clock", rpc: "/" }[part];
    const socket = await open(part);
    const key = sandbox.description.accounts[0]?.key;
    socket.write(
      [
        `POST ${path} HTTP/1.1`,
        `Host: 127.0.0.1:${portOf(part)}`,
        "Content-Type: application/json",
        "Content-Length: 1000",
        `Authorization: Bearer ${key}`,
        "",
        "{",
      ].join("\r\n"),
    );
    const dripping = setInterval(() => socket.write(" "), 20);
    onTestFinished(() => clearInterval(dripping));
    socket.on("error", () => {});
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 4\d\d /);
  });

  test.each(parts)("%s accepts as many connections as the limit and no more", async (part) => {
    const taken: Socket[] = [];
    for (let number = 0; number < connections; number += 1) taken.push(await open(part));
    const refused = await open(part);
    refused.on("error", () => {});
    await text(refused).catch(() => "");
    expect(taken.every((socket) => !socket.destroyed)).toBe(true);
    for (const socket of taken) socket.destroy();
    await expect.poll(async () => (await ask(urlOf(part)).catch(() => null))?.status).toBeGreaterThan(0);
  });
});

describe("a page of another site", () => {
  const json = { "Content-Type": "application/json" };
  const foreign = ["https://evil.example", "http://shop.example", "null", "http://localhost.evil.example"];

  test("changes nothing over the API, and browsers do not show it the answers", async () => {
    const before = await sandbox.fingerprint();
    const [account] = sandbox.description.accounts;
    for (const Origin of foreign) {
      const headers = { ...json, Origin, Authorization: `Bearer ${account?.key}` };
      const answer = await ask(`${urlOf("api")}/v1/routing/access`, { method: "POST", headers, body: "{}" });
      const read = await ask(`${urlOf("api")}/v1/routing/capabilities`, { headers: { Origin } });
      const preflight = await ask(`${urlOf("api")}/v1/routing/access`, {
        method: "OPTIONS",
        headers: { Origin },
      });
      expect([answer.status, read.status, preflight.status]).toEqual([403, 200, 403]);
      for (const { headers: told } of [answer, read, preflight])
        expect(Object.keys(told).filter((name) => name.startsWith("access-control-"))).toEqual([]);
    }
    expect(await sandbox.fingerprint()).toEqual(before);
  });

  test("reads nothing of the wallet routes, which pages of this machine read and post to", async () => {
    const { purchase } = await sandbox.given.purchase({ state: "active" });
    const wallet = `${urlOf("api")}/wallet/prg_demo/purchase/${purchase.id}`;
    for (const Origin of ["https://shop.example", "http://localhost:3000"]) {
      const preflight = await ask(wallet, {
        method: "OPTIONS",
        headers: {
          Origin,
          "Access-Control-Request-Method": "POST",
          "Access-Control-Request-Headers": "traceparent",
        },
      });
      const readable = { vary: expect.stringContaining("Origin"), "access-control-allow-origin": Origin };
      expect(preflight).toMatchObject({
        status: 204,
        headers: {
          ...readable,
          "access-control-allow-methods": "GET, POST",
          "access-control-allow-headers": expect.stringMatching(
            /Idempotency-Key, traceparent, .*sentry-trace/,
          ),
        },
      });
      expect(await ask(wallet, { headers: { Origin } })).toMatchObject({ status: 200, headers: readable });
      // A page reads refusals, too.
      const refused = await ask(wallet, { method: "POST", headers: { ...json, Origin }, body: "{}" });
      expect(refused).toMatchObject({ status: 400, headers: readable });
    }
    for (const other of foreign) {
      const read = await ask(wallet, { headers: { Origin: other } });
      const asked = await ask(wallet, { method: "OPTIONS", headers: { Origin: other } });
      expect([read.status, asked.status]).toEqual([200, 403]);
      for (const { headers } of [read, asked]) expect(headers["access-control-allow-origin"]).toBeUndefined();
    }
  });

  test("cannot call the control API, even to read, and neither can a page of another port", async () => {
    for (const Origin of [...foreign, urlOf("docs"), "http://localhost:3000"])
      for (const [method, path] of [
        ["GET", "/status"],
        ["POST", "/blocks"],
        ["DELETE", "/faults"],
      ] as const)
        expect((await ask(urlOf("control") + path, { method, headers: { ...json, Origin } })).status).toBe(
          403,
        );
  });

  test("may read the documentation, which is public, and change nothing there", async () => {
    const [Origin = ""] = foreign;
    const url = `${urlOf("docs")}/portal/docs.md`;
    expect((await ask(url, { headers: { Origin } })).status).toBe(200);
    expect((await ask(url, { method: "POST", headers: { Origin } })).status).toBe(405);
  });

  test("gets no answer to a preflight from Anvil itself, and cannot guess its address", async () => {
    const { url } = sandbox.chain.anvil;
    const [Origin = ""] = foreign;
    const preflight = await ask(url, {
      method: "OPTIONS",
      headers: {
        Origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type",
      },
    });
    expect(preflight.headers["access-control-allow-origin"]).toBeUndefined();
    // Without the preflight a page may send plain text only, which Anvil does not take for a call.
    const call = '{"jsonrpc":"2.0","id":1,"method":"anvil_mine","params":[]}';
    const before = await sandbox.chain.client.getBlockNumber({ cacheTime: 0 });
    await ask(url, { method: "POST", headers: { Origin, "Content-Type": "text/plain" }, body: call });
    expect(await sandbox.chain.client.getBlockNumber({ cacheTime: 0 })).toBe(before);
    if (process.platform === "linux") expect(new URL(url).hostname).not.toBe("127.0.0.1");
  });
});

test("the wallet's own page may submit, from this machine's names", async () => {
  const url = `${urlOf("api")}/wallet/prg_demo/purchase/pur_aaaaaaaaaaaaaaaaaaaa`;
  const headers = { "Content-Type": "application/json", "Idempotency-Key": "own-page-1" };
  for (const Origin of [urlOf("api"), urlOf("api").replace("127.0.0.1", "localhost")]) {
    const answer = await ask(url, { method: "POST", headers: { ...headers, Origin }, body: "{}" });
    expect([404, 422]).toContain(answer.status);
  }
});
