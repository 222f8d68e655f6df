import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { approveCall } from "../../protocol/call.ts";
import { createChainClient } from "../../sandbox/chain/client/chain-client.ts";
import { isRunning } from "../../sandbox/lib/processes/processes.ts";
import type { SandboxDescription } from "../../sandbox/options/description.ts";
import { Wallet } from "../../sandbox/wallets/wallet.ts";
import type { StartedSandbox } from "../end-to-end/started-sandbox.ts";
import { controlSandbox } from "../kit/control.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { codeOf, expectBooksToBalance, operationIn, readTransactions } from "./books.ts";
import { sendUntilDone, start } from "./crash-series.ts";
import { type RelayedRequest, Storefront, send } from "./storefront.ts";

/** The merchant lets the funding source draw so much from now on. */
async function fund({ urls, wallets, contracts }: SandboxDescription, allowance: bigint): Promise<void> {
  const { merchant } = wallets;
  if (merchant === undefined) throw new Error("A sandbox has a merchant.");
  const wallet = new Wallet(privateKeyToAccount(merchant.private_key), createChainClient(urls.rpc));
  const {
    receipt: { status },
  } = await wallet.send(approveCall(contracts.token, contracts.funding_source, allowance));
  expect(status).toBe("success");
}

describe("a refund that reverted is collected once when the sandbox is killed", () => {
  const points = ["after_intent", "after_signed", "sent", "after_mined", "after_confirmed"] as const;
  let folder: string;
  let sandbox: StartedSandbox;
  let credential: string;
  const requests = new Map<string, RelayedRequest>();
  const collected: RelayedRequest[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "routing-sandbox-attempts-"));
    sandbox = await start(folder);
    const storefront = await Storefront.open(sandbox.description);
    for (const point of points) requests.set(point, await storefront.prepare("collect_refund"));
    credential = storefront.credential;
  }, 60_000);

  afterAll(async () => {
    await sandbox.end("SIGTERM");
    await rm(folder, { recursive: true, force: true });
  });

  // The sandbox that one kill is survived by is the one that the next kill hits.
  test.each(points)("at %s of its next attempt", async (point) => {
    const { description } = sandbox;
    const request = requests.get(point);
    if (request === undefined) throw new Error(`Nothing is prepared for ${point}.`);
    await controlSandbox(description, "POST", "/faults", {
      layer: "relayer",
      point: "after_signed",
      action: "hold",
    });
    expect((await send(description, credential, request)).status).toBe(202);
    // The merchant's block is a new head, with which the relayer sends what was held.
    await fund(description, 0n);
    const last = async () => (await readTransactions(description, credential)).data.at(-1);
    await expect.poll(async () => (await last())?.status).toBe("reverted");
    await fund(description, 5_000_000n);
    await controlSandbox(description, "POST", "/faults", { layer: "relayer", point, action: "crash" });
    const other = { ...request, key: `${request.key}-other` };
    await expect(send(description, credential, other)).rejects.toThrow();
    await expect.poll(() => isRunning({ pid: description.pid, started: null })).toBe(false);

    sandbox = await start(folder);
    const answer = await sendUntilDone(sandbox.description, credential, other);
    expect(operationIn(answer)).toMatchObject({
      attempt: 2,
      hashes: [
        { attempt: 1, outcome: "reverted" },
        { attempt: 2, outcome: "succeeded" },
      ],
    });
    const late = await send(sandbox.description, credential, request);
    expect(late).toMatchObject({ status: 201, replayed: false });
    expect(operationIn(late)).toEqual(operationIn(answer));
    collected.push(request);
    await expectBooksToBalance(sandbox.description, credential, collected);
  });
});

test("an operation that was abandoned before a kill begins its next attempt with the next request after it, and not before", async () => {
  const folder = await temporaryFolder();
  const first = await start(folder);
  const { description } = first;
  const storefront = await Storefront.open(description);
  const request = await storefront.prepare("offer");
  const { credential } = storefront;
  await controlSandbox(description, "POST", "/faults", {
    layer: "relayer",
    point: "broadcast",
    action: "foreign_nonce",
  });
  const refused = await send(description, credential, request);
  expect([refused.status, codeOf(refused)]).toEqual([409, "outcome_unknown"]);
  const { operation_id } = (await readTransactions(description, credential)).data[0] ?? {};
  await controlSandbox(description, "POST", `/operations/${operation_id}/resume`, { abandon: true });
  await first.end("SIGKILL");

  await using second = await start(folder);
  const { data, gas_budget } = await readTransactions(second.description, credential);
  expect(data).toMatchObject([{ operation_id, attempt: 2, status: "failed", status_reason: "abandoned" }]);
  expect(gas_budget.reserved_wei).toBe("0");
  const answer = await sendUntilDone(second.description, credential, request);
  expect(operationIn(answer)).toMatchObject({ operation_id, attempt: 2, status: "confirmed", nonce: 1 });
  await expectBooksToBalance(second.description, credential, [request], 1);
});
