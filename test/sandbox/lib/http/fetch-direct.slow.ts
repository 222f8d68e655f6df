import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { fetchDirect } from "../../../../sandbox/lib/http/direct/fetch-direct.ts";

const most = 2 ** 29;
const part = Buffer.alloc(2 ** 20);

test("a response that is longer than the longest text of Node is not read to its end", async () => {
  const body = function* () {
    for (let left = most + 1; left > 0; left -= part.length) yield part.subarray(0, left);
  };
  const server = createServer((_, response) => void Readable.from(body()).pipe(response)).listen(
    0,
    "127.0.0.1",
  );
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await expect(fetchDirect(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({
    message: "fetch failed",
    cause: { message: `The response has more than ${most} bytes.` },
  });
});
