import { writeAmount } from "./amount.ts";
import type { Connection } from "./connection.ts";
import type { OfferedWallet } from "./injected-wallets.ts";
import type { Progress } from "./perform.ts";
import type { ActionName, Capabilities, Wallet } from "./wallet-api.ts";

/** One action as the page has it. */
export interface ActionState {
  /** What was typed: an amount in tokens, a reason. */
  wish: { amount?: string; reason?: string };
  /** What is wrong with it. */
  mistake: string | null;
  /** Resolves once the service has answered with the bytes of what was typed last. */
  planned: Promise<void>;
  busy: boolean;
  /** Whether a transaction may have been sent whose hash the page does not know. */
  uncertain: boolean;
  progress: Progress | null;
}

/** All that the page shows. */
export interface PageState {
  wallet: Wallet | null;
  capabilities: Capabilities | null;
  /** The token's symbol. */
  symbol: string;
  /** Why there is nothing to show. */
  failure: string | null;
  offered: OfferedWallet[];
  connection: Connection | null;
  /** What the last attempt to connect or to switch said. */
  connectionFailure: string | null;
  actions: { [A in ActionName]: ActionState };
}

/** A page before anything was read. */
export function emptyState(offered: OfferedWallet[]): PageState {
  const fresh = (): ActionState => ({
    wish: {},
    mistake: null,
    planned: Promise.resolve(),
    busy: false,
    uncertain: false,
    progress: null,
  });
  return {
    wallet: null,
    capabilities: null,
    symbol: "",
    failure: null,
    offered,
    connection: null,
    connectionFailure: null,
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

/** Fills in the amounts that the service offers where nothing was typed. */
export function fillInAmounts({ wallet, capabilities, actions }: PageState): void {
  for (const { name, amount } of wallet?.actions ?? []) {
    const { wish } = actions[name];
    if (wish.amount === undefined && amount !== undefined && capabilities !== null)
      wish.amount = writeAmount(amount, capabilities.contracts.token);
  }
}
