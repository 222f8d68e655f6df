import type { ActionName, Hex } from "../wallet-api.ts";

/** An action that was begun and is not accepted yet, as it outlives a reload or a closed tab. */
export interface ActionAttempt {
  action: ActionName;
  /** Random, so that another tab's attempt at the same content is a different one. */
  id: string;
  /** The signed or sent content, so that it is not mistaken for something that changed meanwhile. */
  subject: string;
  amount?: string;
  reason?: string;
  signature?: Hex;
  /** Set while the wallet is asked to send: if the page closes then, it is unknown whether it did. */
  sending?: boolean;
  transaction_hash?: Hex;
}

const prefix = `attempt ${location.pathname} `;

/** The work of this tab on each action. Over http, a browser has locks between tabs at localhost and addresses of this machine only. */
const working = new Map<ActionName, Promise<void>>();

/**
 * Does work on an action's attempt while no other tab does.
 *
 * @returns false when another tab does; the work is left undone.
 */
export async function runExclusive(action: ActionName, work: () => Promise<void>): Promise<boolean> {
  if (!isSecureContext) {
    if (working.has(action)) return false;
    const done = work().finally(() => working.delete(action));
    working.set(action, done);
    await done;
    return true;
  }
  return await navigator.locks.request(prefix + action, { ifAvailable: true }, async (lock) => {
    if (lock !== null) await work();
    return lock !== null;
  });
}

/** Waits until no tab works on an action's attempt. */
export async function untilFree(action: ActionName): Promise<void> {
  if (isSecureContext) await navigator.locks.request(prefix + action, () => {});
  else await working.get(action);
}

/** Keeps an attempt in this browser. */
export function keepAttempt(attempt: ActionAttempt): void {
  localStorage.setItem(prefix + attempt.action, JSON.stringify(attempt));
}

/** Forgets an attempt as it is kept: not the next one, which another tab has begun, and not one of which no hash is known. */
export function forgetAttempt({ action, id, transaction_hash }: ActionAttempt): void {
  const kept = findAttempt(action);
  if (kept?.id === id && kept.transaction_hash === transaction_hash) localStorage.removeItem(prefix + action);
}

/** The attempt that was begun here at an action, or null. */
export function findAttempt(action: ActionName): ActionAttempt | null {
  const kept = localStorage.getItem(prefix + action);
  return kept === null ? null : JSON.parse(kept);
}
