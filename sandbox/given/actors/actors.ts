import type { Hex } from "viem";
import type { SandboxClock } from "../../chain/clock/clock.ts";
import type { ChainNode } from "../../chain/start-chain.ts";
import type { TestWallets } from "../../wallets/open-wallets.ts";
import type { MerchantReads } from "./merchant-reads.ts";
import type { ProgramApi } from "./program-api.ts";
import type { Reviewer } from "./reviewer.ts";

/** The actors that make given states: API, wallets, reviewer, clock and chain. */
export interface GivenActors {
  firstProgram: string;
  wallets: TestWallets;
  clock: Pick<SandboxClock, "now" | "travelTo">;
  chain: Pick<ChainNode, "client" | "isOwn" | "terms" | "deployment">;
  reviewer: Reviewer;
  merchants: MerchantReads;
  api: (program: string) => ProgramApi;
  /** Has the relayer hold the collection under a decision once. */
  holdCollection: (program: string, decisionHash: Hex) => Promise<void>;
}
