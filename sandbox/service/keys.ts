import { base64urlnopad } from "@scure/base";
import { type LocalAccount, toHex } from "viem";
import { TextEncoder } from "../../protocol/globals.ts";
import { deriveKey } from "../../protocol/signatures/key-derivation.ts";
import { sha256Hex } from "../../protocol/values/canonical-json.ts";
import type { Account, ServiceKeys } from "../../server/http/services.ts";
import type { Accounts } from "../chain/genesis/deployment-record.ts";
import type { SandboxSettings } from "../options/settings.ts";
import { signingAccount } from "../wallets/signing-account.ts";

/** An account that may issue access, with its key in the clear. */
export interface SeededAccount {
  id: string;
  program: string;
  key: string;
}

/** The keys of a sandbox that do not rotate: test keys only, all derived from the seed or the standard test mnemonic. */
export interface SandboxKeys {
  service: ServiceKeys;
  /** One account for each program. */
  accounts: readonly SeededAccount[];
  /** The accounts that the option `accounts` adds. */
  added: readonly SeededAccount[];
  /** The accounts of the program operators, which the relayer signs with. */
  operators: readonly LocalAccount[];
}

/** Derives the keys of a sandbox that do not rotate; those that do are in the service's key ring. */
export function deriveKeys(
  seed: string,
  accounts: Accounts,
  settings: Pick<SandboxSettings, "programs" | "accounts">,
): SandboxKeys {
  const programs = Object.entries(accounts.programs);
  const signers = programs.map(
    ([program, keys]) => [program, signingAccount(keys.commitmentSigner)] as const,
  );
  return {
    service: { commitmentSigners: new Map(signers) },
    accounts: settings.programs.map(({ id: program, account: id }) => seedAccount(seed, id, program)),
    added: settings.accounts.map(({ id, program }) => seedAccount(seed, id, program)),
    operators: programs.map(([, keys]) => signingAccount(keys.operator)),
  };
}

/**
 * Returns the accounts that given states are made with, one for each program, so that they do not count as a test's requests.
 *
 * @param accounts - those of the sandbox, each with its program.
 */
export function givenAccounts(
  seed: string,
  accounts: readonly Pick<SeededAccount, "program">[],
): SeededAccount[] {
  const programs = new Set(accounts.map(({ program }) => program));
  return [...programs].map((program) => seedAccount(seed, `given/${program}`, program));
}

/** The parts of the package that are clients of the API, each with an account of its own. */
type OwnClient = "client" | "demo";

/** Returns the account of the sandbox's client or of the demo, for the first program. */
export function clientAccount(
  name: OwnClient,
  seed: string,
  accounts: readonly Pick<SeededAccount, "program">[],
): SeededAccount {
  const [first] = accounts;
  if (first === undefined) throw new Error("A sandbox has at least one account.");
  return seedAccount(seed, `${name}/${first.program}`, first.program);
}

/**
 * Returns the accounts that the package itself uses. An account has one credential, so with those of `sandbox.json` it would revoke the credential
 * of the backend under test. No option can name an account so.
 */
export function ownAccounts(
  seed: string,
  accounts: readonly Pick<SeededAccount, "program">[],
): SeededAccount[] {
  const clients: readonly OwnClient[] = ["client", "demo"];
  return [...givenAccounts(seed, accounts), ...clients.map((name) => clientAccount(name, seed, accounts))];
}

function seedAccount(seed: string, id: string, program: string): SeededAccount {
  return { id, program, key: `rsk_${base64urlnopad.encode(deriveKey(seed, `account/${id}`))}` };
}

/** An account as the service keeps it: its key by its hash only. */
export function hideKey({ id, program, key }: SeededAccount): Omit<Account, "isLimited"> {
  return { id, program, key_sha256: sha256Hex(new TextEncoder().encode(key)) };
}

/** A 32-byte key as hex without 0x. */
export function bareHex(bytes: Uint8Array): string {
  return toHex(bytes).slice(2);
}
