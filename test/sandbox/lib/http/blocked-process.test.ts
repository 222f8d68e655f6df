import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { freshSandbox } from "../../../kit/fresh-sandbox.ts";

const head = "DELETE /faults HTTP/1.1\r\nContent-Type: application/json\r\nConnection: close\r\n";
const kept = "GET /health HTTP/1.1\r\n\r\n";

test.each([
  ["on a connection that was used before", kept, `${head}Content-Length: 0\r\n\r\n`],
  ["as a whole", "", `${head}Content-Length: 0\r\n\r\n`],
  ["but for the end of its headers", head, "Content-Length: 0\r\n\r\n"],
  ["but for its body", `${head}Content-Length: 2\r\n\r\n`, "{}"],
])("a request that arrived while the process was blocked, %s, is answered", async (_, before, during) => {
  const limits = { connections: 10, headersMs: 300, requestMs: 300 };
  const { control } = (await freshSandbox({ connectionLimits: limits })).description.urls;
  const { port, host } = new URL(control);
  const socket = connect(Number(port), "127.0.0.1");
  await once(socket, "connect");
  const write = (part: string) => socket.write(part.replace("HTTP/1.1\r\n", `HTTP/1.1\r\nHost: ${host}\r\n`));
  if (before !== "") write(before);
  // Its answer comes when the connection is accepted and this part is read.
  await fetch(`${control}/health`);
  write(during);
  block(1_500);
  const statuses = [...(await text(socket)).matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status);
  expect(statuses).toEqual(before === kept ? ["200", "200"] : ["200"]);
});

test("a WebSocket that was asked for while the process was blocked is not ended", async () => {
  const limits = { connections: 10, headersMs: 300, requestMs: 300 };
  const { rpc, control } = (await freshSandbox({ connectionLimits: limits })).description.urls;
  const { port, host } = new URL(rpc);
  const [asking, silent] = [connect(Number(port), "127.0.0.1"), connect(Number(port), "127.0.0.1")];
  await Promise.all([once(asking, "connect"), once(silent, "connect")]);
  await fetch(`${control}/health`);
  const upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13";
  asking.write(
    `GET / HTTP/1.1\r\nHost: ${host}\r\n${upgrade}\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
  );
  block(1_500);
  let answer = "";
  asking.on("data", (data) => {
    answer += String(data);
  });
  // Its time was up with the other one's.
  expect(await text(silent)).toMatch(/^HTTP\/1\.1 408 /);
  expect(answer).toMatch(/^HTTP\/1\.1 101 .*\r\n\r\n$/s);
  asking.destroy();
});

function block(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
