import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { beforeAll, describe, expect, test } from "vitest";
import type { Sandbox } from "../../sandbox/create-sandbox.ts";
import { listen } from "../../sandbox/lib/http/listen.ts";
import { pagesOf } from "../../sandbox/options/pages-of-ports.ts";
import { ask, type RawAnswer } from "../ask.ts";
import { exchange, parseAnswer, receive } from "../exchange.ts";
import { freshSandbox } from "../kit/fresh-sandbox.ts";

const parts = ["api", "docs", "control", "rpc"] as const;
type Part = (typeof parts)[number];

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await freshSandbox();
});

/** Requests that every host refuses, with `$host` in place of the host's own name, and the refusals. */
const refused: readonly (readonly [name: string, bytes: string, status: number, code: string, RegExp])[] = [
  [
    "a request without a Host",
    "GET / HTTP/1.1\r\n\r\n",
    400,
    "request_malformed",
    /^The Host header is missing\. Send it once: 127\.0\.0\.1:\d+ or localhost:\d+\.$/,
  ],
  [
    "a request with two Host headers, even with one value",
    "GET / HTTP/1.1\r\nHost: $host\r\nHost: $host\r\n\r\n",
    400,
    "request_malformed",
    /^The Host header was sent 2 times\. Send it once: 127\.0\.0\.1:\d+ or localhost:\d+\.$/,
  ],
  [
    "a request whose second Host is foreign",
    "GET / HTTP/1.1\r\nHost: $host\r\nHost: evil.example\r\n\r\n",
    400,
    "request_malformed",
    /^The Host header was sent 2 times\./,
  ],
  [
    "a request of HTTP/1.0 without a Host",
    "GET / HTTP/1.0\r\n\r\n",
    400,
    "request_malformed",
    /^The Host header is missing\./,
  ],
  [
    "a foreign Host",
    "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    403,
    "host_not_allowed",
    /^The Host evil\.example is not this sandbox's\. Use http:\/\/127\.0\.0\.1:\d+ or http:\/\/localhost:\d+, or allow the name with the option allowHosts \(routing-sandbox start --allow-host <name>\)\.$/,
  ],
  [
    "a target in absolute form with a foreign host",
    "GET http://evil.example/ HTTP/1.1\r\nHost: $host\r\n\r\n",
    403,
    "host_not_allowed",
    /^The request target names http:\/\/evil\.example, which is not this sandbox\. Use http:\/\/127\.0\.0\.1:\d+/,
  ],
  [
    "a target in absolute form with a user name before the host",
    "GET http://evil.example@$host/ HTTP/1.1\r\nHost: $host\r\n\r\n",
    403,
    "host_not_allowed",
    /^The request target names http:\/\/evil\.example@/,
  ],
  [
    "a target in absolute form with another scheme",
    "GET https://$host/ HTTP/1.1\r\nHost: $host\r\n\r\n",
    403,
    "host_not_allowed",
    /^The request target names https:\/\/127\.0\.0\.1:\d+, which is not this sandbox\./,
  ],
  [
    "a foreign Host with a target in absolute form that is right",
    "GET http://$host/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    403,
    "host_not_allowed",
    /^The Host evil\.example is not this sandbox's\./,
  ],
  [
    "a script of a page of another site",
    "POST / HTTP/1.1\r\nHost: $host\r\nSec-Fetch-Site: cross-site\r\nOrigin: https://evil.example\r\nContent-Length: 0\r\n\r\n",
    403,
    "page_not_allowed",
    /^A page of https:\/\/evil\.example may not do this\. Send the request from a client other than a browser, or from a page that may call this port\.$/,
  ],
  [
    "an expectation that is not 100-continue",
    "GET / HTTP/1.1\r\nHost: $host\r\nExpect: 200-ok\r\n\r\n",
    417,
    "expectation_unsupported",
    /^The expectation 200-ok is not supported\. Send Expect: 100-continue or none\.$/,
  ],
  [
    "an expectation other than 100-continue",
    "POST / HTTP/1.1\r\nHost: $host\r\nExpect: 100-continue, extra\r\nContent-Length: 2\r\n\r\n",
    417,
    "expectation_unsupported",
    /^The expectation 100-continue, extra is not supported\./,
  ],
  [
    "a transfer coding before chunked",
    "POST / HTTP/1.1\r\nHost: $host\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    501,
    "transfer_encoding_unsupported",
    /^The transfer coding gzip, chunked is not supported\. Send Transfer-Encoding: chunked or a Content-Length\.$/,
  ],
  [
    "a transfer coding in a header of its own before chunked",
    "POST / HTTP/1.1\r\nHost: $host\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    501,
    "transfer_encoding_unsupported",
    /^The transfer coding gzip, chunked is not supported\./,
  ],
  [
    "chunked twice",
    "POST / HTTP/1.1\r\nHost: $host\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
    400,
    "request_malformed",
    /^The bytes on this connection are not an HTTP request\./,
  ],
  [
    "a transfer coding that does not end with chunked",
    "POST / HTTP/1.1\r\nHost: $host\r\nTransfer-Encoding: gzip\r\n\r\n{}",
    501,
    "transfer_encoding_unsupported",
    /^The transfer coding gzip is not supported\./,
  ],
  [
    "a length together with chunked",
    "POST / HTTP/1.1\r\nHost: $host\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    400,
    "request_malformed",
    /^The bytes on this connection are not an HTTP request\./,
  ],
  [
    "a tunnel",
    "CONNECT $host HTTP/1.1\r\nHost: $host\r\n\r\n",
    400,
    "request_malformed",
    /^CONNECT is not supported\. Send the request to http:\/\/127\.0\.0\.1:\d+ itself\.$/,
  ],
  [
    "a request line that is none",
    "GET capabilities please\r\n\r\n",
    400,
    "request_malformed",
    /^The bytes on this connection are not an HTTP request\./,
  ],
  [
    "a method that HTTP does not know",
    "FETCH / HTTP/1.1\r\nHost: $host\r\n\r\n",
    400,
    "request_malformed",
    /^The bytes on this connection are not an HTTP request\./,
  ],
  [
    "HTTP/2 without TLS",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    400,
    "request_malformed",
    /^The bytes on this connection are not an HTTP request\./,
  ],
  [
    "headers that are too large",
    `GET / HTTP/1.1\r\nHost: $host\r\nX: ${"x".repeat(20_000)}\r\n\r\n`,
    431,
    "headers_too_large",
    /^The headers have more than 16384 bytes\. Send fewer or shorter ones\.$/,
  ],
];

async function answerOf(part: Part, bytes: string): Promise<RawAnswer> {
  const url = sandbox.description.urls[part];
  return await exchange(url, bytes.replaceAll("$host", new URL(url).host));
}

describe.each(parts)("%s", (part) => {
  // Any page may read the documentation.
  const cases = refused.filter(([, , , code]) => part !== "docs" || code !== "page_not_allowed");

  test.each(cases)(
    "refuses %s in its error form and ends the connection",
    async (_, bytes, status, code, detail) => {
      const answer = await answerOf(part, bytes);
      expect(answer.status).toBe(status);
      expect(answer.headers["connection"]).toBe("close");
      expect(answer.headers["content-length"]).toBe(String(Buffer.byteLength(answer.text)));
      expectForm(part, answer, { status, code, detail });
    },
  );

  test("accepts a target in absolute form that names the host itself", async () => {
    const path = { api: "/index.json", docs: "/portal/llms.txt", control: "/status", rpc: "/" }[part];
    const body = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}';
    const head = part === "rpc" ? `POST http://$host${path}` : `GET http://$host${path}`;
    const json = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`;
    const rest = part === "rpc" ? json : "Connection: close\r\n\r\n";
    const answer = await answerOf(part, `${head} HTTP/1.1\r\nHost: $host\r\n${rest}`);
    expect(answer.status).toBe(200);
  });

  test.each([
    "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA",
    "Upgrade: TLS/1.2\r\nConnection: Upgrade",
    "Upgrade: TLS/1.2, h2c\r\nUpgrade: HTTP/3.0\r\nConnection: upgrade",
    "upgrade: H2C\r\nconnection: keep-alive, upgrade",
    "Upgrade: websocket\r\nConnection: Upgrade",
    "Upgrade: websocketx\r\nConnection: Upgrade",
  ])("ignores a protocol that it does not change to: %j", async (protocol) => {
    const lines = {
      api: ["POST /v1/routing/access", "{}"],
      docs: ["GET /nothing", ""],
      control: ["POST /blocks", '{"blocks":1}'],
      rpc: ["POST /", '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}'],
    } as const;
    const [line, body] = lines[part];
    const key = sandbox.description.accounts[0]?.key;
    const head = `${line} HTTP/1.1\r\nHost: $host\r\nContent-Type: application/json\r\nAuthorization: Bearer ${key}\r\nContent-Length: ${body.length}`;
    const first = `${head}\r\n${protocol}\r\n\r\n${body}`;
    const { host } = new URL(sandbox.description.urls[part]);
    // The first of them waits for the answer to another one, and the last one ends the connection.
    const received = await receive(
      sandbox.description.urls[part],
      `${first.repeat(3)}${head}\r\nConnection: close\r\n\r\n${body}`.replaceAll("$host", host),
    );
    const statuses = [...received.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));
    const expected = { api: 201, docs: 404, control: 200, rpc: 200 }[part];
    expect(statuses.filter((status) => status !== 100)).toEqual(Array(4).fill(expected));
  });

  test("accepts a Host in capital letters", async () => {
    const { port } = new URL(sandbox.description.urls[part]);
    const answer = await answerOf(
      part,
      `GET /nothing HTTP/1.1\r\nHost: LOCALHOST:${port}\r\nConnection: close\r\n\r\n`,
    );
    expect(answer.status).toBe(part === "rpc" ? 405 : 404);
  });
});

test.each([
  ["api", "/v1/routing/access"],
  ["control", "/blocks"],
  ["rpc", "/"],
] as const)("%s refuses a chunked body whose chunks are malformed", async (part, path) => {
  const key = sandbox.description.accounts[0]?.key;
  const lines = [
    `POST ${path} HTTP/1.1`,
    "Host: $host",
    "Content-Type: application/json",
    `Authorization: Bearer ${key}`,
    "Transfer-Encoding: chunked",
    "",
    "not-a-size",
    "",
  ];
  const answer = await answerOf(part, lines.join("\r\n"));
  expect(answer.status).toBe(400);
  const detail = /^The bytes on this connection are not an HTTP request\./;
  expectForm(part, answer, { status: 400, code: "request_malformed", detail });
});

test("an answer that does not wait for the body arrives whole when the body is malformed", async () => {
  const head = "POST /nothing HTTP/1.1\r\nHost: $host\r\nTransfer-Encoding: chunked\r\n\r\n";
  const answer = await answerOf("api", `${head}not-a-size\r\n`);
  expect(answer.status).toBe(404);
  expect(JSON.parse(answer.text)).toMatchObject({ code: "route_not_found" });
});

test.each([
  ["a body that is too large", "POST", "/blocks", "x".repeat(40_000), 413],
  ["a body in an unknown encoding", "POST", "/blocks", "{}", 415],
  ["a path that is not percent-encoding", "GET", "/explain/%zz", "", 400],
])("control refuses %s as the client's error", async (_, method, path, body, status) => {
  const encoding = status === 415 ? { "Content-Encoding": "unknown" } : {};
  const headers = { "Content-Type": "application/json", ...encoding };
  const answer = await ask(sandbox.description.urls.control + path, { method, headers, body });
  expect(answer.status).toBe(status);
  expect(answer.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
  expect(JSON.parse(answer.text)).toMatchObject({ type: "about:blank", status });
});

test.each(parts)("%s refuses a HEAD without a body", async (part) => {
  const answer = await answerOf(part, "HEAD / HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  expect([answer.status, answer.text]).toEqual([403, ""]);
});

test("the answer to a request comes before the refusal of what follows it on the connection", async () => {
  const url = sandbox.description.urls.api;
  const head = "GET /v1/routing/capabilities HTTP/1.1\r\nHost: $host\r\n\r\n";
  const received = await receive(url, `${head.replace("$host", new URL(url).host)}no request\r\n\r\n`);
  const [first = "", second = ""] = received.split(/(?<=\})(?=HTTP\/1\.1 )/);
  expect(parseAnswer(first).status).toBe(200);
  expect(JSON.parse(parseAnswer(first).text)).toMatchObject({ service: "routing-sandbox" });
  expect(parseAnswer(second).status).toBe(400);
  expect(JSON.parse(parseAnswer(second).text)).toMatchObject({ code: "request_malformed", instance: "/" });
});

test.each([
  ["control", "POST /blocks", '{"blocks":1}', "block_number"],
  ["rpc", "POST /", '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}', '"0x7a69"'],
] as const)(
  "%s tells a client that waits for 100 Continue to continue",
  async (part, line, body, expected) => {
    const url = sandbox.description.urls[part];
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.write(
      [
        `${line} HTTP/1.1`,
        `Host: ${new URL(url).host}`,
        "Content-Type: application/json",
        `Content-Length: ${body.length}`,
        "Expect: 100-continue",
        "Connection: close",
        "",
        "",
      ].join("\r\n"),
    );
    const [first] = await once(socket, "data");
    expect(String(first)).toBe("HTTP/1.1 100 Continue\r\n\r\n");
    socket.write(body);
    const answer = parseAnswer(await text(socket));
    expect(answer.status).toBe(200);
    expect(answer.text).toContain(expected);
  },
);

test("a port whose host has not started answers 503 as a problem", async () => {
  const docsUrl = "http://127.0.0.1:4021";
  const listener = await listen({ port: 0, option: "--port", pages: pagesOf.control, docsUrl });
  const answer = await exchange(
    listener.url,
    `GET /v1/routing/capabilities?cursor=1 HTTP/1.1\r\nHost: ${new URL(listener.url).host}\r\n\r\n`,
  );
  await listener.close();
  expect(answer.status).toBe(503);
  expect(answer.headers["retry-after"]).toBe("1");
  expect(answer.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
  expect(answer.headers["cache-control"]).toBe("no-store");
  expect(JSON.parse(answer.text)).toEqual({
    type: "http://127.0.0.1:4021/errors/service_starting",
    title: "The service is starting",
    status: 503,
    code: "service_starting",
    detail: "The sandbox is starting. Send the request again in a second.",
    instance: "/v1/routing/capabilities",
    request_id: expect.stringMatching(/^req_[a-z2-7]{20}$/),
    retryable: true,
  });
  expect(JSON.parse(answer.text).request_id).toBe(answer.headers["x-request-id"]);
});

/** The refusal as this host forms it: a problem of the catalogue, a plain problem, or a JSON-RPC error. */
function expectForm(
  part: Part,
  answer: RawAnswer,
  { status, code, detail }: { status: number; code: string; detail: RegExp },
): void {
  const body = JSON.parse(answer.text);
  if (part === "rpc") {
    expect(answer.headers["content-type"]).toBe("application/json");
    expect(body).toEqual({
      jsonrpc: "2.0",
      id: null,
      error: { code: -32_600, message: expect.stringMatching(detail) },
    });
    return;
  }
  expect(answer.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
  if (part === "control") {
    expect(body).toEqual({
      type: "about:blank",
      title: expect.stringMatching(/^[A-Z]/),
      status,
      code,
      detail: expect.stringMatching(detail),
    });
    return;
  }
  expect(body).toEqual({
    type: `${sandbox.description.urls.docs}/errors/${code}`,
    title: expect.stringMatching(/^[A-Z]/),
    status,
    code,
    detail: expect.stringMatching(detail),
    instance: expect.stringMatching(/^\//),
    request_id: answer.headers["x-request-id"],
    retryable: false,
  });
  expect(answer.headers["cache-control"]).toBe("no-store");
}
