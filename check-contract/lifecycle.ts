import type { Hex } from "viem";
import { purchaseRegistrarAbi, testUsdcAbi } from "../protocol/abi.generated.ts";
import { revokeFundingCall } from "../protocol/call.ts";
import { usdc } from "../protocol/values/amount.ts";
import { hashId } from "../protocol/values/id.ts";
import { refundExecutionSchema } from "../server/schemas/refunds.ts";
import type { ContractFixture } from "./fixture/contract-fixture.ts";

/** The gas that each function used in a lifecycle, as a whole transaction. */
export interface GasUse {
  [name: string]: number;
}

/**
 * Takes a purchase from enrollment to refund through the API, by both routes, and checks the money on chain to the unit.
 *
 * @returns the gas of every function on the way.
 * @throws Error with the first valid step that did not succeed.
 */
export async function runLifecycle(fixture: ContractFixture): Promise<GasUse> {
  await fixture.reset();
  const gas: GasUse = {};
  const measure = async (name: string, hash: Hex) => {
    gas[name] = Number((await fixture.receipt(hash)).gasUsed);
    return hash;
  };
  for (const { key, value } of await fixture.sandbox.store.list("used_transactions", {})) {
    if (value.step === "enrollment") await measure("enroll", `0x${key.slice(2)}`);
    if (value.step === "offer") await measure("offer", `0x${key.slice(2)}`);
  }
  const before = await balances(fixture);

  const registration = fixture.registration(fixture.draft);
  const registered = await measure("register", await fixture.succeed("merchant", registration));
  fixture.expectAccepted(await fixture.register(fixture.draft, registered));
  const first = await measure("pay", await fixture.succeed("buyer", fixture.pay(fixture.purchase)));
  const batch = fixture.payBatch([
    [fixture.purchase, 15n * usdc],
    [fixture.second, 30n * usdc],
  ]);
  const rest = await measure("payBatch of 2", await fixture.succeed("buyer", batch));
  fixture.expectAccepted(await fixture.reconcile(fixture.purchase, [first, rest]));
  const permitted = fixture.payWithPermit(fixture.second, 10n * usdc);
  const last = await measure("payWithPermit", await fixture.succeed("buyer", permitted));
  fixture.expectAccepted(await fixture.reconcile(fixture.second, [last]));
  const { claim, call } = fixture.claim(fixture.purchase);
  const claimed = await measure("claim", await fixture.succeed("beneficiary", call));
  fixture.expectAccepted(await fixture.fileClaim(claimed, await fixture.signClaim(claim)));
  const decision = await fixture.approveClaim();
  const refund = fixture.expectAccepted(await fixture.refund(decision.id));
  const { operation } = refundExecutionSchema.parse(refund.body);
  if (operation.hash === null) throw new Error("The refund has no transaction.");
  await measure("collectRefund", operation.hash);
  const after = await balances(fixture);

  expectMoved("the buyer", after.buyer - before.buyer, -65n * usdc);
  expectMoved("the merchant", after.merchant - before.merchant, 60n * usdc);
  expectMoved("the beneficiary", after.beneficiary - before.beneficiary, 5n * usdc);
  expectMoved("the registrar contract, which must hold nothing,", after.registrar, 0n);
  expectMoved("the funding source, which must hold nothing,", after.fundingSource, 0n);
  await expectGapless(fixture);

  const { program, id } = fixture.merchant;
  const revoke = revokeFundingCall(fixture.contracts.registrar, hashId(program), hashId(id));
  await measure("revokeFunding", await fixture.succeed("merchant", revoke));
  return gas;
}

async function balances(fixture: ContractFixture) {
  const { contracts, client } = fixture;
  const of = async (account: Hex) =>
    await client.readContract({
      address: contracts.token,
      abi: testUsdcAbi,
      functionName: "balanceOf",
      args: [account],
    });
  return {
    buyer: await of(fixture.address("buyer")),
    merchant: await of(fixture.address("merchant")),
    beneficiary: await of(fixture.address("beneficiary")),
    registrar: await of(contracts.registrar),
    fundingSource: await of(contracts.funding_source),
  };
}

function expectMoved(who: string, actual: bigint, expected: bigint): void {
  if (actual !== expected) throw new Error(`The balance of ${who} changed by ${actual}, not by ${expected}.`);
}

/** Every event of a purchase has the next sequence number, so that none can be missing. */
async function expectGapless(fixture: ContractFixture): Promise<void> {
  const { hash: id } = fixture.purchase.commitment;
  const { registrar: address } = fixture.contracts;
  const logs = await fixture.client.getContractEvents({ address, abi: purchaseRegistrarAbi, fromBlock: 0n });
  const sequences = logs.flatMap(({ args }) =>
    "id" in args && args.id === id && "sequence" in args ? [args.sequence] : [],
  );
  const figures = await fixture.client.readContract({
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
