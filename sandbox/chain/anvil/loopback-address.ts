import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/**
 * Chooses an address of this machine's loopback for a server that has no guard of its own. Where all of 127.0.0.0/8 is there (Linux)
 * it is one that a web page cannot find by trying, otherwise 127.0.0.1.
 */
export async function chooseLoopbackAddress(): Promise<string> {
  const address = `127.${randomInt(1, 255)}.${randomInt(0, 256)}.${randomInt(2, 255)}`;
  return (await canListen(address)) ? address : "127.0.0.1";
}

function canListen(host: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const server = createServer();
  server.once("error", () => resolve(false));
  server.listen({ host, port: 0 }, () => server.close(() => resolve(true)));
  return promise;
}
