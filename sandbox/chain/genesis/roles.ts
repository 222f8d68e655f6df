import { usdc, usdcDecimals } from "../../../protocol/values/amount.ts";

/** The mnemonic of every development chain: its keys are public and hold test money only. */
export const testMnemonic = "test test test test test test test test test test test junk";

/** The parent of every account's derivation path; an account's index is appended. */
export const derivationPath = "m/44'/60'/0'/0";

/** EIP-155 id of the sandbox's chain. */
export const chainId = 31_337;

/** Unix time of block 0 in seconds: 2026-01-01T00:00:00Z. */
export const genesisTimestamp = 1_767_225_600;

/** The accounts of the sandbox, by their index in the mnemonic. */
export const walletIndexes = {
  /** Owns the token, holds its roles and is the admin of the programs. */
  deployer: 0,
  merchant: 1,
  buyer: 2,
  beneficiary: 3,
  /** Takes part in nothing. */
  stranger: 4,
  other_merchant: 5,
  other_buyer: 6,
} as const;

/** The name of a wallet. */
export type WalletName = keyof typeof walletIndexes;

/** The wallets' names, in the order of their accounts. */
export const walletNames = [
  "deployer",
  "merchant",
  "buyer",
  "beneficiary",
  "stranger",
  "other_merchant",
  "other_buyer",
] as const satisfies readonly WalletName[];

/** A program that the genesis opens. */
export interface ProgramRole {
  /** The program's API id; its on-chain id is the keccak256 of these characters. */
  readonly id: string;
  readonly name: string;
  /** The account whose signature makes a commitment. */
  readonly commitmentSignerIndex: number;
  /** The account that the relayer submits from. */
  readonly operatorIndex: number;
}

/** The programs that the genesis opens. */
export const programRoles: readonly ProgramRole[] = [
  { id: "prg_demo", name: "Demo store", commitmentSignerIndex: 20, operatorIndex: 21 },
  { id: "prg_other", name: "Other store", commitmentSignerIndex: 22, operatorIndex: 23 },
];

/** The bounds of a program's operator; amounts in base units of a token with 6 decimals, time in Unix seconds. */
export const programBounds = {
  maxPurchase: 100_000n * usdc,
  openBudget: 1_000_000n * usdc,
  /** 2100-01-01T00:00:00Z */
  validUntil: 4_102_444_800,
} as const;

/** The initial balances of accounts: ether in wei, test USDC in base units. */
export const initialBalances = {
  walletWei: 1_000n * 10n ** 18n,
  operatorWei: 100n * 10n ** 18n,
  /** Every wallet but the deployer's. */
  walletUsdc: 1_000_000n * usdc,
} as const;

/** The token that the genesis deploys. */
export const tokenParameters = { name: "USDC", symbol: "USDC", decimals: usdcDecimals } as const;

/** Raised whenever the deployment does something else with equal contracts and parameters, or describes it differently. */
export const genesisRevision = 1;
