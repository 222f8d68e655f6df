import { type Address, encodeFunctionData, type Hex } from "viem";
import { claimCall, collectRefundCall, openProgramCall, payCall } from "../../protocol/call.ts";
import { usdc } from "../../protocol/values/amount.ts";
import { hashId } from "../../protocol/values/id.ts";
import { contractWalletAbi } from "../adversary-abi.ts";
import { functionOf } from "../fixture/effects.ts";
import type { Actor } from "../fixture/fixture-chain.ts";
import type { CallRecorder, ContractCall, SimulatedStep } from "./call-recorder.ts";
import type { CallSequence } from "./call-sequence.ts";
import { between, callEveryFunction } from "./every-function.ts";

/** Functions that any account may call, also through a contract. */
const open = ["openProgram", "expire"];

/**
 * Calls of every function that wallets make through contracts. The contract that a wallet calls is not the wallet, also if the transaction is the
 * wallet's; and a wallet with code can make several calls in one transaction, so that the guard of one must not refuse the next.
 */
export const callsByContracts: CallSequence = {
  name: "calls by contracts",
  async run(recorder) {
    const { fixture, registrar } = recorder;
    const now = await recorder.now();
    const groups = await callEveryFunction(recorder, now, now + 10_000n);
    const passing = await fixture.deploy("ContractWallet");
    const code = (await fixture.client.getCode({ address: passing })) ?? "0x";
    const { operator, commitmentSigner } = await recorder.programState();
    const terms = {
      operator,
      commitmentSigner,
      bounds: { maxPurchase: 1n, openBudget: 1n, validUntil: 4_000_000_000 },
    };
    const program = (index: number) => hashId(`prg_after_${index}`);
    const approve = fixture.approve(100n * usdc);
    const pay = payCall(registrar, fixture.second.commitment.hash, 1n);
    const passOn = (actor: Actor, call: ContractCall) => ({
      target: fixture.address(actor),
      data: forward(call),
    });
    const steps = groups.flatMap((group, index) =>
      group.map((step) => [now + 1n + BigInt(index) * between, ...step] as const),
    );
    const twice: SimulatedStep = {
      rule: "two payments, claims and refunds in one transaction are recorded",
      function: "collectRefund",
      actor: "stranger",
      call: { to: passing, data: multicall(payClaimAndRefundTwice(recorder).map((one) => passOn(...one))) },
      timestamp: now + 1n + BigInt(groups.length) * between,
    };
    const calls = steps.flatMap(([timestamp, rule, actor, call], index): SimulatedStep[] => {
      const called = functionOf(call.data);
      // After a pause, no payment follows.
      const payment = called === "setPaused" ? [] : [approve, pay].map((one) => passOn("buyer", one));
      const opening = { target: registrar, data: openProgramCall(registrar, program(index), terms).data };
      const whole: SimulatedStep = {
        rule: called === undefined ? null : `${rule}, and so are others in the same transaction`,
        function: called,
        breaks: "several calls in one transaction succeed",
        actor: "stranger",
        call: { to: passing, data: multicall([passOn(actor, call), ...payment, opening]) },
        timestamp,
      };
      if (called === undefined || open.includes(called)) return [whole];
      const passed = { to: passing, data: forward(call) };
      const name = `${called} through a contract that the ${actor} calls is refused`;
      return [{ rule: name, function: called, actor, call: passed, timestamp }, whole];
    });
    await recorder.simulate(
      [...calls, twice],
      Object.fromEntries(
        [...steps.map(([, , actor]) => actor), "merchant" as const].map((actor) => [
          fixture.address(actor),
          { code },
        ]),
      ),
    );
  },
};

/** Returns a payment, a claim and a refund of each of the buyer's purchases, under one funding. */
function payClaimAndRefundTwice({ fixture, registrar }: CallRecorder): [Actor, ContractCall][] {
  return [
    ["merchant", fixture.approve(100n * usdc, fixture.contracts.funding_source)],
    ["buyer", fixture.approve(100n * usdc)],
    ...[fixture.purchase, fixture.second].flatMap(({ id, commitment: { hash } }): [Actor, ContractCall][] => [
      ["buyer", payCall(registrar, hash, 5n)],
      ["beneficiary", claimCall(registrar, hash, hashId(`claim of ${id}`))],
      ["operator", collectRefundCall(registrar, hash, 2n, hashId(`decision on ${id}`))],
    ]),
  ];
}

function forward({ to, data }: ContractCall): Hex {
  return encodeFunctionData({ abi: contractWalletAbi, functionName: "forward", args: [to, data] });
}

function multicall(calls: readonly { target: Address; data: Hex }[]): Hex {
  return encodeFunctionData({ abi: contractWalletAbi, functionName: "multicall", args: [calls] });
}
