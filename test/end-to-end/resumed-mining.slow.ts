import { type Hex, keccak256, parseEther, toHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { createSandbox } from "../../sandbox/create-sandbox.ts";
import type { SandboxDescription } from "../../sandbox/options/description.ts";
import { controlSandbox } from "../kit/control.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { kill, type Victims } from "./kill.ts";
import { rpcOf } from "./rpc.ts";
import { startSandbox } from "./started-sandbox.ts";

/** Signed transfers of one account, with nonces that follow each other. */
async function signTransfers({ wallets }: SandboxDescription, count: number, value = 1n) {
  const { private_key } = wallets["stranger"] ?? {};
  if (private_key === undefined) throw new Error("There is no stranger.");
  const account = privateKeyToAccount(private_key);
  return await Promise.all(
    Array.from({ length: count }, async (_, nonce) =>
      account.signTransaction({
        chainId: 31_337,
        type: "eip1559",
        nonce,
        gas: 21_000n,
        to: account.address,
        value,
        maxFeePerGas: parseEther("0.00000001"),
        maxPriorityFeePerGas: 1n,
      }),
    ),
  );
}

const drops = [
  { method: "anvil_dropTransaction", read: ({ hash }) => [hash] },
  { method: "anvil_dropAllTransactions", read: () => [] },
  { method: "anvil_removePoolTransactions", read: ({ from }) => [from] },
] as const satisfies { method: string; read: (dropped: { hash: Hex; from: Hex }) => Hex[] }[];
const ends = ["Anvil", "all at once", "stop"] as const;

/** Starts a sandbox. `resume` ends it, or its Anvil, and returns the description of what continues. */
async function startSandboxToEnd(
  end: (typeof ends)[number],
): Promise<{ description: SandboxDescription; resume(): Promise<SandboxDescription> }> {
  const folder = await temporaryFolder();
  const open = async () => {
    const sandbox = await createSandbox({ dataDirectory: folder, mode: "live" });
    onTestFinished(async () => await sandbox.close());
    return sandbox;
  };
  if (end === "all at once") {
    const killed = await startSandbox(folder);
    const resume = async () => {
      await kill(killed, end);
      return (await open()).description;
    };
    return { description: killed.description, resume };
  }
  const { description, chain, close } = await open();
  const resume = async () => {
    if (end === "stop") {
      await close();
      return (await open()).description;
    }
    const { pid, ended } = chain.anvil;
    process.kill(pid, "SIGKILL");
    await ended;
    return description;
  };
  return { description, resume };
}

test.for(drops.flatMap((drop) => ends.map((end) => ({ ...drop, end }))))(
  "what $method dropped stays dropped, and what was sent after it still waits, when the sandbox resumes ($end)",
  async ({ method, read, end }) => {
    const { description, resume } = await startSandboxToEnd(end);
    await controlSandbox(description, "POST", "/mining", { every: "never" });
    const rpc = rpcOf(description);
    const [raw = "0x"] = await signTransfers(description, 1);
    const [other = "0x"] = await signTransfers(description, 1, 2n);
    await rpc("eth_sendRawTransaction", raw);
    const from = description.wallets["stranger"]?.address ?? "0x";
    await rpc(method, ...read({ hash: keccak256(raw), from }));
    expect(await rpc("txpool_status")).toEqual({ pending: "0x0", queued: "0x0" });
    await rpc("eth_sendRawTransaction", other);
    const resumed = await resume();
    const after = rpcOf(resumed);
    const count = async () => await after("txpool_status").catch(() => null);
    await expect.poll(count, { timeout: 30_000, interval: 50 }).toEqual({ pending: "0x1", queued: "0x0" });
    await controlSandbox(resumed, "POST", "/blocks", { blocks: 1 });
    const block = z.object({ transactions: z.array(z.string()) });
    expect(block.parse(await after("eth_getBlockByNumber", "latest", false)).transactions).toEqual([
      keccak256(other),
    ]);
  },
);

test.for(["Anvil", "all at once"] as const satisfies Victims[])(
  "what waits for a block still waits, in its order, and blocks are made as before, when %s gets SIGKILL",
  async (victim) => {
    const folder = await temporaryFolder();
    const first = await startSandbox(folder);
    await controlSandbox(first.description, "POST", "/mining", { every: "never" });
    const rpc = rpcOf(first.description);
    const raws = await signTransfers(first.description, 3);
    const hashes: string[] = [];
    for (const raw of raws) hashes.push(z.string().parse(await rpc("eth_sendRawTransaction", raw)));
    await controlSandbox(first.description, "POST", "/blocks", { blocks: 1 });
    const [, later = ""] = await signTransfers(first.description, 2);
    await expect(rpc("eth_sendRawTransaction", later)).rejects.toThrow("nonce too low");
    const more = (await signTransfers(first.description, 6)).slice(3);
    const waiting: string[] = [];
    for (const raw of more) waiting.push(z.string().parse(await rpc("eth_sendRawTransaction", raw)));
    await kill(first, victim);
    await using second = victim === "Anvil" ? first : await startSandbox(folder);
    const after = rpcOf(second.description);
    const count = async () => await after("txpool_status").catch(() => null);
    await expect.poll(count, { timeout: 30_000, interval: 50 }).toEqual({ pending: toHex(3), queued: "0x0" });
    expect(await after("anvil_getAutomine")).toBe(false);
    await controlSandbox(second.description, "POST", "/blocks", { blocks: 1 });
    const block = z.object({ transactions: z.array(z.string()) });
    expect(block.parse(await after("eth_getBlockByNumber", "latest", false)).transactions).toEqual(waiting);
    await controlSandbox(second.description, "POST", "/mining", { every: 3_600 });
    await kill(second, "all at once");
    await using third = await createSandbox({ dataDirectory: folder });
    expect(await rpcOf(third.description)("anvil_getIntervalMining")).toBe(3_600);
    expect(await rpcOf(third.description)("txpool_status")).toEqual({ pending: "0x0", queued: "0x0" });
  },
);
