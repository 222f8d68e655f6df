import { type Address, type Hex, isAddress, isHex } from "viem";
import { z } from "zod";

const address = z.custom<Address>((value) => typeof value === "string" && isAddress(value), "not an address");
/** The schema of 32 bytes in hex. */
export const hash = z.custom<Hex>((value) => isHex(value) && value.length === 66, "not 32 bytes in hex");
/** An amount, written as a decimal string. */
export const decimal = z.codec(z.string().regex(/^(?:0|[1-9]\d*)$/), z.bigint(), {
  decode: (text) => BigInt(text),
  encode: (value) => value.toString(),
});
const contract = z.object({
  address,
  /** keccak256 of the code at the address. */
  codeHash: hash,
});
const block = z.object({ number: z.int().min(0), hash });

/** A program as files have it, where its operator has the name that the API gives it, `registrar`. */
const storedProgram = z.object({
  /** The program's API id, as in `prg_demo`. */
  id: z.string(),
  /** The program's id on chain: keccak256 of the characters of `id`. */
  onchainId: hash,
  name: z.string(),
  admin: address,
  /** The account that the relayer submits from. */
  registrar: address,
  commitmentSigner: address,
  bounds: z.object({
    /** In base units of the token. */
    maxPurchase: decimal,
    /** In base units of the token. */
    openBudget: decimal,
    /** Unix time in seconds. */
    validUntil: z.int(),
  }),
});
const program = z.codec(storedProgram, z.custom<WithOperator<z.infer<typeof storedProgram>>>(), {
  decode: ({ registrar: operator, ...rest }) => ({ ...rest, operator }),
  encode: ({ operator: registrar, ...rest }) => ({ ...rest, registrar }),
});

/** A stored object with the word `operator` in place of `registrar`. */
type WithOperator<T extends { registrar: unknown }> = Omit<T, "registrar"> & { operator: T["registrar"] };

/** The deployment on a chain, apart from the run that it serves. */
const contracts = z.object({
  chainId: z.int().positive(),
  token: contract.extend({ symbol: z.string(), decimals: z.int().min(0) }),
  registrar: contract,
  fundingSource: contract,
  programs: z.array(program),
});

/** The deployment on a fresh chain, and the block that it ends with. */
export const genesisDeployment = contracts.extend({ block });

/** The parsed form of {@link genesisDeployment}. */
export type GenesisDeployment = z.infer<typeof genesisDeployment>;

/** The deployment on a running chain, and the identity of the chain. */
export const deployment = contracts.extend({
  /**
   * Names this very chain: equal only for deterministic sandboxes with equal contracts and one seed, never for an old chain and
   * the fresh one after it.
   */
  epoch: hash,
  /** The first block after the genesis, which the epoch is made of. */
  epochBlock: block,
});

/** The parsed form of {@link deployment}; on disk the amounts are decimal strings. */
export type DeploymentRecord = z.infer<typeof deployment>;

const account = z.object({ address, privateKey: hash });

/** A test account: its address and its key. */
export type TestAccount = z.infer<typeof account>;

const storedKeys = z.object({ commitmentSigner: account, registrar: account });
const programKeys = z.codec(storedKeys, z.custom<WithOperator<z.infer<typeof storedKeys>>>(), {
  decode: ({ registrar: operator, ...rest }) => ({ ...rest, operator }),
  encode: ({ operator: registrar, ...rest }) => ({ ...rest, registrar }),
});

/** The keys of every account that acts on chain: test keys only. */
export const accounts = z.object({
  wallets: z.object({
    deployer: account,
    merchant: account,
    buyer: account,
    beneficiary: account,
    stranger: account,
    other_merchant: account,
    other_buyer: account,
  }),
  /** By program id. */
  programs: z.record(z.string(), programKeys),
});

/** The parsed form of {@link accounts}. */
export type Accounts = z.infer<typeof accounts>;
