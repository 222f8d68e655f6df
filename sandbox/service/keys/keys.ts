import { base64urlnopad } from "@scure/base";
import { type LocalAccount, toHex } from "viem";
import { deriveKey } from "../../../protocol/signatures/key-derivation.ts";
import { sha256Hex } from "../../../protocol/values/canonical-json.ts";
import type { Account, ServiceKeys } from "../../../server/services.ts";
import type { Accounts } from "../../chain/genesis/deployment-record.ts";
import type { ProgramSetting } from "../../options/programs.ts";
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
  accounts: readonly SeededAccount[];
  /** The accounts of the program operators, which the relayer signs with. */
  operators: readonly LocalAccount[];
}

/**
 * Derives the keys of a sandbox that do not rotate; those that do are in the service's key ring.
 *
 * @example const keys = deriveKeys("checkout", chain.accounts, defaultPrograms)
 */
export function deriveKeys(
  seed: string,
  accounts: Accounts,
  settings: readonly Pick<ProgramSetting, "id" | "account">[],
): SandboxKeys {
  const programs = Object.entries(accounts.programs);
  const signers = programs.map(
    ([program, keys]) => [program, signingAccount(keys.commitmentSigner)] as const,
  );
  return {
    service: { commitmentSigners: new Map(signers) },
    accounts: settings.map(({ id: program, account: id }) => seedAccount(seed, id, program)),
    operators: programs.map(([, keys]) => signingAccount(keys.operator)),
  };
}

/**
 * Returns the accounts that given states are made with, one for each program, so that they neither revoke a test's credential nor count as
 * its requests. No option can name an account so.
 *
 * @param accounts - those of the sandbox, each with its program.
 */
export function givenAccounts(
  seed: string,
  accounts: readonly Pick<SeededAccount, "program">[],
): SeededAccount[] {
  return accounts.map(({ program }) => seedAccount(seed, `given/${program}`, program));
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
