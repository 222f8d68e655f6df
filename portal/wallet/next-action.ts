import type { PageState } from "./page-state.ts";
import type { ActionName, WalletView } from "./wallet-api.ts";

/** The actions that pay a purchase. */
export const paymentActions: readonly ActionName[] = ["approve", "pay", "pay_with_permit"];

/** The actions of one wallet, in the order in which it takes them. */
export const actionGroups: readonly (readonly ActionName[])[] = [
  ["enroll", "fund"],
  ["register"],
  paymentActions,
  ["claim"],
];

/** The order in which the next action is looked for; a payment that is possible comes before another approval. */
const usual: readonly ActionName[] = [
  "enroll",
  "fund",
  "register",
  "pay",
  "approve",
  "pay_with_permit",
  "claim",
];

/** Actions that are done once; once the service has accepted one, doing it again is out of the way. */
export const oneTimeActions: ReadonlySet<ActionName> = new Set(["enroll", "register", "claim"]);

/** Opens the next action. An open action stays open: otherwise the button of another action could get below the pointer between two clicks. */
export function openNext(state: PageState, wallet: WalletView): void {
  const next = nextOf(wallet);
  if (next !== null) state.opened.add(next);
}

/** The first action that is possible and was not accepted yet. */
export function nextOf({ actions, submissions }: WalletView): ActionName | null {
  const isDone = (name: ActionName) =>
    oneTimeActions.has(name) && submissions.some(({ action }) => action === name);
  const isPossible = (name: ActionName) => actions.some((action) => action.name === name && action.allowed);
  return usual.find((name) => isPossible(name) && !isDone(name)) ?? null;
}
