import type { components } from "../../sandbox/client/api.generated.ts";

type Schemas = components["schemas"];

/** The wallet route as it answers programs. */
export type WalletView = Schemas["Wallet"];

/** One action: what to sign or send, or why not now. */
export type Action = WalletView["actions"][number];

/** The choices of an action: an amount in base units, a reason. */
export type Choice = Pick<Action, "amount" | "reason">;

/** The name of a wallet's action. */
export type ActionName = Action["name"];

/** Returns whether an action has an amount that can be chosen. */
export function hasAmount(name: ActionName): boolean {
  return name === "approve" || name === "pay" || name === "pay_with_permit" || name === "claim";
}

/** The wallet that an action belongs to; undefined where nothing is to be signed or sent. */
export function ownerOf({ transaction, sign }: Action): string | undefined {
  if (transaction !== undefined) return transaction.from;
  return sign?.method === "eth_signTypedData_v4" ? String(sign.typed_data.message["owner"]) : undefined;
}

/** Bytes in hexadecimal, as hashes and signatures are written. */
export type Hex = Schemas["Hash"];

/** The problem in a refusal (RFC 9457). */
export type ProblemBody = Schemas["Problem"];

/** The capabilities of the service: its chain, its contracts. */
export type Capabilities = Schemas["Capabilities"];

/** A submission: a transaction, a signature or both, and the action that they belong to. */
export type WalletSubmission = Schemas["SubmitMerchantWalletAction"] | Schemas["SubmitPurchaseWalletAction"];

/** The service's answer to a submission. */
export type SubmissionAnswer =
  | { kind: "accepted"; result: Schemas["WalletSubmissionResult"] }
  | { kind: "refused"; problem: ProblemBody; retryAfterMs: number };

/**
 * The service's refusal of a read, in its own words.
 *
 * Not a CodedError: a page may import only types.
 */
export class RefusedError extends Error {
  override name = "RefusedError";
}

/** Reads the actions, for an amount and a reason if they are given. */
export async function readWalletView(input: Choice = {}): Promise<WalletView> {
  const query = new URLSearchParams(Object.entries(input)).toString();
  return await readJson(query === "" ? location.pathname : `${location.pathname}?${query}`);
}

/** Reads one action; undefined if the service has none with this name. */
export async function readAction(name: ActionName, input?: Choice): Promise<Action | undefined> {
  const { actions } = await readWalletView(input);
  return actions.find((action) => action.name === name);
}

/** Reads what the service is. */
export async function readCapabilities(): Promise<Capabilities> {
  return await readJson("/v1/routing/capabilities");
}

async function readJson<T>(path: string): Promise<T> {
  const response = await fetch(path, { headers: { Accept: "application/json" } });
  if (response.ok) return await response.json();
  const { detail }: ProblemBody = await response.json();
  throw new RefusedError(detail);
}

/** Of an Idempotency-Key, in characters. */
const longestKey = 100;

/**
 * Hands the service what the wallet did. The same submission may be sent again, however often: its Idempotency-Key names its
 * transaction or signature. So a run with equal steps stores equal records.
 */
export async function submitAction(submission: WalletSubmission): Promise<SubmissionAnswer> {
  const body = JSON.stringify(submission);
  const { action, transaction_hash, signature } = submission;
  const key = `${action}-${transaction_hash ?? signature}`.slice(0, longestKey);
  const response = await fetch(location.pathname, {
    method: "POST",
    headers: { "Content-Type": "application/json", "Idempotency-Key": key, Accept: "application/json" },
    body,
  });
  if (response.ok) return { kind: "accepted", result: await response.json() };
  const retryAfterMs = 1000 * Number(response.headers.get("Retry-After") ?? 1);
  return { kind: "refused", problem: await response.json(), retryAfterMs };
}

/** Returns bytes in hexadecimal, without 0x. */
export function hexOf(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
