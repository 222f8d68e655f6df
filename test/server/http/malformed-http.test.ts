import { beforeAll, expect, test } from "vitest";
import { exchange } from "../../exchange.ts";
import { problem } from "../../kit/answer.ts";
import { TestKit } from "../../kit/test-kit.ts";

let kit: TestKit;

beforeAll(async () => {
  kit = await TestKit.shared();
});

test.for([
  ["a request line that is none", "GET capabilities please\r\n\r\n", 400, "request_malformed"],
  [
    "a header name with a space",
    "GET / HTTP/1.1\r\nHost: a\r\nBad Header: 1\r\n\r\n",
    400,
    "request_malformed",
  ],
  [
    "two Content-Lengths",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    400,
    "request_malformed",
  ],
  [
    "headers without end",
    `GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}\r\n\r\n`,
    431,
    "headers_too_large",
  ],
] as const)("%s is refused as a problem, and the connection ends", async ([_, bytes, status, code]) => {
  const answer = await exchange(kit.base, bytes);
  expect(answer.status).toBe(status);
  expect(problem(answer)).toMatchObject({
    type: `${kit.sandbox.description.urls.docs}/errors/${code}`,
    status,
    code,
  });
});
