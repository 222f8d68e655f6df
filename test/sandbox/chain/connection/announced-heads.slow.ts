import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createChainClient } from "../../../../sandbox/chain/client/chain-client.ts";
import { createSandbox } from "../../../../sandbox/create-sandbox.ts";
import { deployOn, startAutominingAnvil } from "../../../kit/connected.ts";

/** A way to a node that can be interrupted, and that counts the heads that the node announces over it. */
async function openWay(node: string) {
  const { hostname, port } = new URL(node);
  const sockets = new Set<Socket>();
  const seen = { announcements: 0 };
  const server = createServer((socket) => {
    const onward = connect(Number(port), hostname);
    for (const [from, to] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      sockets.add(from);
      from.on("error", () => to.destroy());
      from.on("close", () => to.destroy());
      from.pipe(to);
    }
    onward.on("data", (chunk: Buffer) => {
      seen.announcements += chunk.toString("latin1").split("eth_subscription").length - 1;
    });
  });
  const listen = async (at: number) => {
    server.listen(at, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("This is no TCP server.");
    return address.port;
  };
  const at = await listen(0);
  const interrupt = async () => {
    server.close();
    for (const socket of sockets) socket.destroy();
    sockets.clear();
    await once(server, "close");
  };
  onTestFinished(async () => {
    if (server.listening) await interrupt();
  });
  return { url: `ws://127.0.0.1:${at}`, seen, interrupt, resume: async () => await listen(at) };
}

test.for([
  ["alone", false],
  ["before another URL", true],
] as const)(
  "a WebSocket URL %s has the node announce its heads, also after the node could not be reached",
  {
    timeout: 240_000,
  },
  async ([, hasOther]) => {
    const node = await startAutominingAnvil();
    onTestFinished(node.stop);
    const { folder: _, ...network } = await deployOn(node.url);
    const way = await openWay(node.url);
    const rpcUrls = hasOther ? [way.url, node.url] : [way.url];
    await using sandbox = await createSandbox({ network: { ...network, rpcUrls, publicRpcUrl: node.url } });
    const heads: number[] = [];
    const watched = await sandbox.chain.watchHeads({
      announce: (head) => heads.push(head?.number ?? -1),
    });
    const direct = createChainClient(node.url);
    const expectAnnounced = async () => {
      const before = way.seen.announcements;
      await expect
        .poll(async () => {
          await direct.mine({ blocks: 1 });
          return way.seen.announcements;
        })
        .toBeGreaterThan(before);
      const latest = Number(await direct.getBlockNumber());
      await expect.poll(() => Math.max(...heads)).toBeGreaterThanOrEqual(latest);
    };
    await expectAnnounced();
    await way.interrupt();
    // Requests fail meanwhile, or another URL serves them.
    const read = sandbox.chain.client.getBlockNumber({ cacheTime: 0 });
    if (hasOther) expect(await read).toBeGreaterThan(0n);
    else await expect(read).rejects.toThrow();
    await way.resume();
    await expectAnnounced();
    const { refund } = await sandbox.given.purchase({ state: "refunded" });
    expect(refund.status).toBe("collected");
    watched.close();
  },
);
