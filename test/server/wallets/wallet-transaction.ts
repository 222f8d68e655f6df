import { createWalletClient, type Hex, http, type LocalAccount, publicActions } from "viem";

/** Sends a transaction of an account as any wallet would, over RPC, and waits until it is mined. */
export async function sendFrom(
  account: LocalAccount,
  { to, data }: { to: Hex; data: Hex },
  rpc: string,
): Promise<Hex> {
  const client = createWalletClient({ account, transport: http(rpc) }).extend(publicActions);
  const hash = await client.sendTransaction({ chain: null, to, data });
  await client.waitForTransactionReceipt({ hash, pollingInterval: 10 });
  return hash;
}
