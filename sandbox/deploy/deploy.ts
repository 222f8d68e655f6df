import {
  type Address,
  BaseError,
  domainSeparator,
  encodeDeployData,
  formatEther,
  getAddress,
  type Hex,
  keccak256,
  parseTransaction,
  type TransactionReceipt,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { purchaseRegistrarAbi } from "../../protocol/abi.generated.ts";
import { openProgramCall, setBoundsCall } from "../../protocol/call.ts";
import { messageOf } from "../../protocol/coded-error.ts";
import { tokenDomain } from "../../protocol/messages/permit.ts";
import { usdcDecimals } from "../../protocol/values/amount.ts";
import { hashId } from "../../protocol/values/id.ts";
import { sameAddress } from "../../protocol/values/same-address.ts";
import { codeHashAt, findDifference } from "../../server/chain/find-difference.ts";
import { absent } from "../../server/chain/head-reader.ts";
import type { ChainClient } from "../chain/client/chain-client.ts";
import {
  estimateFees,
  reachNode,
  requireSameChain,
  requireUsableNode,
} from "../chain/connection/connect-chain.ts";
import { unusable } from "../chain/connection/network.ts";
import {
  type NetworkDeployment,
  type NetworkKeys,
  newAccount,
  newKeys,
  readDeployment,
  readKeys,
  writeDeployment,
  writeKeys,
} from "../chain/connection/network-files.ts";
import { readContractArtifact } from "../chain/contracts.ts";
import type { DeploymentRecord } from "../chain/genesis/deployment-record.ts";
import { epochOf } from "../chain/genesis/open-epoch.ts";
import { programBounds, tokenParameters } from "../chain/genesis/roles.ts";
import { wait } from "../lib/time/timers.ts";
import { defaultPrograms, type ProgramSetting } from "../options/programs.ts";

/** Gas units per transaction; more than each one needs. */
const gas = { create: 6_000_000n, call: 300_000n };
/** The gas units that each operator is asked to have: about 50 offers and refunds. */
const operatorGas = 20_000_000n;
/** The pause between two looks for a transaction receipt or for money, in milliseconds. */
const lookMs = 500;
/** After so many looks in vain, a transaction is signed again with the same nonce and higher fees. */
const patientLooks = 240;
/** After each so many looks in vain, a sentence says what is waited for. */
const tellLooks = 40;
/** After so many looks in vain, a refusal of the node is believed. */
const refusedLooks = 4;
/** After so many looks in vain, the deployer's transactions before it are looked for: a node that lags behind may have fewer at first. */
const gapLooks = 20;

/** A deployment to make, or to complete. */
export interface DeployOptions {
  rpcUrls: readonly string[];
  /** The file of keys, which is made if it is missing. */
  keys: string;
  /** The file of the deployment, which is continued if it is there. */
  deployment: string;
  /** The token to use; TestUSDC is deployed if not given. */
  token?: Address;
  /** The programs to open; by default those of the file, or else those of every sandbox. */
  programs?: readonly ProgramSetting[];
  allowChainId?: number | undefined;
  /** Whether to wait until every account has the money that it needs. */
  wait?: boolean;
  /** Told what is done, one sentence at a time. */
  tell?: (sentence: string) => void;
}

/**
 * Deploys the contracts and opens the programs on the chain that a node serves. It can be ended at any time, and run again: a transaction is
 * on disk before it is sent, and what is on the chain is not made twice.
 *
 * @throws SandboxError node_unusable for a production network, another chain than that of the file, and missing money.
 * @example await deploy({ rpcUrls: ["https://rpc.example/key"], keys: "keys.json", deployment: "deployment.json" })
 */
export async function deploy(options: DeployOptions): Promise<DeploymentRecord> {
  const node = reachNode(options.rpcUrls, 0);
  try {
    const chainId = await requireUsableNode(node, options.allowChainId);
    const genesis = async (client: ChainClient) => (await client.getBlock({ blockNumber: 0n })).hash;
    const own = options.rpcUrls.length > 1 ? await genesis(node.client) : null;
    await requireSameChain(options.rpcUrls, async (client) => {
      const [id, hash] = [await client.getChainId(), await genesis(client)];
      if (id !== chainId) return `chain id is ${id}, not ${chainId}`;
      return hash === own ? null : `block 0 is ${hash}, not ${own}`;
    });
    const file = (await readDeployment(options.deployment)) ?? newDeployment(chainId);
    if (file.chain_id !== chainId)
      throw unusable(
        `${options.deployment} is of chain id ${file.chain_id}, and the node serves ${chainId}. Name the node of that chain, or another file.`,
      );
    const { token } = options;
    const kept = file.deployment?.token.address;
    if (token !== undefined && kept !== undefined && !sameAddress(token, kept))
      throw unusable(
        `${options.deployment} has the token ${kept}, not ${token}. Leave out the token, or name another file.`,
      );
    const programs = options.programs ?? file.programs;
    const keys = await completeKeys(options.keys, programs);
    return await new Deploying(node.client, { ...file, programs: [...programs] }, keys, options).run();
  } finally {
    await node.connection.close();
  }
}

function newDeployment(chain_id: number): NetworkDeployment {
  return { version: 1, chain_id, programs: [...defaultPrograms], transactions: [], deployment: null };
}

/** Reads the keys, or makes them, and those of programs that have none yet. */
async function completeKeys(file: string, programs: readonly ProgramSetting[]): Promise<NetworkKeys> {
  const kept = await readKeys(file);
  const keys = kept ?? newKeys();
  const lacking = programs.filter(({ id }) => keys.programs[id] === undefined);
  for (const { id } of lacking)
    keys.programs[id] = { operator: newAccount(), commitment_signer: newAccount() };
  if (kept === null || lacking.length > 0) await writeKeys(file, keys);
  return keys;
}

class Deploying {
  readonly #client: ChainClient;
  readonly #file: NetworkDeployment;
  readonly #keys: NetworkKeys;
  readonly #options: DeployOptions;
  #hasSent = false;

  constructor(client: ChainClient, file: NetworkDeployment, keys: NetworkKeys, options: DeployOptions) {
    this.#client = client;
    this.#file = file;
    this.#keys = keys;
    this.#options = options;
  }

  async run(): Promise<DeploymentRecord> {
    await this.#requireSameChain();
    const kept = this.#options.token ?? this.#file.deployment?.token.address;
    if (kept !== undefined) await readToken(this.#client, kept);
    const wasComplete = this.#file.deployment !== null;
    await this.#requireMoney();
    if (kept !== undefined) this.#tell(`The token is there: ${kept}.`);
    const token = kept ?? (await this.#createToken());
    const { bytecode } = await readContractArtifact("PurchaseRegistrar");
    const registrar = await this.#create("PurchaseRegistrar", bytecode);
    const programs: DeploymentRecord["programs"] = [];
    for (const program of this.#file.programs) programs.push(await this.#openProgram(registrar, program));
    const deployment = await this.#describe(token, registrar, programs);
    await this.#write({ deployment });
    const { deployment: file } = this.#options;
    this.#tell(
      this.#hasSent || !wasComplete
        ? `The deployment is complete: ${file}.`
        : `The deployment in ${file} was complete, and nothing was sent.`,
    );
    return deployment;
  }

  #tell(sentence: string): void {
    this.#options.tell?.(sentence);
  }

  async #write(changes: Partial<NetworkDeployment>): Promise<void> {
    Object.assign(this.#file, changes);
    await writeDeployment(this.#options.deployment, this.#file);
  }

  /** A chain that has lost the deployment, such as that of a development node that was started again, is another one. */
  async #requireSameChain(): Promise<void> {
    const { deployment } = this.#file;
    const difference = deployment && (await findDifference(this.#client, deployment));
    if (difference === null) return;
    // After a reorg, the deployment is in other blocks.
    const isMoved = difference.startsWith("block ");
    if (isMoved && (await this.#sentReceiptOf("PurchaseRegistrar")) !== undefined) return;
    throw unusable(
      `The chain is not the one of ${this.#options.deployment}: ${difference}. Name the node that the file belongs to, or another file.`,
    );
  }

  /** Makes sure that each account can pay for what it has to send. */
  async #requireMoney(): Promise<void> {
    const { maxFeePerGas } = await estimateFees(this.#client);
    const steps = this.#file.programs.length * Number(gas.call) + 2 * Number(gas.create);
    const needs = [
      { what: "deployer", address: this.#keys.deployer.address, wei: BigInt(steps) * maxFeePerGas },
      ...this.#file.programs.flatMap(({ id }) => {
        const address = this.#keys.programs[id]?.operator.address;
        const known = this.#file.deployment?.programs.find((program) => program.id === id);
        // The operator of a program that is open has had its ether.
        if (address === undefined || known?.operator === address) return [];
        return [{ what: `operator of ${id}`, address, wei: operatorGas * maxFeePerGas }];
      }),
    ];
    for (let told = ""; ; await wait(lookMs)) {
      const lacking: string[] = [];
      for (const { what, address, wei } of needs) {
        // A deployment that is complete needs none.
        if (what === "deployer" && this.#file.deployment !== null) continue;
        const has = await this.#client.getBalance({ address });
        if (has < wei)
          lacking.push(`${address} (${what}) has ${formatEther(has)} ether and needs ${formatEther(wei)}`);
      }
      if (lacking.length === 0) return;
      const sentence = `${lacking.join("; ")}.`;
      if (this.#options.wait !== true)
        throw unusable(`${sentence} Send them test ether, and run routing-sandbox deploy --wait.`);
      if (sentence !== told) this.#tell(`Waiting for test ether: ${sentence}`);
      told = sentence;
    }
  }

  async #createToken(): Promise<Address> {
    const { abi, bytecode } = await readContractArtifact("TestUSDC");
    const { name, symbol } = tokenParameters;
    const { address: admin } = this.#keys.deployer;
    return await this.#create(
      "TestUSDC",
      encodeDeployData({ abi, bytecode, args: [name, symbol, admin, admin, admin, admin] }),
    );
  }

  async #create(step: string, data: Hex): Promise<Address> {
    const { contractAddress } = await this.#send(step, data, null);
    if (contractAddress === null || contractAddress === undefined)
      throw unusable(`The creation of ${step} made no contract.`);
    return getAddress(contractAddress);
  }

  async #openProgram(
    registrar: Address,
    { id, name }: ProgramSetting,
  ): Promise<DeploymentRecord["programs"][number]> {
    const keys = this.#keys.programs[id];
    if (keys === undefined) throw new Error(`The program ${id} has no keys.`);
    const program = {
      id,
      onchainId: hashId(id),
      name,
      admin: this.#keys.deployer.address,
      operator: keys.operator.address,
      commitmentSigner: keys.commitment_signer.address,
      bounds: programBounds,
    };
    const state = await this.#client.readContract({
      address: registrar,
      abi: purchaseRegistrarAbi,
      functionName: "programState",
      args: [program.onchainId],
    });
    const isOpen = BigInt(state.admin) !== 0n;
    const isSame =
      sameAddress(state.operator, program.operator) &&
      sameAddress(state.commitmentSigner, program.commitmentSigner);
    if (isOpen && isSame) {
      this.#tell(`Program ${id} is there: its operator is ${program.operator}.`);
      return { ...program, bounds: { ...state.bounds, validUntil: Number(state.bounds.validUntil) } };
    }
    const call = isOpen ? setBoundsCall : openProgramCall;
    const what = isOpen ? `New keys of ${id}: ${program.operator}` : `Program ${id}`;
    await this.#send(what, call(registrar, program.onchainId, program).data, registrar);
    return program;
  }

  /** Sends the transaction of a step that has not been mined yet; one that was sent before is sent again, as the same bytes. */
  async #send(step: string, data: Hex, to: Address | null): Promise<TransactionReceipt> {
    for (;;) {
      const sent = this.#file.transactions.find((transaction) => transaction.step === step);
      const found = sent && (await this.#receiptOf(sent.raw));
      if (found !== undefined) return this.#succeeded(step, found, " is there");
      const nonce = sent?.nonce ?? (await this.#nonce());
      if (sent !== undefined && (await this.#nonce()) > nonce) {
        // Another transaction has taken its nonce: this one can never be mined.
        const transactions = this.#file.transactions.filter((transaction) => transaction !== sent);
        await this.#write({ transactions });
        continue;
      }
      if (sent === undefined) await this.#sign(step, { nonce, data, to }, []);
      else this.#tell(`${step} was sent before, and is sent again.`);
      const receipt = await this.#broadcast(step, { nonce, data, to });
      if (receipt !== undefined) return this.#succeeded(step, receipt);
    }
  }

  async #nonce(blockTag: "latest" | "pending" = "latest"): Promise<number> {
    return await this.#client.getTransactionCount({ address: this.#keys.deployer.address, blockTag });
  }

  #succeeded(step: string, receipt: TransactionReceipt, state = ""): TransactionReceipt {
    if (receipt.status !== "success")
      throw unusable(
        `The transaction ${receipt.transactionHash} of ${step} has reverted. Remove it from ${this.#options.deployment}, and run this again.`,
      );
    const { contractAddress: made, transactionHash, blockNumber } = receipt;
    const where = made === null || made === undefined ? transactionHash : getAddress(made);
    this.#tell(`${step}${state}: ${where}, block ${blockNumber}.`);
    return receipt;
  }

  /** Signs a transaction, and writes it down before it can be sent. */
  async #sign(
    step: string,
    { nonce, data, to }: { nonce: number; data: Hex; to: Address | null },
    before: readonly Hex[],
  ): Promise<void> {
    const account = privateKeyToAccount(this.#keys.deployer.privateKey);
    const fees = await estimateFees(this.#client);
    const last = before.at(-1);
    const { maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = last === undefined ? {} : parseTransaction(last);
    // Nodes ask for at least a tenth more before they replace a waiting transaction.
    const raised = (fee: bigint, least: bigint) => (fee > (least * 9n) / 8n ? fee : (least * 9n) / 8n + 1n);
    const raw = await account.signTransaction({
      type: "eip1559",
      chainId: this.#file.chain_id,
      nonce,
      data,
      ...(to === null ? {} : { to }),
      gas: to === null ? gas.create : gas.call,
      maxFeePerGas: raised(fees.maxFeePerGas, maxFeePerGas),
      maxPriorityFeePerGas: raised(fees.maxPriorityFeePerGas, maxPriorityFeePerGas),
    });
    const others = this.#file.transactions.filter((transaction) => transaction.step !== step);
    await this.#write({ transactions: [...others, { step, nonce, raw: [...before, raw] }] });
  }

  async #broadcast(
    step: string,
    transaction: { nonce: number; data: Hex; to: Address | null },
  ): Promise<TransactionReceipt | undefined> {
    const sent = this.#file.transactions.find((one) => one.step === step);
    const serializedTransaction = sent?.raw.at(-1);
    if (sent === undefined || serializedTransaction === undefined) return undefined;
    // Its words are the same for a transaction that the node has already and for one that it refuses: the receipt decides.
    this.#hasSent = true;
    const refused = await this.#client.sendRawTransaction({ serializedTransaction }).then(
      () => undefined,
      (error: unknown) => error,
    );
    for (let looks = 0; looks < patientLooks; looks += 1) {
      const receipt = await this.#receiptOf(sent.raw);
      if (receipt !== undefined) return receipt;
      if ((await this.#nonce()) > transaction.nonce) return await this.#receiptOf(sent.raw);
      if (refused !== undefined && looks > refusedLooks && !(await this.#isKnown(serializedTransaction)))
        throw unusable(`The node refuses the transaction of ${step}: ${reasonOf(refused)}`, refused);
      if (looks === gapLooks && (await this.#nonce("pending")) < transaction.nonce)
        throw unusable(
          `The transaction of ${step} has the nonce ${transaction.nonce}, and the chain has none of the deployer's before it. Name the node that ${this.#options.deployment} belongs to, or another file.`,
        );
      if (looks > 0 && looks % tellLooks === 0) await this.#tellWaiting(step, serializedTransaction);
      await wait(lookMs);
    }
    await this.#sign(step, transaction, sent.raw);
    return undefined;
  }

  /** Tells which transaction is in no block yet, and sends it again if the node has dropped it. */
  async #tellWaiting(step: string, serializedTransaction: Hex): Promise<void> {
    const isKnown = await this.#isKnown(serializedTransaction);
    const state = isKnown ? "is in no block yet" : "is not in the pool of the node, and is sent again";
    this.#tell(`Waiting for ${step}: its transaction ${keccak256(serializedTransaction)} ${state}.`);
    // The next looks decide, also after a refusal.
    if (!isKnown) await this.#client.sendRawTransaction({ serializedTransaction }).catch(() => undefined);
  }

  async #isKnown(raw: Hex): Promise<boolean> {
    const found = await this.#client.getTransaction({ hash: keccak256(raw) }).catch(absent);
    return found !== undefined;
  }

  async #sentReceiptOf(step: string): Promise<TransactionReceipt | undefined> {
    const sent = this.#file.transactions.find((transaction) => transaction.step === step);
    return sent && (await this.#receiptOf(sent.raw));
  }

  async #receiptOf(raw: readonly Hex[]): Promise<TransactionReceipt | undefined> {
    for (const one of raw) {
      const receipt = await this.#client.getTransactionReceipt({ hash: keccak256(one) }).catch(absent);
      if (receipt !== undefined) return receipt;
    }
    return undefined;
  }

  async #describe(
    token: Address,
    registrar: Address,
    programs: DeploymentRecord["programs"],
  ): Promise<DeploymentRecord> {
    const described = async (address: Address, name: string) => {
      const codeHash = await codeHashAt(this.#client, address);
      if (codeHash === undefined) throw unusable(`There is no code at ${address} (${name}).`);
      return { address: getAddress(address), codeHash };
    };
    const erc20 = await readToken(this.#client, token);
    const fundingSource = await this.#client.readContract({
      address: registrar,
      abi: purchaseRegistrarAbi,
      functionName: "fundingSource",
    });
    const contracts = {
      chainId: this.#file.chain_id,
      token: { ...(await described(token, "the token")), ...erc20 },
      registrar: await described(registrar, "the registrar contract"),
      fundingSource: await described(fundingSource, "the funding source"),
      programs,
    };
    const block = await this.#blockOf("PurchaseRegistrar");
    return { ...contracts, epoch: epochOf(contracts, block.hash), epochBlock: block };
  }

  /** The block of a step: nothing of the service is older. */
  async #blockOf(step: string): Promise<{ number: number; hash: Hex }> {
    const receipt = await this.#sentReceiptOf(step);
    if (receipt === undefined)
      throw unusable(`The transaction of ${step} has left the chain. Run this again.`);
    return { number: Number(receipt.blockNumber), hash: receipt.blockHash };
  }
}

/** Reads what a token says of itself. @throws SandboxError node_unusable when it is none that can be used. */
async function readToken(
  client: ChainClient,
  address: Address,
): Promise<{ symbol: string; decimals: number }> {
  const { abi } = await readContractArtifact("TestUSDC");
  const read = async (functionName: string) => await client.readContract({ address, abi, functionName });
  const domain = tokenDomain(await client.getChainId(), address);
  const [symbol, decimals, separator] = await Promise.all(
    ["symbol", "decimals", "DOMAIN_SEPARATOR"].map(read),
  ).catch((cause: unknown) => {
    const reason = reasonOf(cause).replace(/\.$/, "");
    throw unusable(
      `The token ${address} cannot be read: ${reason}. Name a test USDC (FiatToken v2.2).`,
      cause,
    );
  });
  if (Number(decimals) === usdcDecimals && separator === domainSeparator({ domain }))
    return { symbol: String(symbol), decimals: usdcDecimals };
  throw unusable(
    `The token ${address} is none with ${usdcDecimals} decimals and the EIP-712 domain "${domain.name}", version ${domain.version}. Name a test USDC (FiatToken v2.2).`,
  );
}

function reasonOf(error: unknown): string {
  return error instanceof BaseError ? error.details || error.shortMessage : messageOf(error);
}
