import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Stage } from "./stage.ts";

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.open({ seed: "malformed" });
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

/** Sends bytes to the API as they are and reads all that comes back. */
async function exchange(bytes: string): Promise<{ head: string; body: unknown }> {
  const { hostname, port } = new URL(stage.base);
  const socket = connect(Number(port), hostname);
  socket.write(bytes);
  const [head = "", body = ""] = (await text(socket)).split("\r\n\r\n");
  return { head, body: JSON.parse(body) };
}

test.for([
  ["a request line that is none", "GET capabilities please\r\n\r\n", 400],
  ["a header name with a space", "GET / HTTP/1.1\r\nHost: a\r\nBad Header: 1\r\n\r\n", 400],
  [
    "two Content-Lengths",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    400,
  ],
  ["headers without end", `GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, 431],
] as const)("%s is refused as a problem, and the connection ends", async ([_, bytes, status]) => {
  const { head, body } = await exchange(bytes);
  expect(head).toContain(`HTTP/1.1 ${status} `);
  expect(head).toContain("application/problem+json");
  expect(body).toMatchObject({ type: "about:blank", status });
});
