import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { setImmediate as endOfTurn } from "node:timers/promises";
import { numberToHex } from "viem";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { causesOf } from "../../../../protocol/coded-error.ts";
import { askNode, toNode } from "../../../../relayer/node/node.ts";
import { createChainClient } from "../../../../sandbox/chain/client/chain-client.ts";
import {
  reachNode,
  requireSameChain,
  requireUsableNode,
} from "../../../../sandbox/chain/connection/connect-chain.ts";
import { describeNetwork } from "../../../../sandbox/chain/connection/networks.ts";
import { NodeConnection } from "../../../../sandbox/chain/connection/node-connection.ts";
import { createSandbox } from "../../../../sandbox/create-sandbox.ts";
import { describeRefusal } from "../../../../server/lib/describe-refusal.ts";
import { openAnsweringNode, startAutominingAnvil } from "../../../kit/connected.ts";

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("A TCP server has an address.");
  return address.port;
}

const now = () => Math.floor(Date.now() / 1_000);
const block = (timestamp: number) => ({
  number: "0x1",
  hash: `0x${"11".repeat(32)}`,
  timestamp: numberToHex(timestamp),
});

test("a call that reverts does so with its bytes on each kind of node", async () => {
  const bytes = "0x1f2a2005";
  const errors = [
    { code: 3, message: "execution reverted", data: bytes },
    { code: -32_000, message: "execution reverted: custom error", data: bytes },
    // Hardhat 2.
    {
      code: -32_603,
      message: "VM Exception while processing transaction: reverted with an unrecognized custom error",
      data: { message: "reverted", data: bytes },
    },
  ];
  for (const error of errors) {
    await using node = await openAnsweringNode({ eth_call: { error } });
    const connection = new NodeConnection([node.url]);
    await expect(connection.ask("eth_call", [])).rejects.toMatchObject({ code: 3, data: bytes });
  }
});

test.for<[string, (answers: { [method: string]: unknown }) => void, string]>([
  [
    "Ethereum",
    (node) => Object.assign(node, { eth_chainId: "0x1" }),
    "The node serves Ethereum (chain id 1), a production network. Use a test network.",
  ],
  [
    "Base",
    (node) => Object.assign(node, { eth_chainId: numberToHex(8_453) }),
    "The node serves Base (chain id 8453), a production network. Use a test network.",
  ],
  [
    "an unknown network",
    (node) => Object.assign(node, { eth_chainId: numberToHex(918_273_645) }),
    "The node serves chain id 918273645, which is no known test network. If its money is worthless, allow it with the option network.allowChainId.",
  ],
  [
    "a node that is syncing",
    (node) => Object.assign(node, { eth_syncing: { currentBlock: "0x1" } }),
    "The node is not in sync yet. Start again when it is, or name another one.",
  ],
  [
    "a chain ahead of the clock",
    (node) => Object.assign(node, { eth_getBlockByNumber: block(now() + 600) }),
    "seconds ahead of this machine's clock. Set the clock, and start again.",
  ],
  [
    "a public network's node whose newest block is old",
    (node) => Object.assign(node, { eth_getBlockByNumber: block(now() - 1_200) }),
    "seconds behind this machine's clock. Set the clock, or name a node that has the newest blocks.",
  ],
  [
    "a node that refuses",
    (node) => Reflect.deleteProperty(node, "eth_chainId"),
    "The node of the option network.rpcUrls does not respond: The node refused a request (-32601): the method does not exist.",
  ],
])("%s is refused before anything is sent", async ([, change, message]) => {
  const answers = {
    eth_chainId: numberToHex(11_155_111),
    eth_syncing: false,
    eth_getBlockByNumber: block(now()),
  };
  change(answers);
  await using node = await openAnsweringNode(answers);
  const reached = reachNode([node.url], 0);
  await expect(requireUsableNode(reached, undefined)).rejects.toMatchObject({
    code: "node_unusable",
    message: expect.stringContaining(message),
  });
  expect(node.asked.filter((method) => method.startsWith("eth_send"))).toEqual([]);
});

test("known test networks, development nodes and an allowed unknown network are used", async () => {
  for (const id of [11_155_111, 84_532, 31_337, 1_337, 1_281, 13_370, 918_273_645]) {
    await using node = await openAnsweringNode({
      eth_chainId: numberToHex(id),
      eth_syncing: false,
      eth_getBlockByNumber: block(now()),
    });
    expect(await requireUsableNode(reachNode([node.url], 0), 918_273_645)).toBe(id);
  }
});

test.each([1_337, 1_281, 270])(
  "the development node of chain id %d may have made no block for long, and is no network that wallets know",
  async (id) => {
    await using node = await openAnsweringNode({
      eth_chainId: numberToHex(id),
      eth_syncing: false,
      eth_getBlockByNumber: block(now() - 86_400),
    });
    expect(await requireUsableNode(reachNode([node.url], 0), undefined)).toBe(id);
    expect(await describeNetwork(id)).toBeNull();
  },
);

test("a development node is refused if its next block would be behind the clock by more than a minute, however old its newest one is", async () => {
  const node = await startAutominingAnvil(undefined, 31_337, 600);
  onTestFinished(node.stop);
  const reached = reachNode([node.url], 0);
  await expect(requireUsableNode(reached, undefined)).rejects.toMatchObject({
    code: "node_unusable",
    message: expect.stringMatching(
      /^The node's next block would be (?:59|60)\d seconds behind this machine's clock, and its transactions would be refused\. Set the clock, or the node's time \(evm_increaseTime\), and try again\.$/,
    ),
  });
  await askNode(toNode(createChainClient(node.url).request), "evm_increaseTime", [600], z.unknown());
  expect(await requireUsableNode(reached, undefined)).toBe(31_337);
  // The newest block has the time of now, and the next one would not.
  await askNode(toNode(createChainClient(node.url).request), "evm_mine", [], z.unknown());
  await askNode(toNode(createChainClient(node.url).request), "evm_setTime", [now() - 700], z.unknown());
  await expect(requireUsableNode(reached, undefined)).rejects.toMatchObject({
    message: expect.stringMatching(/^The node's next block would be (?:69|70)\d seconds behind/),
  });
});

test.each([1, 999, 260])(
  "the production network %d stays refused when it is allowed, also if a test network has the same id",
  async (id) => {
    await using node = await openAnsweringNode({ eth_chainId: numberToHex(id) });
    await expect(requireUsableNode(reachNode([node.url], 0), id)).rejects.toMatchObject({
      code: "node_unusable",
      message: expect.stringContaining("a production network"),
    });
  },
);

test("an unreachable node is named without its URL, which may have a key, and the next one is asked", async () => {
  const [gone, unreachable] = await Promise.all([openAnsweringNode({}), openAnsweringNode({})]);
  await gone[Symbol.asyncDispose]();
  await unreachable[Symbol.asyncDispose]();
  const error: unknown = await requireUsableNode(reachNode([`${gone.url}/secret-key`], 0), undefined).catch(
    (reason: unknown) => reason,
  );
  expect(String(error)).toContain("The node accepts no connection, or has closed it.");
  expect(JSON.stringify(error) + String(Reflect.get(Object(error), "cause"))).not.toContain("secret-key");
  await using node = await openAnsweringNode({
    eth_chainId: "0x539",
    eth_syncing: false,
    eth_getBlockByNumber: block(now()),
  });
  expect(await requireUsableNode(reachNode([`${gone.url}/secret-key`, node.url], 0), undefined)).toBe(1_337);
});

test("the refusals and the data of a node have no part of its URL that may be a key, and say why it refused", async () => {
  const answers: { [method: string]: unknown } = {};
  await using node = await openAnsweringNode(answers);
  const secrets = ["aKeyInThePath", "aKeyInTheQuery", "aUser", "aPassword"] as const;
  const [path, query, user, password] = secrets;
  const url = `${node.url.replace("//", `//${user}:${password}@`)}/v2/${path}?apikey=${query}`;
  const connection = new NodeConnection([url]);
  const header = Buffer.from(`${user}:${password}`).toString("base64");
  const quoted = [url, path, path.toUpperCase(), encodeURIComponent(url), `Basic ${header}`];
  const error = { code: -32_001, message: `forbidden: ${quoted.join(" ")}`, data: { url } };
  answers["eth_blockNumber"] = { error };
  const refused = await connection.ask("eth_blockNumber", []).catch((reason: unknown) => reason);
  expect(describeRefusal(refused)).toBe(
    "The node refused a request (-32001): forbidden: [hidden] [hidden] [hidden] [hidden] Basic [hidden].",
  );
  for (const cause of causesOf(refused))
    for (const secret of [...secrets.filter((one) => one !== user), header])
      expect((JSON.stringify(cause) + String(cause.stack)).toLowerCase()).not.toContain(secret.toLowerCase());
});

test("a node that refuses the upgrade to a WebSocket is asked for it after pauses, however many requests there are", async () => {
  let upgrades = 0;
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  server.on("upgrade", (_, socket) => {
    upgrades += 1;
    socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  });
  await once(server, "listening");
  const connection = new NodeConnection([`ws://127.0.0.1:${portOf(server)}`]);
  const asked: Promise<unknown>[] = [];
  for (let requests = 0; requests < 20; requests += 1) {
    asked.push(connection.ask("eth_blockNumber", []));
    await endOfTurn();
  }
  for (const outcome of await Promise.allSettled(asked))
    expect(outcome).toMatchObject({
      status: "rejected",
      reason: {
        message:
          "The node accepts no connection, refuses the WebSocket (check the key in its URL), or has closed it.",
      },
    });
  // At once, and after pauses of 250, 500 and 1,000 ms; a busy machine takes longer than two seconds for the repeated requests.
  expect(upgrades).toBeLessThanOrEqual(6);
  await connection.close();
});

test("of several nodes, one of another chain is refused by its place, and one that does not respond is not", async () => {
  const answering = async (id: number) => await openAnsweringNode({ eth_chainId: numberToHex(id) });
  await using one = await answering(1_337);
  await using other = await answering(31_337);
  const gone = await answering(1);
  await gone[Symbol.asyncDispose]();
  const difference = async (client: { getChainId: () => Promise<number> }) => {
    const id = await client.getChainId();
    return id === 1_337 ? null : `chain id is ${id}`;
  };
  await requireSameChain([one.url, gone.url, one.url], difference);
  await expect(requireSameChain([one.url, other.url], difference)).rejects.toMatchObject({
    code: "node_unusable",
    message:
      "URL 2 of the option network.rpcUrls is of another chain: chain id is 31337. Leave it out, or name a node of the same chain.",
  });
});

test.each([
  ["ftp://rpc.example", "a URL of another scheme"],
  ["http://127.0.0.1:99999", "an invalid URL"],
  ["ws://user:secret@127.0.0.1", "a user in the URL of a WebSocket, which is not sent"],
])("the URL %s is refused without naming it", (url, wrong) => {
  expect(() => reachNode([url], 0)).toThrow(
    `The option network.rpcUrls has ${wrong}. Use one such as https://`,
  );
});

test.each([
  ["notaurl", "an invalid URL"],
  ["ftp://rpc.example", "a URL of another scheme"],
  ["wss://rpc.example", "a URL of another scheme"],
  ["https://user:secret@rpc.example", "a user in the URL, which pages do not send"],
])("the public URL %s is refused before anything starts", async (publicRpcUrl, wrong) => {
  const files = { keys: "missing-keys.json", deployment: "missing-deployment.json" };
  const network = { rpcUrls: ["http://127.0.0.1:1"], ...files, publicRpcUrl };
  await expect(createSandbox({ network })).rejects.toMatchObject({
    code: "option_invalid",
    message: `The option network.publicRpcUrl has ${wrong}. Use one such as https://rpc.example.`,
  });
});
