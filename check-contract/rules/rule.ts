import { type Address, encodeFunctionData, type Hex } from "viem";
import { purchaseRegistrarAbi } from "../../protocol/abi.generated.ts";
import { collectRefundCall, revokeFundingCall, setPausedCall } from "../../protocol/call.ts";
import { hashId } from "../../protocol/values/id.ts";
import { decodeRevert } from "../../relayer/node/decode-revert.ts";
import { toNode, traceRevert } from "../../relayer/node/node.ts";
import { type Breach, brokenRule, type Outcome, ruleOf, withIncluding, wronglyRefused } from "../breach.ts";
import type { ContractFixture } from "../fixture/contract-fixture.ts";
import { functionOf } from "../fixture/effects.ts";
import type { Actor } from "../fixture/fixture-chain.ts";
import { revertText, revertTextOf } from "../fixture/revert-text.ts";

/** One thing that a registrar must do or refuse, tried directly on chain. */
export interface Rule {
  name: string;
  /** Every rule in which the buyer pays one purchase holds with `payWithPermit` too; false where it pays none. */
  pays?: false;
  /** The name with a permit, if the rule is about the permit too. */
  withPermit?: string;
  /** Null when the contract keeps it, otherwise a sentence. */
  run(fixture: ContractFixture): Promise<Outcome>;
}

/** Tries a rule; null when the contract keeps it. */
export async function findBreach(rule: Rule, fixture: ContractFixture): Promise<Outcome> {
  await fixture.reset();
  const breach = await rule.run(fixture);
  if (fixture.payments > 0 === (rule.pays === false))
    return `made ${fixture.payments} payments of one purchase, other than its \`pays\` says`;
  return breach;
}

/** The same rule with payments under a permit. */
export function ruleWithPermit(rule: Rule): Rule {
  return {
    ...rule,
    name: `with a permit: ${rule.withPermit ?? rule.name}`,
    async run(fixture) {
      fixture.payment = "payWithPermit";
      return await rule.run(fixture);
    },
  };
}

/** A transaction that a rule sends to the contract. */
export interface ContractCall {
  to: Address;
  data: Hex;
  value?: bigint;
  gas?: bigint;
}

/** Sends what must be refused with this custom error, or with one of several if the call breaks several rules; null when it was. */
export async function refuses(
  fixture: ContractFixture,
  actor: Actor,
  call: ContractCall,
  ...errors: readonly string[]
): Promise<Breach | null> {
  const error = errors.join(" or ");
  const calls = functionOf(call.data);
  const { status, transactionHash: hash } = await fixture.mine(actor, call);
  if (status === "success") {
    // The service expects a payment: it knows of no claim.
    const service = calls?.startsWith("pay")
      ? ` The service says: ${(await fixture.sandbox.explain(hash)).cause}`
      : "";
    const failure = `the contract accepted it (${hash}); it must revert with ${error}.${service}`;
    return { failure, rule: ruleOf(calls, errors[0] ?? ""), calls };
  }
  const { data } = await traceRevert(toNode(fixture.client.request), hash);
  const seen = decodeRevert(data)?.name ?? "no reason";
  if (errors.includes(seen)) return null;
  const failure = `the contract reverted with ${revertText(data)} (${hash}); ${error} was expected`;
  return { failure, ...withIncluding(brokenRule(calls, errors[0], seen), calls, errors[0]), calls };
}

/** Sends what must be accepted; null when it was. */
export async function accepts(
  fixture: ContractFixture,
  actor: Actor,
  call: ContractCall,
): Promise<Breach | null> {
  const { status, transactionHash: hash } = await fixture.mine(actor, call);
  if (status === "success") return null;
  const reason = await revertTextOf(fixture.client.request, hash);
  const failure = `the contract reverted with ${reason} (${hash}); it must accept the call`;
  return { failure, ...wronglyRefused(functionOf(call.data), reason.split("(")[0]) };
}

/** Has the next block mined at this second. */
export async function at(fixture: ContractFixture, timestamp: number): Promise<void> {
  await fixture.client.setNextBlockTimestamp({ timestamp: BigInt(timestamp) });
}

/** A payment on chain and a claim, without the service. */
export async function payAndClaim(fixture: ContractFixture, purchase = fixture.purchase): Promise<void> {
  await fixture.succeed("buyer", fixture.pay(purchase));
  await fixture.succeed("beneficiary", fixture.claim(purchase).call);
}

/** A refund, as the program's operator sends it: always under the same decision. */
export function collect(fixture: ContractFixture, award: bigint, purchase = fixture.purchase): ContractCall {
  const { registrar } = fixture.contracts;
  return collectRefundCall(registrar, purchase.commitment.hash, award, `0x${"d1".repeat(32)}`);
}

/** Pauses the program, as its admin sends it. */
export function pause(fixture: ContractFixture): ContractCall {
  return setPausedCall(fixture.contracts.registrar, hashId("prg_demo"), true);
}

/** Revokes the merchant's funding. */
export function revoke({ contracts, merchant }: ContractFixture): ContractCall {
  return revokeFundingCall(contracts.registrar, hashId(merchant.program), hashId(merchant.id));
}

/** Returns the call that ends the first purchase's offer. */
export function registrarCall(
  { contracts, purchase }: ContractFixture,
  functionName: "withdrawOffer" | "expire",
): ContractCall {
  const args = [purchase.commitment.hash] as const;
  return {
    to: contracts.registrar,
    data: encodeFunctionData({ abi: purchaseRegistrarAbi, functionName, args }),
  };
}
