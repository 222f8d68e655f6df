import { expect } from "vitest";
import { createApiClient, unwrap } from "../../../../sandbox/client/api-client.ts";
import { createSandbox } from "../../../../sandbox/create-sandbox.ts";
import { startSandbox } from "../../../end-to-end/started-sandbox.ts";
import type { TestKit } from "../../../kit/test-kit.ts";
import { temporaryFolder } from "../../../temporary-folder.ts";

/** Delivers every event of the outbox: the first one in vain, to a receiver that answers in every way. */
export async function deliverEverything(kit: TestKit): Promise<void> {
  await kit.sandbox.faults.set({ layer: "delivery", action: "answer", status: 500, count: 4 });
  await kit.sandbox.faults.set({ layer: "delivery", action: "reset" });
  let status = 200;
  while (status === 200) status = (await kit.post(kit.path("/notifications"), {})).status;
  const first = JSON.parse((await kit.get(kit.path("/notification-receipts?limit=1"))).text);
  await kit.get(kit.path(`/notification-receipts?limit=100&cursor=${first.next_cursor}`));
}

/** The answer of `POST …/notifications` after its process was killed in the middle of an attempt, whose outcome is unknown. */
export async function deliverAfterCrash(): Promise<string> {
  const folder = await temporaryFolder();
  let credential = "";
  const deliver = async (api: string) =>
    await createApiClient(api, credential).POST("/v1/routing/programs/{program}/notifications", {
      params: { path: { program: "prg_demo" }, header: { "Idempotency-Key": "delivery-1" } },
      body: {},
    });
  {
    await using first = await startSandbox(folder, "--mode", "deterministic");
    const { urls, accounts, wallets } = first.description;
    const account = createApiClient(urls.api, accounts[0]?.key);
    credential = unwrap(await account.POST("/v1/routing/access", { body: {} })).credential;
    await createApiClient(urls.api, credential).POST("/v1/routing/programs/{program}/merchants", {
      params: { path: { program: "prg_demo" }, header: { "Idempotency-Key": "merchant-1" } },
      body: { wallet: wallets["merchant"]?.address ?? "0x", name: "Corner Books", funding_cap: "1" },
    });
    await fetch(`${urls.control}/faults`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ layer: "delivery", action: "crash", point: "before_delivery" }),
    });
    await expect(deliver(urls.api)).rejects.toThrow("fetch failed");
    await first.end("SIGKILL");
  }
  await using second = await createSandbox({ dataDirectory: folder });
  return JSON.stringify((await deliver(second.description.urls.api)).data);
}
