import { base64urlnopad } from "@scure/base";
import type { KeyRing } from "../../server/keys/key-ring.ts";
import type { ClockMode } from "../chain/clock/clock.ts";
import type { ChainNode } from "../chain/start-chain.ts";
import type { RotatingDescription, SandboxDescription, SandboxUrls } from "../options/description.ts";
import { bareHex, type SandboxKeys, type SeededAccount } from "./keys.ts";

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
export async function describeSandbox(sandbox: {
  settings: { seed: string; mode: ClockMode };
  urls: SandboxUrls;
  chain: ChainNode;
  keys: SandboxKeys;
  keyRing: KeyRing;
  receiverUrl: string;
}): Promise<SandboxDescription> {
  const { settings, chain, keys, keyRing, receiverUrl } = sandbox;
  const { deployment, accounts } = chain;
  const [first, ...others] = [...keys.accounts, ...keys.added];
  if (first === undefined) throw new Error("A sandbox has at least one program.");
  const wallets: SandboxDescription["wallets"] = {};
  for (const [name, { address, privateKey }] of Object.entries(accounts.wallets))
    wallets[name] = { address, private_key: privateKey };
  return {
    version: 1,
    seed: settings.seed,
    mode: settings.mode,
    pid: process.pid,
    urls: sandbox.urls,
    chain: { chain_id: deployment.chainId, epoch: deployment.epoch },
    contracts: {
      token: deployment.token.address,
      registrar: deployment.registrar.address,
      funding_source: deployment.fundingSource.address,
    },
    accounts: [{ ...first }, ...others.map((account) => ({ ...account }))],
    wallets,
    ...(await describeRotating(keyRing, keys.accounts, receiverUrl)),
  };
}
