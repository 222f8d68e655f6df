import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { freshSandbox } from "../../../kit/fresh-sandbox.ts";

test("a request after the process was blocked, as at a breakpoint, is answered on the connection that it had kept", {
  tags: "thorough",
}, async () => {
  const { urls } = (await freshSandbox()).description;
  const answer = async () => await (await fetch(`${urls.control}/health`)).text();
  const before = await answer();
  // Longer than an idle connection is kept.
  block(7_000);
  expect(await answer()).toBe(before);
});

const head = "DELETE /faults HTTP/1.1\r\nContent-Type: application/json\r\nConnection: close\r\n";

test.each([
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
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /);
});

function block(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
