import type { Hex } from "viem";
import { z } from "zod";
import { hashClaim, hashReason } from "../../../protocol/messages/claim.ts";
import { toTimestamp } from "../../../protocol/values/time.ts";
import { domainOf } from "../../../server/binding/commitment-of.ts";
import { Problem } from "../../../server/errors/problem.ts";
import { validate } from "../../../server/http/request/validate.ts";
import type { Services } from "../../../server/http/services.ts";
import { operations } from "../../../server/operations.ts";
import { assertClaimable } from "../../../server/refunds/claims.ts";
import { positiveAmountSchema } from "../../../server/schemas/primitives.ts";
import { submitPurchaseActionBody } from "../../../server/schemas/wallets.ts";
import { readOnChain } from "../../../server/store/records/find.ts";
import { currentPurchase } from "../../../server/store/records/status-after-reorg.ts";
import { findRecorded, submissionsOf } from "../../../server/store/records/submissions.ts";
import type { PurchaseRecord } from "../../../server/store/records.ts";
import { assertClaim, checkPurchaseSubmission } from "../../../server/wallets/check-submission.ts";
import { purchaseWalletActions } from "../../../server/wallets/wallet-actions.ts";
import type { CallExplanation } from "../explanation.ts";
import type { SignatureMistake } from "./mistakes.ts";
import type { GivenTypedData } from "./typed-data.ts";

/** The schema of an answer that the service would give now. */
export const serviceAnswerSchema = z
  .object({
    /** The request, as in `POST /wallet/{program}/purchase/{id}`. */
    request: z.string(),
    status: z.int(),
    /** The code of the refusal; null for a success. */
    code: z.string().nullable(),
    /** The refusal in words, or why a wallet cannot sign now; null for a success. */
    detail: z.string().nullable(),
  })
  .meta({ id: "ServiceAnswer" });

/** The answer that the service would give to a signature now. */
export type ServiceAnswer = z.infer<typeof serviceAnswerSchema>;

/**
 * Returns the answer that the service would give: runs its own checks, and writes nothing.
 *
 * @param operation - the id of the API operation, as in `recordDecision`.
 */
export async function serviceAnswerOf(
  operation: string,
  check: () => Promise<unknown>,
): Promise<ServiceAnswer> {
  const route = operations.find(({ id }) => id === operation);
  if (route === undefined) throw new Error(`There must be an operation ${operation}.`);
  const request = `${route.method.toUpperCase()} ${route.path}`;
  try {
    await check();
    return { request, status: Number(Object.keys(route.responses)[0]), code: null, detail: null };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { request, status: error.status, code: error.code, detail: error.message };
  }
}

/** A message of a purchase's wallet, with its signature if there is one. */
export interface Submitted {
  message: GivenTypedData["message"];
  signature: Hex | undefined;
}

/** Returns what the wallet route would answer to a claim. */
export async function answerOfClaim(
  stored: PurchaseRecord,
  { message, signature }: Submitted,
  services: Services,
): Promise<ServiceAnswer> {
  return await serviceAnswerOf("submitPurchaseWalletAction", async () => {
    const amount = textOf(message["requestedAmount"]);
    validate(z.object({ amount: positiveAmountSchema }), { amount }, "");
    const reasonHash = textOf(message["reasonHash"]) as Hex;
    if (await isSubmitted(stored, { signature, amount, reasonHash }, services)) return;
    const { purchase, onChain } = await readNow(stored, services);
    await assertClaimable(purchase, onChain, services);
    const { commitment_hash: commitment, beneficiary } = purchase;
    const claim = { commitment, beneficiary, requestedAmount: BigInt(amount), reasonHash };
    const claimHash = hashClaim(domainOf(services.deployment), claim);
    const evidence = { amount, claimHash, transaction_hash: undefined, signature };
    await assertClaim(purchase, onChain, evidence, services);
  });
}

/** Returns what the wallet route would answer to a permit; without a signature, whether it offers one to sign. */
export async function answerOfPermit(
  stored: PurchaseRecord,
  { message, signature }: Submitted,
  services: Services,
): Promise<ServiceAnswer> {
  const amount = textOf(message["value"]);
  if (signature === undefined) return await answerOfOffer(stored, BigInt(amount), services);
  return await serviceAnswerOf("submitPurchaseWalletAction", async () => {
    const body = validate(submitPurchaseActionBody, { action: "pay_with_permit", amount, signature }, "");
    const program = services.deployment.programs.find(({ id }) => id === stored.program);
    if (program === undefined) throw new Error(`The program ${stored.program} must be in the deployment.`);
    const submissions = await submissionsOf(services.store, stored.program, stored.id, body.action);
    if (findRecorded(submissions, { amount, signature }) !== undefined) return;
    await checkPurchaseSubmission({ services, program, id: stored.id, body }, submissions);
  });
}

async function answerOfOffer(
  stored: PurchaseRecord,
  amount: bigint,
  services: Services,
): Promise<ServiceAnswer> {
  const { purchase, onChain } = await readNow(stored, services);
  const actions = await purchaseWalletActions(purchase, onChain, { amount, reason: null }, services);
  const offered = actions.find(({ name }) => name === "pay_with_permit");
  const answer = await serviceAnswerOf("readPurchaseWallet", async () => {});
  return { ...answer, detail: offered?.why_not ?? null };
}

async function readNow(stored: PurchaseRecord, services: Services) {
  const purchase = await currentPurchase(stored, services);
  return { purchase, onChain: await readOnChain(purchase, services) };
}

/** Returns whether the wallet has submitted exactly this claim: it gets the first answer again. */
async function isSubmitted(
  { program, id }: PurchaseRecord,
  { signature, amount, reasonHash }: { signature: Hex | undefined; amount: string; reasonHash: Hex },
  { store }: Services,
): Promise<boolean> {
  if (signature === undefined) return false;
  const submissions = (await submissionsOf(store, program, id, "claim")).filter(
    ({ value: { reason } }) => reason !== undefined && hashReason(reason) === reasonHash,
  );
  return findRecorded(submissions, { signature, amount }) !== undefined;
}

/** Returns an integer as a decimal string, and any other text as it is. */
function textOf(value: unknown): string {
  const text = String(value);
  return /^0x[0-9a-fA-F]{1,40}$/.test(text) ? BigInt(text).toString() : text.toLowerCase();
}

/** Returns whether everything is correct and, if not, the reason in one sentence. */
export function judge({
  mistake,
  unknown,
  known,
  answer,
  call = null,
  isSigned,
}: {
  mistake: SignatureMistake | undefined;
  /** The reason when the sandbox does not know what is signed. */
  unknown: string;
  /** The signed object and its signer, in words. */
  known: { about: string; signedBy: string } | null;
  answer: ServiceAnswer | null;
  call?: CallExplanation | null;
  isSigned: boolean;
}): { cause: string; accepted: boolean } {
  if (mistake !== undefined) return { cause: mistake.detail, accepted: false };
  if (known === null) return { cause: unknown, accepted: false };
  const refusal = answer === null ? null : refusalOf(answer);
  if (refusal !== null) return { cause: refusal, accepted: false };
  if (call?.accepted === false) return { cause: call.cause, accepted: false };
  const { about, signedBy } = known;
  return {
    cause: isSigned ? `It would be accepted as ${about}.` : `It is ${about}; ${signedBy} signs it.`,
    accepted: true,
  };
}

function refusalOf({ request, status, code, detail }: ServiceAnswer): string | null {
  return code === null ? detail : `${request} would respond with ${status} ${code}: ${detail}`;
}

/** Returns the newest block, and the time of the next one. */
export async function simulatedAt({
  chain,
}: Pick<Services, "chain">): Promise<{ block_number: number; at: string }> {
  const { number, timestamp } = await chain.head();
  const time = Math.max(await chain.nextTime(), timestamp);
  return { block_number: number, at: toTimestamp(time) };
}
