import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { createSandbox, type Sandbox } from "../../sandbox/create-sandbox.ts";
import type { SandboxDescription } from "../../sandbox/options/description.ts";
import type { SandboxOptions } from "../../sandbox/options/options.ts";
import { transactionsSchema } from "../../server/schemas/transactions.ts";
import { runCli } from "../cli/run-cli.ts";
import { codeOf, expectBooksToBalance, operationIn, readTransactions } from "../crash/books.ts";
import { Storefront, send } from "../crash/storefront.ts";
import { controlSandbox } from "../kit/control.ts";
import { temporaryFolder } from "../temporary-folder.ts";

async function open(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await createSandbox(options);
  onTestFinished(() => sandbox.close());
  return sandbox;
}

async function readPage({ description }: Sandbox, credential: string, query: string) {
  const { urls, accounts } = description;
  const url = `${urls.api}/v1/routing/programs/${accounts[0]?.program}/transactions?${query}`;
  const response = await fetch(url, { headers: { Authorization: `Bearer ${credential}` } });
  const body: unknown = await response.json();
  return { status: response.status, body };
}

async function setFault(description: SandboxDescription, point: string, action: string) {
  await controlSandbox(description, "POST", "/faults", { layer: "relayer", point, action });
}

test("the transactions show every hash, the call, the costs, the times and the budget, page by page and by status", async () => {
  const sandbox = await open();
  const { description } = sandbox;
  const storefront = await Storefront.open(description);
  const refund = await storefront.prepare("collect_refund");
  const [bumped, held] = [await storefront.prepare("offer"), await storefront.prepare("offer")];
  const { credential } = storefront;
  await send(description, credential, refund);
  await setFault(description, "after_signed", "replace");
  await send(description, credential, bumped);
  await setFault(description, "after_intent", "hold");
  expect((await send(description, credential, held)).status).toBe(202);

  const { data, gas_budget } = await readTransactions(description, credential);
  expect(data.map(({ sequence, kind, status }) => [sequence, kind, status])).toEqual([
    [1, "offer", "confirmed"],
    [2, "collect_refund", "confirmed"],
    [3, "offer", "confirmed"],
    [4, "offer", "accepted"],
  ]);
  const [, collected, raised, waiting] = data;
  expect(collected).toMatchObject({
    subject: { type: "refund", id: expect.stringMatching(/^ref_/) },
    decoded: { function: "collectRefund", args: { award: "1000000", id: refund.commitment } },
    hashes: [{ hash: collected?.hash, purpose: "original", outcome: "succeeded" }],
    confirmations: 1,
    reorg_count: 0,
    error: null,
  });
  expect(raised?.hashes).toMatchObject([
    { purpose: "original", outcome: "replaced" },
    { purpose: "bump", outcome: "succeeded", hash: raised?.hash },
  ]);
  for (const operation of [collected, raised]) {
    const receipt = await sandbox.chain.client.getTransactionReceipt({ hash: operation?.hash ?? "0x" });
    expect(operation).toMatchObject({
      gas_used: receipt.gasUsed.toString(),
      cost_wei: (receipt.gasUsed * receipt.effectiveGasPrice).toString(),
      reserved_wei: "0",
      block_hash: receipt.blockHash,
    });
    for (const time of ["created_at", "signed_at", "broadcast_at", "mined_at", "confirmed_at"] as const)
      expect(operation?.[time]).toMatch(/^2026-01-01T/);
  }
  expect(waiting).toMatchObject({
    subject: { type: "purchase", id: held.purchase },
    hashes: [],
    nonce: null,
  });
  expect(gas_budget.reserved_wei).toBe(waiting?.reserved_wei);
  await expectBooksToBalance(description, credential, [refund, bumped]);
  await expectPages(sandbox, credential, data);
});

/** Expects the same four transactions page by page and by status. */
async function expectPages(
  sandbox: Sandbox,
  credential: string,
  data: readonly ReturnType<typeof operationIn>[],
) {
  const [, collected, , waiting] = data;
  const first = transactionsSchema.parse((await readPage(sandbox, credential, "limit=3")).body);
  expect(first.data).toEqual(data.slice(0, 3));
  const rest = await readPage(sandbox, credential, `limit=3&cursor=${first.next_cursor}`);
  expect(transactionsSchema.parse(rest.body)).toMatchObject({ data: data.slice(3), next_cursor: null });
  const open_ = await readPage(sandbox, credential, "status=accepted");
  expect(transactionsSchema.parse(open_.body).data).toEqual([waiting]);
  const confirmed = await readPage(
    sandbox,
    credential,
    `status=confirmed&limit=1&cursor=${data[0]?.operation_id}`,
  );
  expect(transactionsSchema.parse(confirmed.body).data).toEqual([collected]);
  const wrong = await readPage(sandbox, credential, "status=lost");
  expect(wrong).toMatchObject({ status: 422, body: { code: "validation_failed" } });
}

test.each(["offer", "collect_refund"] as const)(
  "with three confirmations an %s answers 202 until it has them, then what it is, and a reorg after that is reported and repaired",
  async (kind) => {
    // Everything before it is done with one confirmation.
    const folder = await temporaryFolder();
    const before = await open({ dataDirectory: folder });
    const storefront = await Storefront.open(before.description);
    const request = await storefront.prepare(kind);
    const { credential } = storefront;
    await before.close();
    const sandbox = await open({ dataDirectory: folder, confirmations: 3, receiptTimeoutMs: 100 });
    const { description, chain } = sandbox;
    const last = async () => (await readTransactions(description, credential)).data.at(-1);
    for (const confirmations of [1, 2]) {
      const answer = await send(description, credential, request);
      expect(answer.status).toBe(202);
      expect(operationIn(answer)).toMatchObject({ status: "mined", confirmations });
      await chain.client.mine({ blocks: 1 });
      // Without waiting for the relayer, which follows the chain on its own.
      expect(await last()).toMatchObject({ confirmations: confirmations + 1 });
    }
    const done = await send(description, credential, request);
    expect(done.status).toBe(request.success);
    expect(operationIn(done).status).toBe("confirmed");

    await chain.client.request<{ Method: "anvil_reorg"; Parameters: [number, []]; ReturnType: null }>({
      method: "anvil_reorg",
      params: [3, []],
    });
    expect((await last())?.reorg_count).toBe(1);
    await expect.poll(async () => (await last())?.block_number).not.toBeNull();
    await chain.client.mine({ blocks: 2 });
    const told = await last();
    expect(told?.status).toBe("confirmed");
    expect(told).toMatchObject({ hash: operationIn(done).hash, reorg_count: 1 });
    expect(told?.block_hash).not.toBe(operationIn(done).block_hash);
    await expectBooksToBalance(description, credential, [request]);
    // A stored answer does not change.
    expect(await send(description, credential, request)).toEqual({ ...done, replayed: true });
  },
);

test("a snapshot holds the faults, their counts and a pause of mining", async () => {
  const sandbox = await open({ receiptTimeoutMs: 50 });
  const { description, faults, chain } = sandbox;
  const storefront = await Storefront.open(description);
  const [first, second] = [await storefront.prepare("offer"), await storefront.prepare("offer")];
  const { credential } = storefront;
  await faults.set({ layer: "relayer", point: "broadcast", action: "lose_response", count: 2 });
  await faults.set({ layer: "relayer", point: "before_intent", action: "pause_mining" });
  expect((await send(description, credential, first)).status).toBe(202);
  const set = faults.list();
  expect(set).toMatchObject([
    { action: "lose_response", hits: 1, remaining: 1 },
    { action: "pause_mining", hits: 1, remaining: 0 },
  ]);
  const snapshot = await sandbox.snapshot();

  await faults.clear();
  expect((await send(description, credential, second)).status).toBe(200);
  await snapshot.restore();
  expect(faults.list()).toEqual(set);
  expect(await chain.client.getAutomine()).toBe(false);
  expect((await send(description, credential, second)).status).toBe(202);
  await faults.clear();
  expect(await chain.client.getAutomine()).toBe(true);
  expect((await send(description, credential, first)).status).toBe(200);
  expect((await send(description, credential, second)).status).toBe(200);
  await expectBooksToBalance(description, credential, [first, second]);
});

test("an operation that foreign use of the signer has stopped can be resumed", async () => {
  const sandbox = await open();
  const { description } = sandbox;
  const storefront = await Storefront.open(description);
  const [first, stopped] = [await storefront.prepare("offer"), await storefront.prepare("offer")];
  const { credential } = storefront;
  await send(description, credential, first);
  await setFault(description, "nonce", "foreign_nonce");
  const refused = await send(description, credential, stopped);
  expect([refused.status, codeOf(refused)]).toEqual([409, "outcome_unknown"]);
  const { operation } = z
    .looseObject({ operation: z.looseObject({ operation_id: z.string() }) })
    .parse(JSON.parse(refused.text));
  const resume = `/operations/${operation.operation_id}/resume`;
  expect(await controlSandbox(description, "POST", resume)).toMatchObject({ status: "confirmed", nonce: 2 });
  await expect(controlSandbox(description, "POST", resume)).rejects.toThrow(
    "only a relay operation that needs attention",
  );
  expect((await send(description, credential, stopped)).status).toBe(200);
  await expectBooksToBalance(description, credential, [first, stopped], 1);
});

test("an operation whose nonce was taken can be abandoned, and the next request gets another nonce", async () => {
  const sandbox = await open();
  const { description } = sandbox;
  const storefront = await Storefront.open(description);
  const [first, taken] = [await storefront.prepare("offer"), await storefront.prepare("offer")];
  const { credential } = storefront;
  await send(description, credential, first);
  await setFault(description, "broadcast", "foreign_nonce");
  const refused = await send(description, credential, taken);
  expect([refused.status, codeOf(refused)]).toEqual([409, "outcome_unknown"]);
  const stopped = async () => (await readTransactions(description, credential)).data.at(-1);
  const { operation_id = "" } = (await stopped()) ?? {};
  const resume = `/operations/${operation_id}/resume`;
  const still = { status: "needs_attention", status_reason: "nonce_taken", attempt: 1 };
  expect(await controlSandbox(description, "POST", resume, {})).toMatchObject(still);
  expect(await controlSandbox(description, "POST", resume, { abandon: false })).toMatchObject(still);
  await expect(controlSandbox(description, "POST", resume, { abandon: "yes" })).rejects.toThrow("422");

  expect(await controlSandbox(description, "POST", resume, { abandon: true })).toMatchObject({
    operation_id,
    status: "failed",
    status_reason: "abandoned",
    attempt: 2,
    nonce: null,
  });
  expect(await stopped()).toMatchObject({ reserved_wei: "0", hashes: [{ attempt: 1, nonce: 1 }] });
  await expect(controlSandbox(description, "POST", resume, { abandon: true })).rejects.toThrow(
    `${operation_id} is failed; only a relay operation that needs attention can be resumed.`,
  );
  const other = { ...taken, key: `${taken.key}-other` };
  const done = await send(description, credential, other);
  expect(done.status, done.text).toBe(200);
  expect(operationIn(done)).toMatchObject({ operation_id, attempt: 2, nonce: 2, status: "confirmed" });
  // The first key's answer was that the outcome is unknown: it gets the same success.
  const late = await send(description, credential, taken);
  expect(late.status, late.text).toBe(200);
  expect(operationIn(late)).toEqual(operationIn(done));
  await expectBooksToBalance(description, credential, [first, taken], 1);

  await expectInExplorer(sandbox, operationIn(done));
});

/** Expects that the explorer shows the attempts of an operation under it, and finds it by the hash of each. */
async function expectInExplorer(
  { description }: Sandbox,
  { operation_id, hashes }: ReturnType<typeof operationIn>,
) {
  expect(await controlSandbox(description, "GET", "/explorer/operations")).toMatchObject({
    data: [
      {
        id: operation_id,
        attempt: 2,
        transactions: hashes.map(({ hash, attempt }) => ({ hash, attempt })),
      },
      { attempt: 1 },
    ],
  });
  for (const { hash } of hashes) {
    const found = await controlSandbox(description, "GET", `/explorer/search?q=${hash}`);
    expect(found).toMatchObject({
      data: expect.arrayContaining([expect.objectContaining({ id: operation_id })]),
    });
  }
}

test("an abandoned operation is requested again while a reorg causes its first nonce to be filled, and succeeds afterwards", async () => {
  const sandbox = await open({ receiptTimeoutMs: 200 });
  const { description, relayer, faults } = sandbox;
  const storefront = await Storefront.open(description);
  const taken = await storefront.prepare("offer");
  const { credential } = storefront;
  await faults.set({ layer: "relayer", point: "broadcast", action: "foreign_nonce" });
  expect((await send(description, credential, taken)).status).toBe(409);
  const { operation_id = "" } = (await readTransactions(description, credential)).data.at(-1) ?? {};
  await relayer.abandon(operation_id);
  await faults.set({ layer: "relayer", point: "broadcast", action: "drop", count: null });
  await sandbox.chain.client.request<{
    Method: "anvil_reorg";
    Parameters: [number, never[]];
    ReturnType: null;
  }>({ method: "anvil_reorg", params: [1, []] });
  await relayer.follow();
  const waiting = await send(description, credential, taken);
  expect(waiting.status, waiting.text).toBe(202);
  const abandoned = { operation_id, attempt: 2, status: "failed", status_reason: "abandoned", hash: null };
  expect(operationIn(waiting)).toMatchObject(abandoned);
  expect((await readTransactions(description, credential)).data.at(-1)).toMatchObject(abandoned);
  await faults.clear();
  const done = await send(description, credential, taken);
  expect(done.status, done.text).toBe(200);
  expect(operationIn(done)).toMatchObject({ operation_id, attempt: 2, status: "confirmed" });
});

test("the command line sets, lists and clears faults", async () => {
  const folder = await temporaryFolder();
  const sandbox = await open({ dataDirectory: folder });
  const fault = async (...args: string[]) => await runCli("fault", ...args, "--data-dir", folder);
  const drop = ["--layer", "relayer", "--action", "drop"];
  const only = ["--kind", "offer", "--subject", "pur_a", "--count", "always"];
  const set = JSON.parse(await fault("set", ...drop, ...only, "--json"));
  expect(set).toMatchObject({
    point: "broadcast",
    match: { kind: "offer", subject_id: "pur_a" },
    remaining: null,
  });
  await fault("set", "reorg", "--point", "after_mined", "--depth", "3");
  await fault("set", "answer-lost", "--operation", "executeRefund");
  await fault("set", "slow", "--delay", "20");
  await fault("set", "--layer", "delivery", "--action", "answer", "--status", "410", "--count", "2");
  expect(sandbox.faults.list()).toMatchObject([
    set,
    { layer: "relayer", point: "after_mined", depth: 3, remaining: 1 },
    { layer: "api", match: { operation: "executeRefund" } },
    { layer: "api", action: "delay", delay_ms: 20 },
    { layer: "delivery", status: 410, remaining: 2 },
  ]);
  expect(JSON.parse(await fault("list", "--json"))).toEqual({ data: sandbox.faults.list() });
  expect(await fault("list")).toBe(
    "relayer: drop at broadcast; for subject_id pur_a, kind offer; has acted 0 times, acts until it is cleared\n" +
      "relayer: reorg at after_mined; 3 deep; has acted 0 times, acts 1 more\n" +
      "api: reset at after_commit; for operation executeRefund; has acted 0 times, acts 1 more\n" +
      "api: delay at before_commit; 20 ms; has acted 0 times, acts 1 more\n" +
      "delivery: answer at at_receiver; status 410; has acted 0 times, acts 2 more\n",
  );
  await expect(fault("set", ...drop, "--point", "simulate")).rejects.toMatchObject({
    code: 1,
    stderr: '--point is "simulate", where drop does not act. Use broadcast.\n',
  });
  await expect(fault("set", ...drop, "--program", "prg_nope")).rejects.toMatchObject({
    code: 1,
    stderr: '--program is "prg_nope", which is not a program of this sandbox. Use prg_demo or prg_other.\n',
  });
  await expect(fault("set", ...drop, "--count", "0")).rejects.toMatchObject({
    stderr: expect.stringContaining("always, or a whole number from 1 to 9007199254740991"),
  });
  expect(await fault("clear")).toBe("All faults are cleared.\n");
  expect(sandbox.faults.list()).toEqual([]);
});
