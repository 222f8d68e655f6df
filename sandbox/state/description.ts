import { base64urlnopad } from "@scure/base";
import type { Address, Hex } from "viem";
import type { KeyRing } from "../../server/key-ring.ts";
import type { ClockMode } from "../chain/clock/clock.ts";
import type { Chain } from "../chain/genesis/start-chain.ts";
import { bareHex, type SandboxKeys, type SeededAccount } from "../service/keys.ts";

/** Where a sandbox's parts answer. */
export interface SandboxUrls {
  api: string;
  docs: string;
  rpc: string;
  control: string;
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
  accounts: { id: string; program: string; key: string }[];
  wallets: { [name: string]: { address: Address; private_key: Hex } };
  /** The designated reviewer of the first program now: the public key in base64url, the private key as a 32-byte seed in hex. */
  reviewer: { key_id: string; public_key: string; private_key: string };
  /** Every program's reviewer. */
  reviewers: { program: string; key_id: string; public_key: string; private_key: string }[];
  /** Where notifications go, and the secret that they are signed with now. */
  receiver: { url: string; hmac_secret: string };
}

/** The part of a description that a rotation of keys changes. */
export type RotatingDescription = Pick<SandboxDescription, "reviewer" | "reviewers" | "receiver">;

/** Describes what is signed with now. */
export async function describeRotating(
  keyRing: KeyRing,
  accounts: readonly SeededAccount[],
  receiverUrl: string,
): Promise<RotatingDescription> {
  const reviewers = await Promise.all(
    accounts.map(async ({ program }) => {
      const key = await keyRing.reviewer(program);
      return {
        program,
        key_id: key.keyId,
        public_key: base64urlnopad.encode(key.publicKey),
        private_key: bareHex(key.privateKey),
      };
    }),
  );
  const [first] = reviewers;
  if (first === undefined) throw new Error("A sandbox has at least one program.");
  const { program: _, ...reviewer } = first;
  const { current } = await keyRing.notifications();
  return { reviewer, reviewers, receiver: { url: receiverUrl, hmac_secret: current.secret } };
}

/** Describes a running sandbox. */
export function describe(sandbox: {
  seed: string;
  mode: ClockMode;
  urls: SandboxUrls;
  chain: Chain;
  keys: SandboxKeys;
  rotating: RotatingDescription;
}): SandboxDescription {
  const { chain, keys } = sandbox;
  const { deployment, accounts } = chain;
  const wallets: SandboxDescription["wallets"] = {};
  for (const [name, { address, privateKey }] of Object.entries(accounts.wallets))
    wallets[name] = { address, private_key: privateKey };
  return {
    version: 1,
    seed: sandbox.seed,
    mode: sandbox.mode,
    pid: process.pid,
    urls: sandbox.urls,
    chain: { chain_id: deployment.chainId, epoch: deployment.epoch },
    contracts: {
      token: deployment.token.address,
      registrar: deployment.registrar.address,
      funding_source: deployment.fundingSource.address,
    },
    accounts: keys.accounts.map((account) => ({ ...account })),
    wallets,
    ...sandbox.rotating,
  };
}
