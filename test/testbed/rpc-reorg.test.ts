import { createPublicClient, createWalletClient, http, webSocket } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { foundry } from "viem/chains";
import { expect, test } from "vitest";
import { createSandbox } from "../../sandbox/create-sandbox.ts";

interface Reorg {
  Method: "anvil_reorg";
  Parameters: [depth: number, transactions: []];
  ReturnType: null;
}

test.for(["HTTP", "a WebSocket"])(
  "a reorg over %s right after a transaction was sent replaces its block, and the chain stays whole",
  async (way) => {
    await using sandbox = await createSandbox({ seed: "rpc-reorg" });
    const { rpc } = sandbox.description.urls;
    const { private_key } = sandbox.description.wallets["buyer"] ?? {};
    const account = privateKeyToAccount(private_key ?? "0x");
    const transport = way === "HTTP" ? http(rpc) : webSocket(rpc.replace("http", "ws"), { reconnect: false });
    const wallet = createWalletClient({ account, chain: foundry, transport });
    const client = createPublicClient({ chain: foundry, transport, cacheTime: 0 });
    await sandbox.chain.client.mine({ blocks: 3 });
    const before = await client.getBlockNumber();
    // A creation that loops until its gas is used up: its block takes a while to make.
    await wallet.sendTransaction({ data: "0x5b5f56", gas: 29_000_000n });
    await client.request<Reorg>({ method: "anvil_reorg", params: [2, []] });
    expect(await client.getBlockNumber()).toBe(before + 1n);
    for (let number = before + 1n; number > 0n; number -= 1n) {
      const { parentHash } = await client.getBlock({ blockNumber: number });
      expect(await client.getBlock({ blockNumber: number - 1n })).toHaveProperty("hash", parentHash);
    }
  },
);
