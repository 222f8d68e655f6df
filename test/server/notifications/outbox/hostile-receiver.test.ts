import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Snapshot } from "../../../../sandbox/snapshots/snapshot.ts";
import { TestKit } from "../../../kit/test-kit.ts";

const timeoutMs = 100;
const late = `no complete response within ${timeoutMs} ms`;

let server: Server;
/** Its deliveries run out of time at once; the deliveries of the other one never do. */
let hasty: TestKit;
let patient: TestKit;
let snapshots: Snapshot[];
/** The receiver's behavior after it has read a request or, with `at once`, before. */
let behave: (socket: Socket) => void;
let atOnce: boolean;
const open = new Set<Socket>();

beforeAll(async () => {
  server = createServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    socket.on("error", () => {});
    // The sender has closed its side.
    socket.once("end", () => socket.destroy());
    if (atOnce) {
      behave(socket);
      socket.resume();
      return;
    }
    let seen = "";
    socket.on("data", (chunk) => {
      const before = seen.endsWith("}}");
      seen += chunk.toString();
      if (!before && seen.endsWith("}}")) behave(socket);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const receiverUrl = `http://127.0.0.1:${port}/hooks`;
  hasty = await TestKit.open({ seed: "hasty", receiverUrl, deliveryTimeoutMs: timeoutMs });
  patient = await TestKit.open({ seed: "patient", receiverUrl, deliveryTimeoutMs: 60_000 });
  snapshots = [await hasty.sandbox.snapshot(), await patient.sandbox.snapshot()];
});

beforeEach(async () => {
  for (const snapshot of snapshots) await snapshot.restore();
  atOnce = false;
});

afterAll(async () => {
  for (const kit of [hasty, patient]) await kit.sandbox.close();
  for (const socket of open) socket.destroy();
  server.close();
});

/** Calls until the connection is gone. */
function drip(socket: Socket, write: () => void): void {
  const timer = setInterval(write, 10);
  socket.once("close", () => clearInterval(timer));
}

/** Writes as fast as the other side takes it. */
function pour(socket: Socket, line: string): void {
  const text = line.repeat(2_000);
  const more = () => {
    while (!socket.destroyed && socket.write(text));
  };
  socket.on("drain", more);
  more();
}

const noHttp = "the response is not HTTP; the URL of a receiver that speaks TLS begins with https://";
const head = "HTTP/1.1 200 OK\r\n";

const behaviors: [
  string,
  { behave: (socket: Socket) => void; atOnce?: true; error: string; status?: number },
][] = [
  ["accepts and says nothing", { behave: () => {}, error: late }],
  ["accepts and says nothing before the request", { behave: () => {}, atOnce: true, error: late }],
  [
    "drips headers",
    {
      behave: (socket) => {
        socket.write(head);
        drip(socket, () => socket.write("x: y\r\n"));
      },
      error: late,
    },
  ],
  [
    "drips the first line",
    {
      behave: (socket) => {
        socket.write("HTTP/1.1 200 ");
        drip(socket, () => socket.write("O"));
      },
      error: late,
    },
  ],
  [
    "drips a body",
    {
      behave: (socket) => {
        socket.write(`${head}content-length: 1000\r\n\r\n`);
        drip(socket, () => socket.write("y"));
      },
      error: late,
    },
  ],
  [
    "drips chunks",
    {
      behave: (socket) => {
        socket.write(`${head}transfer-encoding: chunked\r\n\r\n`);
        drip(socket, () => socket.write("1\r\ny\r\n"));
      },
      error: late,
    },
  ],
  [
    "declares a body and sends none",
    { behave: (socket) => socket.write(`${head}content-length: 10\r\n\r\n`), error: late },
  ],
  [
    "switches protocols",
    {
      behave: (socket) =>
        socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n"),
      error: "the response switches protocols, which a delivery does not",
      status: 101,
    },
  ],
  [
    "switches protocols without naming one",
    {
      behave: (socket) => socket.write("HTTP/1.1 101 Switching Protocols\r\n\r\n"),
      error: "the response switches protocols, which a delivery does not",
      status: 101,
    },
  ],
  [
    "says that it continues, again and again",
    { behave: (socket) => pour(socket, "HTTP/1.1 100 Continue\r\n\r\n"), error: late },
  ],
  [
    "hints early, again and again",
    {
      behave: (socket) => drip(socket, () => socket.write("HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n")),
      error: late,
    },
  ],
  [
    "sends headers without an end",
    {
      behave: (socket) => {
        socket.write(head);
        pour(socket, "x: yyyyyyyyyyyyyyyyyyyy\r\n");
      },
      error: "the delivery failed (HPE_HEADER_OVERFLOW)",
    },
  ],
  [
    "sends no HTTP",
    {
      behave: (socket) => pour(socket, "\u0000\u0001\u0002 nonsense"),
      error: noHttp,
    },
  ],
  [
    "answers as TLS does",
    {
      behave: (socket) => socket.write(Buffer.from("15030100020228", "hex")),
      error: noHttp,
    },
  ],
  ["half-closes the connection", { behave: (socket) => socket.end(), error: "connection dropped" }],
  [
    "half-closes it before the request",
    { behave: (socket) => socket.end(), atOnce: true, error: "connection dropped" },
  ],
  [
    "half-closes it within its body",
    { behave: (socket) => socket.end(`${head}content-length: 10\r\n\r\nhalf`), error: "connection dropped" },
  ],
  ["resets the connection", { behave: (socket) => socket.resetAndDestroy(), error: "connection dropped" }],
  [
    "resets it within its headers",
    { behave: (socket) => socket.write(head, () => socket.resetAndDestroy()), error: "connection dropped" },
  ],
  [
    "redirects and never ends",
    {
      behave: (socket) =>
        socket.write("HTTP/1.1 307 Temporary Redirect\r\nlocation: /\r\ncontent-length: 9\r\n\r\n"),
      error: late,
    },
  ],
];

describe("every attempt and its connection end by the deadline", () => {
  test.each(behaviors)("when the receiver %s", async (_, expected) => {
    behave = expected.behave;
    atOnce = expected.atOnce ?? false;
    const kit = expected.error === late ? hasty : patient;
    const { notification, receipt } = await kit.events.deliver(await kit.events.write());
    expect(receipt).toBeNull();
    expect(notification.status).toBe("exhausted");
    expect(notification.attempts.map(({ status_code, error }) => [status_code, error])).toEqual(
      Array.from({ length: 5 }, () => [expected.status ?? null, expected.error]),
    );
    await expect.poll(() => open.size).toBe(0);
  });

  test("when the receiver answers with an endless body, of which the beginning counts", async () => {
    behave = (socket) => {
      socket.write(`${head}transfer-encoding: chunked\r\n\r\n`);
      pour(socket, `40\r\n${"y".repeat(64)}\r\n`);
    };
    const { notification } = await patient.events.deliver(await patient.events.write());
    expect(notification).toMatchObject({
      status: "delivered",
      attempts: [{ status_code: 200, error: null, response_body: "y".repeat(2_048) }],
    });
    await expect.poll(() => open.size).toBe(0);
  });
});

test.each<[string, (socket: Socket) => void, string, number]>([
  [
    "speaks no TLS",
    (socket) => socket.write("HTTP/1.1 400 Bad Request\r\n\r\n"),
    "the receiver does not speak TLS; the URL of one that speaks HTTP begins with http://",
    60_000,
  ],
  ["never ends its handshake", () => {}, late, timeoutMs],
])(
  "an attempt over https ends by its deadline, too, when the receiver %s",
  async (_, act, error, deliveryTimeoutMs) => {
    const { port } = server.address() as AddressInfo;
    const receiverUrl = `https://127.0.0.1:${port}/hooks`;
    await using secure = await TestKit.open({ seed: "hostile-tls", receiverUrl, deliveryTimeoutMs });
    atOnce = true;
    behave = act;
    const { notification } = await secure.events.deliver(await secure.events.write());
    expect(notification.attempts.map((attempt) => attempt.error)).toEqual(
      Array.from({ length: 5 }, () => error),
    );
    await expect.poll(() => open.size).toBe(0);
  },
);
