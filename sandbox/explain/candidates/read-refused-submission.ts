import { z } from "zod";
import type { ExpectedLog } from "../../../protocol/binding/expected-transaction.ts";
import type { ObservedTransaction } from "../../../protocol/binding/observed-transaction.ts";
import { decodeCall } from "../../../protocol/call.ts";
import { readCall } from "../../../protocol/read-call.ts";
import { canonicalJson } from "../../../protocol/values/canonical-json.ts";
import type { Expectation } from "../../../server/binding/expectations.ts";
import { explainedSteps } from "../../../server/binding/reverts/explain-revert.ts";
import type { Deployment } from "../../../server/chain/deployment.ts";
import type { Refusal, Services } from "../../../server/http/services.ts";
import { addressSchema, bytesSchema, hashSchema, jsonSchema } from "../../../server/schemas/primitives.ts";
import { contractAt } from "../address-book.ts";
import { type Candidate, candidateOf } from "./candidate.ts";

/** The refused submissions that an explanation can look at, the newest first. */
export type ReadRefusals = () => readonly (Refusal & { times: number })[];

/** A refused submission of a transaction, with what the service has compared the transaction with. */
export interface RefusedSubmission {
  refusal: Refusal & { times: number };
  candidate: Candidate;
}

/**
 * Reads the newest refused submission of a transaction; with an id, the newest one for this merchant or purchase.
 *
 * @returns null when none was refused, or when another step has accepted the transaction since.
 */
export async function readRefusedSubmission(
  observed: ObservedTransaction,
  id: string | undefined,
  refusals: ReadRefusals,
  services: Services,
): Promise<RefusedSubmission | null> {
  const refusal = refusals().find(
    ({ transaction_hash: hash, subject }) => hash === observed.hash && (id === undefined || subject === id),
  );
  if (refusal === undefined) return null;
  const isUsed = (await services.store.get("used_transactions", observed.hash)) !== undefined;
  if (id === undefined && isUsed && !refusal.is_used) return null;
  if (await isSubmittedSince(refusal, services)) return null;
  const candidate = await candidateOfRefusal(refusal, observed, services);
  return candidate === null ? null : { refusal, candidate };
}

/** Returns whether a wallet route has accepted the refused transaction for the same object since. */
async function isSubmittedSince(
  { transaction_hash: hash, subject, at }: Refusal,
  { store }: Services,
): Promise<boolean> {
  const submissions = await store.list("submissions", { subject });
  return submissions.some(({ value }) => value.transaction_hash === hash && value.submitted_at >= at);
}

/** Builds what a refused submission was compared with: as it was asked, with what the chain has now. */
async function candidateOfRefusal(
  refusal: Refusal,
  observed: ObservedTransaction,
  services: Services,
): Promise<Candidate | null> {
  const step = explainedSteps.find((name) => name === refusal.step);
  const asked = readExpectation(refusal, services.deployment);
  if (step === undefined || asked === null) return null;
  const { subject } = refusal;
  const args = readCall(contractAt(services.deployment, asked.call.to)?.abi ?? [], asked.call.data)?.args;
  const now = await candidateOf(step, subject, { observed, args: args ?? {} }, services);
  const { purchase } = now?.expectation ?? asked;
  const isSame = canonicalJson(purchase.expected) === canonicalJson(asked.purchase.expected);
  return {
    use: { key: observed.hash, step, subject: step === "payment" ? observed.hash : subject },
    about: subject,
    expectation: { ...asked, purchase: isSame ? purchase : asked.purchase },
  };
}

/** The expected side of each check of a refusal. */
const expectedSides = z.object({
  chain: z.object({ chain_id: z.int(), epoch: hashSchema }),
  confirmations: z.int(),
  wallet: addressSchema,
  contract: z.object({ address: addressSchema, code_hash: hashSchema }),
  calldata: bytesSchema,
  purchase: jsonSchema,
  log: z.array(
    z.object({
      address: addressSchema,
      event: z.string(),
      fields: z.record(z.string(), jsonSchema),
      optional: z.literal(true).optional(),
    }),
  ),
  timely: z.object({ from: z.int().nullable(), to: z.int().nullable() }),
});

/** Reads the expectation out of the checks of a refusal: they have all of it, the amount of the submission included. */
function readExpectation({ checks }: Refusal, deployment: Deployment): Expectation | null {
  const sides = Object.fromEntries(checks.map(({ name, expected }) => [name, expected]));
  const parsed = expectedSides.safeParse(sides);
  if (!parsed.success) return null;
  const { chain, confirmations, wallet, contract, calldata, purchase, log, timely } = parsed.data;
  const abi = contractAt(deployment, contract.address)?.abi;
  const decoded = abi === undefined ? null : decodeCall(abi, calldata);
  if (decoded === null) return null;
  return {
    chain: { chainId: chain.chain_id, epoch: chain.epoch },
    confirmations,
    wallet,
    codeHash: contract.code_hash,
    call: { to: contract.address, data: calldata, function: decoded.function, args: decoded.args },
    purchase: {
      expected: purchase,
      actual: checks.find(({ name }) => name === "purchase")?.actual ?? null,
    },
    logs: log.flatMap((entry): ExpectedLog[] => {
      const of = contractAt(deployment, entry.address)?.abi;
      const { optional, ...rest } = entry;
      return of === undefined ? [] : [{ ...rest, abi: of, ...(optional === undefined ? {} : { optional }) }];
    }),
    timely,
  };
}
