import type { Hex } from "viem";
import { purchaseRegistrarAbi, testUsdcAbi } from "../protocol/abi.generated.ts";
import { usdc } from "../protocol/amount.ts";
import { revokeFundingCall } from "../protocol/call.ts";
import { hashId } from "../protocol/id.ts";
import { refundExecutionSchema } from "../server/schemas/refund.ts";
import type { Stage } from "./stage/stage.ts";

/** What each function cost in a lifecycle, as a whole transaction. */
export interface GasUse {
  [name: string]: number;
}

/**
 * Takes a purchase from enrollment to refund through the API, by both routes, and checks the money on chain to the unit.
 *
 * @returns the gas of every function on the way.
 * @throws Error with the first step that an honest party could not take.
 */
export async function runLifecycle(stage: Stage): Promise<GasUse> {
  await stage.reset();
  const gas: GasUse = {};
  const measure = async (name: string, hash: Hex) => {
    gas[name] = Number((await stage.receipt(hash)).gasUsed);
    return hash;
  };
  for (const { key, value } of await stage.sandbox.store.list("used_transactions", {})) {
    if (value.step === "enrollment") await measure("enroll", `0x${key.slice(2)}`);
    if (value.step === "offer") await measure("offer", `0x${key.slice(2)}`);
  }
  const before = await balances(stage);

  const registration = stage.registration(stage.draft);
  const registered = await measure("register", await stage.succeed("merchant", registration));
  stage.expectAccepted(await stage.register(stage.draft, registered));
  const first = await measure("pay", await stage.succeed("buyer", stage.pay(stage.purchase)));
  const batch = stage.payBatch([
    [stage.purchase, 15n * usdc],
    [stage.second, 30n * usdc],
  ]);
  const rest = await measure("payBatch of 2", await stage.succeed("buyer", batch));
  stage.expectAccepted(await stage.reconcile(stage.purchase, [first, rest]));
  const permitted = stage.payWithPermit(stage.second, 10n * usdc);
  const last = await measure("payWithPermit", await stage.succeed("buyer", permitted));
  stage.expectAccepted(await stage.reconcile(stage.second, [last]));
  const { claim, call } = stage.claim(stage.purchase);
  const claimed = await measure("claim", await stage.succeed("beneficiary", call));
  stage.expectAccepted(await stage.fileClaim(claimed, await stage.signClaim(claim)));
  const decision = await stage.approveClaim();
  const refund = stage.expectAccepted(await stage.refund(decision.id));
  const { operation } = refundExecutionSchema.parse(refund.body);
  if (operation.hash === null) throw new Error("The refund has no transaction.");
  await measure("collectRefund", operation.hash);
  const after = await balances(stage);

  expectMoved("the buyer", after.buyer - before.buyer, -65n * usdc);
  expectMoved("the merchant", after.merchant - before.merchant, 60n * usdc);
  expectMoved("the beneficiary", after.beneficiary - before.beneficiary, 5n * usdc);
  expectMoved("the registrar, which must hold nothing,", after.registrar, 0n);
  expectMoved("the funding source, which must hold nothing,", after.fundingSource, 0n);
  await expectGapless(stage);

  const { program, id } = stage.merchant;
  const revoke = revokeFundingCall(stage.contracts.registrar, hashId(program), hashId(id));
  await measure("revokeFunding", await stage.succeed("merchant", revoke));
  return gas;
}

async function balances(stage: Stage) {
  const { contracts, client } = stage;
  const of = async (account: Hex) =>
    await client.readContract({
      address: contracts.token,
      abi: testUsdcAbi,
      functionName: "balanceOf",
      args: [account],
    });
  return {
    buyer: await of(stage.address("buyer")),
    merchant: await of(stage.address("merchant")),
    beneficiary: await of(stage.address("beneficiary")),
    registrar: await of(contracts.registrar),
    fundingSource: await of(contracts.funding_source),
  };
}

function expectMoved(who: string, actual: bigint, expected: bigint): void {
  if (actual !== expected) throw new Error(`The balance of ${who} changed by ${actual}, not by ${expected}.`);
}

/** Every event of a purchase has the next sequence number, so that none can be missing. */
async function expectGapless(stage: Stage): Promise<void> {
  const { hash: id } = stage.purchase.commitment;
  const { registrar: address } = stage.contracts;
  const logs = await stage.client.getContractEvents({ address, abi: purchaseRegistrarAbi, fromBlock: 0n });
  const sequences = logs.flatMap(({ args }) =>
    "id" in args && args.id === id && "sequence" in args ? [args.sequence] : [],
  );
  const figures = await stage.client.readContract({
    address,
    abi: purchaseRegistrarAbi,
    functionName: "figures",
    args: [id],
  });
  const expected = Array.from({ length: figures.sequence }, (_, index) => index + 1);
  if (JSON.stringify(sequences) !== JSON.stringify(expected))
    throw new Error(
      `The events of a purchase are numbered ${sequences.join(", ")}, not ${expected.join(", ")}.`,
    );
}
