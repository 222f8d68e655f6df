import type { Hex } from "viem";
import type { ChainCall, ChainRevert } from "../../chain/chain-reader.ts";
import type { Services } from "../../http/services.ts";
import { capitalize } from "../../lib/wording.ts";
import { findByCommitment } from "../../store/records/find.ts";
import { batchedPayments, paymentCall } from "../payments-in-calldata.ts";
import { permitOfCall } from "../permits.ts";
import { type Cause, sayRemedy } from "./cause.ts";
import { explainRevert, labelRevert, type RevertedStep } from "./explain-revert.ts";

/** A mined call that reverted. */
interface MinedCall {
  call: ChainCall;
  /** The contract's error; null where it gave none. */
  revert: ChainRevert | null;
  /** The node's message. */
  message: string;
}

/** The words for making the call again, as in `send a new transaction`, and for a call that nothing makes succeed. */
interface Advice {
  again: string;
  never: string;
}

/**
 * The explanation of a mined call's revert and the advice, as the end of a detail that begins with the name of the
 * call.
 */
interface SaidRevert {
  detail: string;
  /** Whether the call can succeed when it is made again. */
  retryable: boolean;
}

/**
 * Says why a mined call reverted and what to do now. The chain may have changed since: the same call is simulated, and the advice is about
 * what it meets now.
 *
 * @param noun - what reverted, as in `payment`.
 */
export async function explainMined(
  noun: string,
  { call, revert, message }: MinedCall,
  about: RevertedStep,
  advice: Advice,
  services: Pick<Services, "chain" | "store" | "deployment">,
): Promise<SaidRevert> {
  const { chain } = services;
  const what = `The transaction of the ${noun} reverted`;
  const now = await chain.simulate([call], await chain.head(), await chain.nextTime());
  const was = revert ?? { name: null, args: {} };
  const isOver = now === null && revert !== null && revert.name !== "NotEnrolled";
  if (isOver)
    return {
      detail: `${what} with ${labelRevert(was)}, which is no longer the case. ${capitalize(advice.again)}.`,
      retryable: true,
    };
  const met = now ?? was;
  const cause = await explainCall(call, met, { ...about, message }, services);
  const then = sayRemedy(cause, advice.again, advice.never);
  const reverted =
    labelRevert(met) === labelRevert(was)
      ? `${what}: ${cause.wrong}`
      : `${what} with ${labelRevert(was)}, and would revert now: ${cause.wrong}`;
  return { detail: `${reverted}. ${then}`, retryable: cause.remedy !== null };
}

/** Explains a call's revert by what its calldata says: which payment of a batch it is, and whose permit it pays under. */
async function explainCall(
  call: ChainCall,
  revert: ChainRevert,
  about: RevertedStep,
  services: Pick<Services, "chain" | "store" | "deployment">,
): Promise<Cause> {
  const failing = await findFailing(call, services);
  if (failing === null)
    return await explainRevert(revert, { ...about, permit: await permitOfCall(call, services) }, services);
  const { id, place, revert: met } = failing;
  const purchase = (await findByCommitment(services.store, id))?.value ?? null;
  const cause = await explainRevert(met, { ...about, purchase }, services);
  // A payment that can never succeed does not keep the other purchases of the batch from being paid.
  const others = batchedPayments(call.data).length > 1 ? "Leave that payment out" : null;
  return {
    ...cause,
    remedy: cause.remedy ?? others,
    wrong: `payment ${place} of the batch, of ${purchase?.id ?? id}, fails: ${cause.wrong}`,
  };
}

/** Finds the first payment of a batch that reverts now; null for any other call, and when none does. */
async function findFailing(
  { from, data }: ChainCall,
  { chain, deployment }: Pick<Services, "chain" | "deployment">,
): Promise<{ id: Hex; place: number; revert: ChainRevert } | null> {
  const { address } = deployment.registrar;
  const head = await chain.head();
  const time = await chain.nextTime();
  const calls: ChainCall[] = [];
  for (const { id, amount } of batchedPayments(data)) {
    const { to, data: paying } = paymentCall(address, id, amount, null);
    calls.push({ from, to, data: paying });
    const revert = await chain.simulate(calls, head, time);
    if (revert !== null) return { id, place: calls.length, revert };
  }
  return null;
}
