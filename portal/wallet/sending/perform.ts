import { codeOf, obstacleTo, readConnection, type WalletConnection } from "../connection/connection.ts";
import type { Provider } from "../connection/injected-wallets.ts";
import {
  type Action,
  type Capabilities,
  type Hex,
  hexOf,
  ownerOf,
  type ProblemBody,
  readWalletView,
  submitAction,
  type WalletSubmission,
  type WalletView,
} from "../wallet-api.ts";
import { type ActionAttempt, findAttempt, forgetAttempt, keepAttempt } from "./attempt.ts";

/** The progress of an action. */
export type Progress =
  | { at: "signing" | "sending" | "elsewhere" }
  | { at: "pending"; transactionHash: string }
  | { at: "confirming"; transactionHash: string; confirmations: number; needed: number }
  | { at: "unknown"; transactionHash: string }
  | { at: "retrying"; why: string }
  | { at: "accepted"; transactionHash: string | null }
  | { at: "declined" }
  | { at: "stopped"; text: string }
  | { at: "refused"; problem: ProblemBody };

/** The inputs of an action. */
export interface Doing {
  action: Action;
  connection: WalletConnection;
  sandbox: Provider;
  chain: Capabilities["chain"];
  /** The wallets' submissions when the action was shown. */
  submitted: WalletView["submissions"];
  report: (progress: Progress) => void;
}

const declined = 4001;

/** Refusals that time alone heals. */
const passing: ReadonlySet<ProblemBody["code"]> = new Set([
  "transaction_not_found",
  "transaction_unconfirmed",
  "idempotency_in_flight",
  "rate_limited",
  "rpc_unavailable",
  "storage_unavailable",
]);

/** Signs and sends what an action asks for, as far as that is not done yet, and hands it to the service. */
export async function perform(doing: Doing): Promise<void> {
  const { report } = doing;
  const attempt = beginOrResume(doing);
  try {
    await signAndSend(attempt, doing);
  } catch (error) {
    keepAttempt({ ...attempt, sending: false });
    if (codeOf(error) === declined) report({ at: "declined" });
    else report({ at: "stopped", text: error instanceof Error ? error.message : "The wallet failed." });
    return;
  }
  await submitUntilDecided(attempt, report);
}

function beginOrResume({ action }: Doing): ActionAttempt {
  const { name, amount, reason } = action;
  const subject = subjectOf(action);
  const before = findAttempt(name);
  if (before?.subject === subject) return before;
  const input = { ...(amount === undefined ? {} : { amount }), ...(reason === undefined ? {} : { reason }) };
  return { action: name, id: hexOf(crypto.getRandomValues(new Uint8Array(16))), subject, ...input };
}

/** The bytes that an action has signed or sent. */
function subjectOf({ transaction, sign }: Action): string {
  return `${transaction?.data} ${sign?.digest}`;
}

/**
 * Asks the service for an action again, just before the wallet is asked: another page may have done it since it was shown, and its deadline
 * may have passed.
 */
async function refuseOutdated({ action, submitted }: Doing): Promise<void> {
  const { name, amount, reason } = action;
  const choice = { ...(amount === undefined ? {} : { amount }), ...(reason === undefined ? {} : { reason }) };
  const { actions, submissions } = await readWalletView(choice);
  const known = new Set(submitted.map((submission) => JSON.stringify(submission)));
  const isOwn = (of: string) => of === name || (name === "pay_with_permit" && of === "pay");
  const done = submissions.find(
    (submission) => isOwn(submission.action) && !known.has(JSON.stringify(submission)),
  );
  if (done !== undefined) {
    const by = done.transaction_hash === null ? "" : `, by the transaction ${done.transaction_hash}`;
    throw new Error(`This was done already on another page${by}. Nothing was signed or sent here.`);
  }
  const now = actions.find((offered) => offered.name === name);
  if (!now?.allowed) throw new Error(`Not now: ${now?.why_not} Nothing was sent.`);
  if (subjectOf(now) !== subjectOf(action))
    throw new Error("The content to sign has changed. Check it and start again.");
}

async function signAndSend(attempt: ActionAttempt, doing: Doing): Promise<void> {
  const { action, connection, sandbox, chain, report } = doing;
  const { transaction, sign } = action;
  const owner = ownerOf(action);
  if (owner === undefined) throw new Error("There is nothing to sign or to send for this action now.");
  const { provider } = connection.wallet;
  // The action, the account and the chain may have changed since the page showed them.
  const lookAgain = async () => {
    await refuseOutdated(doing);
    const obstacle = obstacleTo(action, await readConnection(connection.wallet, sandbox), chain);
    if (obstacle !== null) throw new Error(obstacle.text);
  };
  if (sign !== undefined && attempt.signature === undefined) {
    await lookAgain();
    report({ at: "signing" });
    attempt.signature = asHex(await provider.request(signatureRequest(sign, owner)));
    keepAttempt(attempt);
  }
  if (transaction !== undefined && attempt.transaction_hash === undefined) {
    await lookAgain();
    report({ at: "sending" });
    attempt.sending = true;
    keepAttempt(attempt);
    const { from, to, data } = transaction;
    const params = [{ from, to, data, value: "0x0" }];
    attempt.transaction_hash = asHex(await provider.request({ method: "eth_sendTransaction", params }));
    attempt.sending = false;
    keepAttempt(attempt);
  }
}

function signatureRequest(sign: NonNullable<Action["sign"]>, from: string) {
  return sign.method === "personal_sign"
    ? { method: sign.method, params: [toHex(sign.message), from] }
    : { method: sign.method, params: [from, JSON.stringify(sign.typed_data)] };
}

/** Returns a wallet's answer as the bytes that it must be. */
export function asHex(answer: unknown): Hex {
  if (typeof answer === "string" && isHex(answer)) return answer;
  throw new Error("The wallet returned neither a hash nor a signature.");
}

function isHex(text: string): text is Hex {
  return /^0x[0-9a-f]+$/i.test(text);
}

/** A text's UTF-8 bytes in hexadecimal. */
export function toHex(text: string): string {
  return `0x${hexOf(new TextEncoder().encode(text))}`;
}

/**
 * Hands an attempt to the service, the same body again as long as it may still be accepted: while the transaction is pending, while
 * confirmations are missing, and when no answer came. Forgets it once it is decided or its transaction is gone.
 */
export async function submitUntilDecided(
  attempt: ActionAttempt,
  report: (progress: Progress) => void,
): Promise<void> {
  const { transaction_hash: transactionHash } = attempt;
  if (transactionHash !== undefined) report({ at: "pending", transactionHash });
  for (let unknown = 0; ; ) {
    const answer = await submitAction(submissionOf(attempt)).catch(() => null);
    if (answer?.kind === "accepted") {
      forgetAttempt(attempt);
      report({ at: "accepted", transactionHash: transactionHash ?? null });
      return;
    }
    if (answer !== null && !passing.has(answer.problem.code)) {
      forgetAttempt(attempt);
      report({ at: "refused", problem: answer.problem });
      return;
    }
    // Anvil knows a transaction neither as waiting nor as mined for a moment while it mines it: it counts as gone when it is so twice.
    unknown = answer?.problem.code === "transaction_not_found" ? unknown + 1 : 0;
    if (unknown === 2 && transactionHash !== undefined) {
      forgetAttempt(attempt);
      report({ at: "unknown", transactionHash });
      return;
    }
    report(whileWaiting(answer?.problem ?? null, transactionHash));
    await new Promise((resolve) => setTimeout(resolve, answer?.retryAfterMs ?? 1000));
  }
}

function submissionOf({
  action,
  amount,
  reason,
  signature,
  transaction_hash,
}: ActionAttempt): WalletSubmission {
  const evidence = {
    ...(signature === undefined ? {} : { signature }),
    ...(transaction_hash === undefined ? {} : { transaction_hash }),
  };
  if (action === "enroll" || action === "fund") return { action, ...evidence };
  // A transaction under a permit is a payment; the permit was submitted before.
  const done = action === "pay_with_permit" && transaction_hash !== undefined ? "pay" : action;
  return {
    action: done,
    ...evidence,
    ...(amount === undefined ? {} : { amount }),
    ...(reason === undefined ? {} : { reason }),
  };
}

function whileWaiting(problem: ProblemBody | null, transactionHash: string | undefined): Progress {
  if (problem === null)
    return { at: "retrying", why: "The service does not respond. The request is repeated." };
  if (transactionHash === undefined) return { at: "retrying", why: problem.detail };
  if (problem.code === "transaction_not_found") return { at: "pending", transactionHash };
  if (problem.code !== "transaction_unconfirmed") return { at: "retrying", why: problem.detail };
  const confirmations = Number(problem["confirmations"] ?? 0);
  if (confirmations === 0) return { at: "pending", transactionHash };
  const needed = problem.binding?.checks.find(({ name }) => name === "confirmations")?.expected;
  return { at: "confirming", transactionHash, confirmations, needed: Number(needed ?? 1) };
}
