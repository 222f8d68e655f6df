import type { ActionInput } from "./action-input.ts";
import type { WalletConnection } from "./connection/connection.ts";
import type { OfferedWallet } from "./connection/injected-wallets.ts";
import type { Progress } from "./sending/perform.ts";
import type { Action, ActionName, Capabilities, WalletView } from "./wallet-api.ts";

/** One action as the page has it. */
export interface ActionState {
  input: ActionInput;
  /** The error in the input. */
  mistake: string | null;
  /** The action with the bytes of what was typed; null where the service has not offered it. */
  planned: Action | null;
  /** Resolves once the service has answered about what was typed last. */
  planning: Promise<void>;
  busy: boolean;
  /** Whether a transaction may have been sent whose hash the page does not know. */
  uncertain: boolean;
  progress: Progress | null;
}

/** All that the page shows. */
export interface PageState {
  wallet: WalletView | null;
  capabilities: Capabilities | null;
  /** The reason why there is nothing to show. */
  failure: string | null;
  offered: OfferedWallet[];
  connection: WalletConnection | null;
  /** The wallet that was asked to connect or to switch and has not answered: its window may be hidden, or ask for its password. */
  waitsFor: OfferedWallet | null;
  /** The error of the last attempt to connect or to switch. */
  connectionFailure: string | null;
  actions: { [A in ActionName]: ActionState };
  /** The actions that are or were next; the others are folded. */
  opened: Set<ActionName>;
  /** Transactions that the service has accepted and that the chain no longer knows. */
  lost: Set<string>;
}

/** A page before anything was read. */
export function emptyState(offered: OfferedWallet[]): PageState {
  const fresh = (): ActionState => ({
    input: {},
    mistake: null,
    planned: null,
    planning: Promise.resolve(),
    busy: false,
    uncertain: false,
    progress: null,
  });
  return {
    wallet: null,
    capabilities: null,
    failure: null,
    offered,
    connection: null,
    waitsFor: null,
    connectionFailure: null,
    opened: new Set(),
    lost: new Set(),
    actions: {
      enroll: fresh(),
      fund: fresh(),
      register: fresh(),
      approve: fresh(),
      pay: fresh(),
      pay_with_permit: fresh(),
      claim: fresh(),
    },
  };
}
