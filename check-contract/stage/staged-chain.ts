import { secp256k1 } from "@noble/curves/secp256k1.js";
import {
  type Address,
  bytesToHex,
  concatHex,
  encodeAbiParameters,
  type Hex,
  hexToBytes,
  type LocalAccount,
  numberToHex,
  type SignedAuthorization,
  type TransactionReceipt,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { testUsdcAbi } from "../../protocol/abi.generated.ts";
import { approveCall, type Call } from "../../protocol/call.ts";
import { registrarDomain } from "../../protocol/domain.ts";
import {
  hashPermit,
  type Permit,
  type SignedPermit,
  signedPermit,
  tokenDomain,
} from "../../protocol/permit.ts";
import type { WalletName } from "../../sandbox/chain/genesis/roles.ts";
import type { Sandbox } from "../../sandbox/create-sandbox.ts";
import { wait } from "../../sandbox/lib/wait.ts";
import { readAdversary } from "../artifact.ts";

/** Who can send on the stage: a wallet, or the account that the relayer sends from. */
export type Actor = WalletName | "registrar";

/** What an account sends; the recipient is null for a creation. */
export interface Outgoing {
  to: Address | null;
  data: Hex;
  value?: bigint;
  gas?: bigint;
  nonce?: number;
  maxFeePerGas?: bigint;
  /** Makes it a legacy transaction. */
  legacy?: boolean;
  /** Makes it one that delegates accounts to code (EIP-7702). */
  delegate?: SignedAuthorization[];
}

/** What the actors of a stage do on chain. */
export class StagedChain {
  readonly sandbox: Sandbox;
  readonly #accounts = new Map<Actor, LocalAccount>();
  #permitNonce = 0n;

  constructor(sandbox: Sandbox) {
    this.sandbox = sandbox;
  }

  get client() {
    return this.sandbox.chain.client;
  }

  get contracts() {
    return this.sandbox.description.contracts;
  }

  get domain() {
    return registrarDomain(this.sandbox.description.chain.chain_id, this.contracts.registrar);
  }

  account(name: Actor): LocalAccount {
    // Deriving an address costs as much as a signature.
    const account = this.#accounts.get(name) ?? privateKeyToAccount(this.#privateKey(name));
    this.#accounts.set(name, account);
    return account;
  }

  #privateKey(name: Actor): Hex {
    const { programs, wallets } = this.sandbox.chain.accounts;
    const keys = name === "registrar" ? programs["prg_demo"]?.registrar : wallets[name];
    if (keys === undefined) throw new Error(`The sandbox has no account ${name}.`);
    return keys.privateKey;
  }

  address(name: Actor): Address {
    return this.account(name).address;
  }

  /** Signs a transaction with a wallet's own key. */
  async sign(name: Actor, transaction: Outgoing): Promise<Hex> {
    const account = this.account(name);
    const { data, value = 0n, gas = 2_000_000n, maxFeePerGas = 2_000_000_000n } = transaction;
    const nonce =
      transaction.nonce ??
      (await this.client.getTransactionCount({ address: account.address, blockTag: "pending" }));
    const chainId = this.sandbox.description.chain.chain_id;
    const common = { chainId, nonce, gas, value, data, to: transaction.to };
    if (transaction.legacy)
      return await account.signTransaction({ ...common, type: "legacy", gasPrice: maxFeePerGas });
    const fees = { maxFeePerGas, maxPriorityFeePerGas: 1_000_000_000n };
    if (transaction.delegate === undefined)
      return await account.signTransaction({ ...common, ...fees, type: "eip1559" });
    return await account.signTransaction({
      ...common,
      ...fees,
      type: "eip7702",
      authorizationList: transaction.delegate,
    });
  }

  /** Sends what a wallet signed and does not wait. */
  async submit(name: Actor, transaction: Outgoing): Promise<Hex> {
    return await this.client.sendRawTransaction({
      serializedTransaction: await this.sign(name, transaction),
    });
  }

  /** Sends a transaction and waits until it is mined, whatever became of it. */
  async send(name: Actor, transaction: Outgoing): Promise<Hex> {
    const hash = await this.submit(name, transaction);
    await this.receipt(hash);
    if (name === "buyer") await this.readPermitNonce();
    return hash;
  }

  /**
   * Signs a permit to the registrar, at once: with the nonce that the buyer had after the last transaction that was waited for.
   *
   * @param permit - what is not named is the buyer's own, to the registrar, with the next nonce.
   */
  signPermit(
    permit: Pick<Permit, "value" | "deadline"> & Partial<Permit>,
    signer: Actor = "buyer",
  ): SignedPermit {
    const { chain, contracts } = this.sandbox.description;
    const digest = hashPermit(tokenDomain(chain.chain_id, contracts.token), {
      owner: this.address("buyer"),
      spender: contracts.registrar,
      nonce: this.#permitNonce,
      ...permit,
    });
    const signature = secp256k1.sign(hexToBytes(digest), hexToBytes(this.#privateKey(signer)), {
      prehash: false,
      format: "recovered",
    });
    const v = numberToHex(27 + (signature[0] ?? 0));
    return signedPermit(permit.deadline, concatHex([bytesToHex(signature.slice(1)), v]));
  }

  /** Reads how many permits of the buyer the token has taken. */
  protected async readPermitNonce(): Promise<void> {
    this.#permitNonce = await this.client.readContract({
      address: this.contracts.token,
      abi: testUsdcAbi,
      functionName: "nonces",
      args: [this.address("buyer")],
    });
  }

  /**
   * Waits until so many transactions of an account are mined or pending.
   *
   * @throws Error when they are not within five seconds.
   */
  async untilPending(name: Actor, transactions: number): Promise<void> {
    const query = { address: this.address(name), blockTag: "pending" } as const;
    const end = performance.now() + 5_000;
    while ((await this.client.getTransactionCount(query)) < transactions) {
      if (performance.now() > end) throw new Error(`The ${name} never sent ${transactions} transactions.`);
      await wait(5);
    }
  }

  async receipt(hash: Hex): Promise<TransactionReceipt> {
    return await this.sandbox.wallets.stranger.receipt(hash);
  }

  /** Sends a transaction that has to succeed, for an attack that builds on it. */
  async succeed(name: Actor, transaction: Outgoing): Promise<Hex> {
    const hash = await this.send(name, transaction);
    const { status } = await this.receipt(hash);
    if (status !== "success")
      throw new Error(`The transaction ${hash} of ${name} was to succeed and reverted.`);
    return hash;
  }

  /** Deploys an adversary. */
  async deploy(source: string, name = source, args: Hex = "0x"): Promise<Address> {
    const { bytecode } = await readAdversary(source, name);
    const hash = await this.send("stranger", { to: null, data: concatHex([bytecode, args]) });
    const { contractAddress } = await this.receipt(hash);
    if (!contractAddress) throw new Error(`${name} was not deployed.`);
    return contractAddress;
  }

  /** The code that creates an adversary with these arguments. */
  async creation(source: string, name: string, target: Address, data: Hex): Promise<Hex> {
    const { bytecode } = await readAdversary(source, name);
    return concatHex([
      bytecode,
      encodeAbiParameters([{ type: "address" }, { type: "bytes" }], [target, data]),
    ]);
  }

  approve(amount: bigint, spender = this.contracts.registrar): Call {
    return approveCall(this.contracts.token, spender, amount);
  }
}
