import { privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import { type ApiClient, createApiClient } from "../../sandbox/client/api-client.ts";
import { createSandbox } from "../../sandbox/create-sandbox.ts";
import type { SandboxDescription } from "../../sandbox/options/description.ts";
import { startSandbox } from "../end-to-end/started-sandbox.ts";
import { present } from "../kit/answer.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { sendFrom } from "./wallets/wallet-transaction.ts";

const program = "prg_demo";

async function connect({ urls, accounts }: SandboxDescription): Promise<ApiClient> {
  const account = createApiClient(urls.api, accounts[0]?.key);
  const { credential } = present(await account.POST("/v1/routing/access", { body: {} }));
  return createApiClient(urls.api, credential);
}

function write(key: string, id = "") {
  return { path: { program, id }, header: { "Idempotency-Key": key } };
}

/** A purchase of a merchant that has enrolled. */
async function createPurchase(api: ApiClient, { urls, wallets }: SandboxDescription) {
  const { merchant: wallet, buyer } = wallets;
  if (wallet === undefined || buyer === undefined) throw new Error("A sandbox has a merchant and a buyer.");
  const merchant = present(
    await api.POST("/v1/routing/programs/{program}/merchants", {
      params: write("merchant-1"),
      body: { wallet: wallet.address, name: "Corner Books", funding_cap: "100000000" },
    }),
  );
  const { transaction, message } = merchant.enrollment;
  const account = privateKeyToAccount(wallet.private_key);
  const transaction_hash = await sendFrom(account, transaction, urls.rpc);
  const signature = await account.signMessage({ message });
  const enrollment = { params: write("enroll-1", merchant.id), body: { transaction_hash, signature } };
  present(await api.POST("/v1/routing/programs/{program}/merchants/{id}/enrollment", enrollment));
  return present(
    await api.POST("/v1/routing/programs/{program}/purchases", {
      params: write("purchase-1"),
      body: { merchant_id: merchant.id, buyer: buyer.address, amount: "25000000", terms: {} },
    }),
  );
}

test.each(["after_signed", "after_mined"])(
  "a process that crashes at %s loses nothing: the same key continues with the same operation after a restart",
  async (point) => {
    const folder = await temporaryFolder();
    const first = await startSandbox(folder);
    const before = await connect(first.description);
    const purchase = await createPurchase(before, first.description);
    const body = { commitment_hash: purchase.commitment.hash };
    const activate = async (api: ApiClient) =>
      await api.POST("/v1/routing/programs/{program}/purchases/{id}/activate", {
        params: write("activate-1", purchase.id),
        body,
      });
    const set = await fetch(`${first.description.urls.control}/faults`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ layer: "relayer", point, action: "crash" }),
    });
    expect(set.ok).toBe(true);
    await expect(activate(before)).rejects.toThrow();
    await first.end("SIGKILL");

    await using second = await createSandbox({ dataDirectory: folder });
    const after = await connect(second.description);
    const other = await after.POST("/v1/routing/programs/{program}/purchases/{id}/activate", {
      params: write("activate-1", purchase.id),
      body: { commitment_hash: `0x${"00".repeat(32)}` },
    });
    expect(other.error).toMatchObject({ code: "idempotency_key_reused" });
    const answer = present(await activate(after));
    expect(answer.purchase.status).toBe("active");
    expect(answer.operation.hashes).toHaveLength(1);
    expect(present(await activate(after))).toEqual(answer);
    const { data } = present(
      await after.GET("/v1/routing/programs/{program}/transactions", { params: { path: { program } } }),
    );
    expect(data.map(({ operation_id }) => operation_id)).toEqual([answer.operation.operation_id]);
  },
);
