import type { Address, Hex } from "viem";

/** A contract as it was pinned when it was deployed. */
export interface PinnedContract {
  address: Address;
  /** keccak256 of the code at the address. */
  codeHash: Hex;
}

/** The deployment that the service is bound to: one chain, its contracts and the programs on it. */
export interface Deployment {
  chainId: number;
  /** Names this very chain, so that a fresh chain with the same id is not mistaken for it. */
  epoch: Hex;
  epochBlock: { number: number; hash: Hex };
  token: PinnedContract & { symbol: string; decimals: number };
  registrar: PinnedContract;
  fundingSource: PinnedContract;
  programs: readonly ProgramDeployment[];
}

/** A program as it was opened on chain; amounts in base units of the token. */
export interface ProgramDeployment {
  id: string;
  name: string;
  /** The account that the relayer submits from. */
  operator: Address;
  commitmentSigner: Address;
  bounds: { maxPurchase: bigint; openBudget: bigint; validUntil: number };
}
