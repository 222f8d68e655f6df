import { toHex } from "viem";
import { expect, test } from "vitest";
import { z } from "zod";
import { usdc } from "../../protocol/values/amount.ts";
import { createApiClient, unwrap } from "../../sandbox/client/api-client.ts";
import { createSandbox } from "../../sandbox/create-sandbox.ts";
import type { SandboxDescription } from "../../sandbox/options/description.ts";
import { actorsOf } from "../../testkit/demo/actors.ts";
import { silentPrinter } from "../../testkit/demo/printer.ts";
import { Session } from "../../testkit/demo/session.ts";
import { enrollMerchant } from "../../testkit/demo/show-merchant.ts";
import { demoSteps } from "../../testkit/demo/show-purchase.ts";
import { Storefront, send } from "../crash/storefront.ts";
import { controlSandbox } from "../kit/control.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { kill } from "./kill.ts";
import { readBlocks, rpcOf } from "./rpc.ts";
import { startSandbox } from "./started-sandbox.ts";

const victims = ["the program", "all at once"] as const;

test.for(victims)(
  "nothing that was answered is lost when %s gets SIGKILL: equal blocks, byte-identical replays, and the purchase continues",
  async (victim) => {
    const folder = await temporaryFolder();
    const first = await startSandbox(folder);
    const storefront = await Storefront.open(first.description);
    const request = await storefront.prepare("offer");
    const answer = await send(first.description, storefront.credential, request);
    expect(answer.status).toBe(200);
    const blocks = await readBlocks(first.description);
    await kill(first, victim);

    await using second = await createSandbox({ dataDirectory: folder });
    expect(second.description.chain).toEqual(first.description.chain);
    expect((await readBlocks(second.description)).slice(0, blocks.length)).toEqual(blocks);
    const replayed = await send(second.description, storefront.credential, request);
    expect(replayed).toEqual({ ...answer, replayed: true });
    const again = await storefront.reopen(second.description);
    const refund = await again.prepare("collect_refund");
    expect((await send(second.description, again.credential, refund)).status).toBe(201);
  },
);

test("every change of the chain survives a kill of all processes: time, balances, code, reorgs, and transactions of unlocked and impersonated accounts", async () => {
  const folder = await temporaryFolder();
  const first = await startSandbox(folder);
  const rpc = rpcOf(first.description);
  const [unlocked = ""] = z.array(z.string()).parse(await rpc("eth_accounts"));
  const [poor, contract] = ["0x00000000000000000000000000000000000000aa", `0x${"c0".repeat(20)}`];
  await rpc("anvil_setBalance", poor, toHex(10n ** 18n));
  await rpc("anvil_impersonateAccount", poor);
  const transfer = { from: poor, to: unlocked, value: "0x1" };
  await rpc("eth_sendTransactionSync", transfer);
  await rpc("eth_sendTransactionSync", { ...transfer, gas: "0x5208", gasPrice: "0xb2d05e00" });
  // Stores what a block says of itself, and reverts when it is sent ether.
  await rpc("anvil_setCode", contract, "0x34600d5743425544600155005b60006000fd");
  await rpc("eth_sendTransactionSync", { from: unlocked, to: contract, gas: "0x186a0" });
  await rpc("eth_sendTransactionSync", { from: unlocked, to: contract, gas: "0x186a0", value: "0x1" });
  await rpc("evm_setBlockGasLimit", toHex(25_000_000));
  await rpc("anvil_setNextBlockBaseFeePerGas", "0x5f5e100");
  await rpc("evm_mine");
  await controlSandbox(first.description, "POST", "/clock", { seconds: 86_400 });
  await rpc("anvil_mine", "0x96");
  await rpc("anvil_setBalance", poor, toHex(5n * 10n ** 17n));
  await rpc("anvil_mine", "0x3");
  await rpc("anvil_reorg", 2, []);
  await rpc("anvil_setNonce", poor, "0x20");
  await rpc("anvil_setStorageAt", contract, toHex(7, { size: 32 }), toHex(8, { size: 32 }));
  // Waits for a block, so that all before it is known to be kept.
  await controlSandbox(first.description, "POST", "/blocks", { blocks: 1 });
  const balance = await rpc("eth_getBalance", poor, "latest");
  const blocks = await readBlocks(first.description);
  await kill(first, "all at once");

  await using second = await createSandbox({ dataDirectory: folder });
  const after = rpcOf(second.description);
  expect(await readBlocks(second.description)).toEqual(blocks);
  expect(await after("eth_getBalance", poor, "latest")).toBe(balance);
  expect(await after("eth_getTransactionCount", poor, "latest")).toBe("0x20");
  expect(await after("eth_getStorageAt", contract, "0x7", "latest")).toBe(toHex(8, { size: 32 }));
  // Who was impersonated still is.
  await after("eth_sendTransactionSync", transfer);
});

test("a restore and the changes after it survive a kill of all processes, with chain and store in one state", async () => {
  const folder = await temporaryFolder();
  const first = await startSandbox(folder);
  const session = await Session.open(actorsOf(first.description), silentPrinter);
  const merchant = await enrollMerchant(session);
  const kept = await demoSteps.createPurchase(session, merchant, "kept", "25000000");
  await controlSandbox(first.description, "POST", "/snapshots");
  await demoSteps.activate(session, kept, "activate");
  await demoSteps.approve(session, session.actors.buyer, kept, 25n * usdc);
  await controlSandbox(first.description, "POST", "/snapshots/1/restore", {});
  const restored = await readBlocks(first.description);
  await kill(first, "all at once");

  const second = await startSandbox(folder);
  expect(await readBlocks(second.description)).toEqual(restored);
  const later = await Session.open(actorsOf(second.description), silentPrinter);
  const read = async ({ urls }: SandboxDescription) =>
    unwrap(
      await createApiClient(urls.api, later.credential).GET("/v1/routing/programs/{program}/purchases/{id}", {
        params: { path: { program: kept.program, id: kept.id } },
      }),
    );
  expect(await read(second.description)).toMatchObject({ status: "created" });
  await demoSteps.activate(later, kept, "activate");
  const blocks = await readBlocks(second.description);
  await kill(second, "all at once");

  await using third = await createSandbox({ dataDirectory: folder });
  expect((await readBlocks(third.description)).slice(0, blocks.length)).toEqual(blocks);
  expect(await read(third.description)).toMatchObject({ status: "active" });
});
