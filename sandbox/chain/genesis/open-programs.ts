import { type Hex, hexToNumber, keccak256, slice, stringToHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { openProgramCall } from "../../../protocol/call.ts";
import { hashId } from "../../../protocol/values/id.ts";
import type { ChainClient } from "../client/chain-client.ts";
import type { Accounts, GenesisDeployment, TestAccount } from "./deployment-record.ts";
import { accountDeriver } from "./derive-account.ts";
import { GenesisError } from "./genesis-error.ts";
import { initialBalances, programBounds } from "./roles.ts";

/** A program by the id and the name that the API gives it. */
export interface NamedProgram {
  readonly id: string;
  readonly name: string;
}

/** The deployment, and the keys of every account that acts on it. */
interface Deployed {
  deployment: GenesisDeployment;
  accounts: Accounts;
}

/** Fixed, so that equal transactions are equal bytes: gas units, and wei per gas. */
const fees = { gas: 500_000n, maxFeePerGas: 2_000_000_000n, maxPriorityFeePerGas: 0n } as const;

/** Accounts below are named one by one. */
const firstDerivedIndex = 1_000;

/**
 * Makes a chain that ends with the genesis one of exactly these programs: those that the genesis has not are opened on it, one
 * block each. A program's keys follow from its id, whichever other programs there are.
 *
 * @throws GenesisError `mismatch` when the chain refuses to open one.
 */
export async function openPrograms(
  client: ChainClient,
  genesis: Deployed,
  programs: readonly NamedProgram[],
): Promise<Deployed> {
  const there = new Map(genesis.deployment.programs.map((program) => [program.id, program]));
  const missing = programs.filter(({ id }) => !there.has(id));
  const accountAt = missing.length === 0 ? null : accountDeriver();
  const keys = new Map(Object.entries(genesis.accounts.programs));
  for (const { id, name } of missing) {
    if (accountAt === null) break;
    const commitmentSigner = accountAt(indexOf(id, "commitment_signer"));
    // The derivation keeps this name: another one would be another account.
    const operator = accountAt(indexOf(id, "registrar"));
    keys.set(id, { commitmentSigner, operator });
    const admin = genesis.accounts.wallets.deployer;
    const program = {
      id,
      onchainId: hashId(id),
      name,
      admin: admin.address,
      operator: operator.address,
      commitmentSigner: commitmentSigner.address,
      bounds: programBounds,
    };
    await client.setBalance({ address: operator.address, value: initialBalances.operatorWei });
    const { address } = genesis.deployment.registrar;
    const { data } = openProgramCall(address, program.onchainId, program);
    await send(client, admin, genesis.deployment, data);
    there.set(id, program);
  }
  const { number, hash } = await client.getBlock({ blockTag: "latest" });
  return {
    deployment: {
      ...genesis.deployment,
      programs: programs.flatMap(({ id, name }) => {
        const program = there.get(id);
        return program === undefined ? [] : [{ ...program, name }];
      }),
      block: { number: Number(number), hash },
    },
    accounts: {
      ...genesis.accounts,
      programs: Object.fromEntries(
        programs.flatMap(({ id }) => {
          const pair = keys.get(id);
          return pair === undefined ? [] : [[id, pair]];
        }),
      ),
    },
  };
}

async function send(
  client: ChainClient,
  from: TestAccount,
  { chainId, registrar }: GenesisDeployment,
  data: Hex,
): Promise<void> {
  const serializedTransaction = await privateKeyToAccount(from.privateKey).signTransaction({
    type: "eip1559",
    chainId,
    nonce: await client.getTransactionCount({ address: from.address }),
    to: registrar.address,
    data,
    ...fees,
  });
  const { status } = await client.sendRawTransactionSync({ serializedTransaction });
  if (status !== "success")
    throw new GenesisError(
      "mismatch",
      "The registrar contract refuses to open a program. Remove .genesis and start again.",
    );
}

function indexOf(program: string, role: string): number {
  const number = hexToNumber(slice(keccak256(stringToHex(`${program}/${role}`)), 0, 4));
  // Of the 2 ** 31 indexes that are not hardened.
  return firstDerivedIndex + (number % 2 ** 30);
}
