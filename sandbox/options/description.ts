import type { Address, Hex } from "viem";
import type { ClockMode } from "../chain/clock/clock.ts";

/** The URLs of a sandbox's parts. */
export interface SandboxUrls {
  api: string;
  docs: string;
  rpc: string;
  control: string;
}

/** The account of a program, and its key: `POST …/access` exchanges it for a credential. */
export interface DescribedAccount {
  id: string;
  program: string;
  key: string;
}

/** Everything that a script needs to use a running sandbox; test keys only. The content of `sandbox.json`. */
export interface SandboxDescription {
  version: 1;
  seed: string;
  mode: ClockMode;
  pid: number;
  urls: SandboxUrls;
  chain: { chain_id: number; epoch: Hex };
  contracts: { token: Address; registrar: Address; funding_source: Address };
  /** One account for each program, in the order of the programs. */
  accounts: [DescribedAccount, ...DescribedAccount[]];
  wallets: { [name: string]: { address: Address; private_key: Hex } };
  /** The designated reviewer of the first program now: the public key in base64url, the private key as a 32-byte seed in hex. */
  reviewer: { key_id: string; public_key: string; private_key: string };
  /** Every program's reviewer. */
  reviewers: { program: string; key_id: string; public_key: string; private_key: string }[];
  /** The URL that notifications go to, and the secret that they are signed with now. */
  receiver: { url: string; hmac_secret: string };
}

/** The part of a description that a rotation of keys changes. */
export type RotatingDescription = Pick<SandboxDescription, "reviewer" | "reviewers" | "receiver">;
