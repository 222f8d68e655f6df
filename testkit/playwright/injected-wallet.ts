import { randomUUID } from "node:crypto";
import { type Hex, numberToHex } from "viem";
import { z } from "zod";
import { causesOf, messageOf } from "../../protocol/coded-error.ts";
import { SandboxError } from "../../sandbox/lib/errors/sandbox-error.ts";
import { showValue } from "../../sandbox/lib/errors/show-value.ts";
import { fetchDirect } from "../../sandbox/lib/http/direct/fetch-direct.ts";
import { wait } from "../../sandbox/lib/time/timers.ts";
import { type Wallet, walletGas } from "../../sandbox/wallets/wallet.ts";
import { orList } from "../../server/lib/wording.ts";
import {
  announceProvider,
  emitEvent,
  type PageAnswer,
  type ProviderEvent,
  type WalletPage,
} from "./page-provider.ts";
import {
  type DecodedRequest,
  decodeRequest,
  ProviderError,
  toWallet,
  type WalletKey,
  type WalletRequest,
} from "./wallet-request.ts";

/** Carries out a request: connects, signs, sends or switches the chain. Returns the result for the page. */
export type Approve = () => Promise<unknown>;

/**
 * How the owner of the wallet answers.
 *
 * - `approve`: every request.
 * - `reject`: connects, but rejects every signature, transaction and change of the chain with code 4001.
 * - `wrong-chain`: connects, but stays on another chain. It refuses to change the chain with code 4902, and to add a chain, sign or send
 *   with code 4901.
 * - `tamper`: flips the last bit of the calldata before it sends a transaction, and signs a different message than the page asked for.
 * - a function: decides for each request. It calls `approve()`, throws a `ProviderError`, or waits.
 */
export type WalletAnswers =
  | "approve"
  | "reject"
  | "wrong-chain"
  | "tamper"
  | ((request: WalletRequest, approve: Approve) => Promise<unknown>);

/** Options of `injectWallet`. */
export interface InjectedWalletOptions {
  /** By default `approve`. Can be changed later by `wallet.answers`. */
  answers?: WalletAnswers;
  /** Milliseconds before each answer, except for reads. Without it, the wallet answers at once. */
  delayMs?: number;
  /** Whether pages are connected from the start, as after an earlier visit. By default false: each origin has to connect (`eth_requestAccounts`). */
  connected?: boolean;
  /** Starts locked: it shows no account, and a request to connect waits for `unlock()`. By default false. */
  locked?: boolean;
  /** The name that the page shows; by default "Sandbox Wallet". */
  name?: string;
  /** The reverse domain name that identifies the wallet (EIP-6963); by default `dev.routing-sandbox.wallet`. */
  rdns?: string;
}

const answerNames: readonly WalletAnswers[] = ["approve", "reject", "wrong-chain", "tamper"];

const icon = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><circle cx="4" cy="4" r="4" fill="#c50"/></svg>')}`;
/** The chain of a wallet that answers `wrong-chain`. */
const wrongChain = "0x1";
const rejected = () => new ProviderError(4001, "The user rejected the request.");

/**
 * A browser wallet in a page of Playwright. `injectWallet` makes one.
 *
 * @example
 * const wallet = await injectWallet(page, sandbox.wallets.buyer);
 * wallet.answers = "reject";
 */
export class InjectedWallet {
  /** The requests of the page, in order. */
  readonly requests: WalletRequest[] = [];
  /** The id of the selected chain, as hex; null until the page or its owner selects one, which means the sandbox's chain. */
  chainId: Hex | null = null;
  /** The chains that it knows in addition to the sandbox's, by id, with the URL of a node. */
  readonly chains = new Map<Hex, string>();
  #answers: WalletAnswers = "approve";
  #wallets: readonly Wallet[];
  #unlocked = Promise.withResolvers<void>();
  #locked: boolean;
  /** The origins whose pages are not as the option `connected` says: they have connected, or revoked that. */
  readonly #changed = new Set<string>();
  #emit: (event: string, payload: unknown, to: ProviderEvent["to"]) => Promise<void> = async () => {};
  readonly #options: InjectedWalletOptions;

  constructor(wallets: readonly Wallet[], options: InjectedWalletOptions = {}) {
    this.#wallets = wallets;
    this.#options = options;
    this.answers = options.answers ?? "approve";
    this.#locked = options.locked ?? false;
  }

  /** How its owner answers the next requests. @throws SandboxError argument_invalid when it is set to something else. */
  get answers(): WalletAnswers {
    return this.#answers;
  }

  set answers(answers: WalletAnswers) {
    if (typeof answers !== "function" && !answerNames.includes(answers))
      throw new SandboxError(
        "argument_invalid",
        `answers is ${showValue(answers)}. Use ${orList(answerNames.map((name) => `"${name}"`))}, or a function.`,
      );
    this.#answers = answers;
  }

  /** Adds the wallet to a page, and to every document that the page loads from now on. */
  async install(page: WalletPage): Promise<void> {
    const { name = "Sandbox Wallet", rdns = "dev.routing-sandbox.wallet" } = this.#options;
    const uuid = randomUUID();
    const ask = `askWallet_${uuid.replaceAll("-", "")}`;
    this.#emit = async (event, payload, to) => {
      await page.evaluate(emitEvent, { ask, event, payload, to });
    };
    const announcement = { info: { uuid, name, icon, rdns }, ask };
    await page.exposeFunction(
      ask,
      async (method, params, origin) => await this.#answer(method, params, origin),
    );
    await page.addInitScript(announceProvider, announcement);
    await page.evaluate(announceProvider, announcement);
  }

  /**
   * Selects other accounts, the selected one first. Without an account, the page is disconnected.
   *
   * @param wallets - wallets of the sandbox, or keys of a sandbox in another process; also in an array.
   * @throws SandboxError argument_invalid when one is neither.
   * @example await wallet.select(sandbox.wallets.beneficiary);
   */
  async select(...wallets: (Wallet | WalletKey | readonly (Wallet | WalletKey)[])[]): Promise<void> {
    const selected = wallets.flat().map((given) => toWallet("wallet.select", given));
    await this.#changeAccounts(() => {
      this.#wallets = selected;
    });
  }

  /** Selects another chain, by its id. @throws SandboxError argument_invalid when it is not a whole number from 1. */
  async switchChain(chainId: number): Promise<void> {
    if (!Number.isSafeInteger(chainId) || chainId < 1)
      throw new SandboxError(
        "argument_invalid",
        `wallet.switchChain takes a chain id, a whole number from 1, not ${showValue(chainId)}. Pass one such as 1.`,
      );
    await this.#selectChain(numberToHex(chainId));
  }

  /** Locks the wallet: it shows no account, and a request to connect waits. */
  async lock(): Promise<void> {
    if (!this.#locked) this.#unlocked = Promise.withResolvers();
    await this.#changeAccounts(() => {
      this.#locked = true;
    });
  }

  /** Unlocks the wallet. */
  async unlock(): Promise<void> {
    await this.#changeAccounts(() => {
      this.#locked = false;
      this.#unlocked.resolve();
    });
  }

  /** Shows pages of an origin the accounts, and tells the page if it saw none (EIP-1193). */
  async #connect(origin: string): Promise<void> {
    if (this.#isConnected(origin)) return;
    this.#setConnected(origin, true);
    const accounts = this.#accounts(origin);
    if (accounts.length > 0) await this.#emit("accountsChanged", accounts, { only: [origin] });
  }

  /** Shows pages of an origin no account any more, and tells the page if it saw one. */
  async #disconnect(origin: string): Promise<null> {
    const seen = this.#accounts(origin);
    this.#setConnected(origin, false);
    if (seen.length > 0) await this.#emit("accountsChanged", [], { only: [origin] });
    return null;
  }

  #setConnected(origin: string, isConnected: boolean): void {
    if (isConnected === (this.#options.connected === true)) this.#changed.delete(origin);
    else this.#changed.add(origin);
  }

  /** Changes what connected pages see of accounts, and tells the page if that is another list (EIP-1193). */
  async #changeAccounts(change: () => void): Promise<void> {
    const before = this.#shown().join();
    change();
    const changed = [...this.#changed];
    const to = this.#options.connected === true ? { except: changed } : { only: changed };
    if (this.#shown().join() !== before) await this.#emit("accountsChanged", this.#shown(), to);
  }

  /** Selects a chain, and tells the page if it is another one (EIP-1193). */
  async #selectChain(chainId: Hex): Promise<void> {
    const before = await this.#selectedChain();
    this.chainId = chainId;
    if (chainId !== before) await this.#emit("chainChanged", chainId, { except: [] });
  }

  async #answer(method: string, params: unknown, origin: string): Promise<PageAnswer> {
    const request: WalletRequest = { method, params, decoded: { type: "read" }, outcome: null };
    this.requests.push(request);
    try {
      request.decoded = decodeRequest(method, params);
      const result = await this.#ask(request, origin);
      if (request.decoded.type === "connection") await this.#connect(origin);
      request.outcome = { status: "answered", result };
      return { result };
    } catch (error) {
      const refusal = toRefusal(error);
      const { code, message } = refusal;
      request.outcome = { status: "refused", code, message };
      return refusal;
    }
  }

  async #ask(request: WalletRequest, origin: string): Promise<unknown> {
    const { decoded } = request;
    if (decoded.type === "read") return await this.#read(request, origin);
    await wait(this.#options.delayMs ?? 0);
    if (decoded.type === "disconnection") return await this.#disconnect(origin);
    if ("from" in decoded) await this.#requireAble(decoded, origin);
    const approve = async () => await this.#carryOut(request, decoded, origin);
    const { answers } = this;
    if (typeof answers === "function") return await answers(request, approve);
    if (decoded.type === "connection") return await approve();
    switch (answers) {
      case "approve":
        return await approve();
      case "reject":
        throw rejected();
      case "wrong-chain":
        if (request.method === "wallet_switchEthereumChain")
          throw new ProviderError(4902, `The wallet does not know the chain ${chainOf(decoded)}.`);
        throw new ProviderError(4901, `The wallet is connected to the chain ${wrongChain} only.`);
      case "tamper":
        return await this.#carryOut(request, tamperWith(decoded), origin);
    }
  }

  /**
   * Refuses what a wallet refuses before it asks its owner: another account, a transaction on a chain that it does not send to, and typed
   * data of another chain than the selected one (EIP-712).
   */
  async #requireAble(decoded: Extract<DecodedRequest, { from: Hex }>, origin: string): Promise<void> {
    this.#walletOf(decoded.from, origin);
    const [own, selected] = await Promise.all([this.#ownChain(), this.#selectedChain()]);
    if (decoded.type === "transaction" && selected !== own)
      throw new ProviderError(
        4901,
        `The wallet sends to the chain ${own} only, and ${selected} is selected.`,
      );
    if (decoded.type === "transaction" && decoded.chain_id !== null && decoded.chain_id !== selected)
      throw new ProviderError(
        4901,
        `The transaction is for the chain ${decoded.chain_id}, and ${selected} is selected.`,
      );
    if (decoded.type !== "typed_data") return;
    const { chainId } = decoded.typed_data.domain;
    if (chainId !== undefined && chainId !== BigInt(selected))
      throw new ProviderError(
        4901,
        `The typed data is for the chain ${numberToHex(chainId)}, and ${selected} is selected.`,
      );
  }

  async #carryOut({ method }: WalletRequest, decoded: DecodedRequest, origin: string): Promise<unknown> {
    switch (decoded.type) {
      case "connection":
        if (this.#locked) await this.#unlocked.promise;
        await this.#connect(origin);
        return method === "eth_requestAccounts" ? this.#accounts(origin) : this.#permissions(origin);
      case "chain":
        return await this.#changeChain(method, decoded);
      case "transaction": {
        const { from, to, data, value, gas } = decoded;
        const wallet = this.#walletOf(from, origin);
        const call = { to, data, value };
        return await wallet.submit(call, gas === null ? await estimateGas(wallet, call) : BigInt(gas));
      }
      case "message":
        return await this.#walletOf(decoded.from, origin).signMessage({ raw: decoded.bytes });
      case "typed_data":
        return await this.#walletOf(decoded.from, origin).signTypedData(decoded.typed_data);
      case "disconnection":
      case "read":
        return null;
    }
  }

  async #changeChain(method: string, { chain_id, rpc_urls: [url] }: ChainRequest): Promise<null> {
    const own = await this.#ownChain();
    if (method === "wallet_addEthereumChain" && url !== undefined && chain_id !== own)
      this.chains.set(chain_id, url);
    if (chain_id !== own && !this.chains.has(chain_id))
      throw new ProviderError(4902, `The wallet does not know the chain ${chain_id}.`);
    if (method === "wallet_addEthereumChain") return null;
    await this.#selectChain(chain_id);
    return null;
  }

  /** Answers what needs no consent: the wallet's state, or a read of its chain. */
  async #read({ method, params }: WalletRequest, origin: string): Promise<unknown> {
    if (method === "eth_accounts") return this.#accounts(origin);
    if (method === "wallet_getPermissions") return this.#permissions(origin);
    if (method === "eth_coinbase") return this.#accounts(origin)[0] ?? null;
    const [own, selected] = await Promise.all([this.#ownChain(), this.#selectedChain()]);
    if (method === "eth_chainId") return selected;
    if (method === "net_version") return BigInt(selected).toString();
    if (selected === own) return await this.#first().client.request({ method, params } as never);
    const url = this.chains.get(selected);
    if (url === undefined) throw new ProviderError(4901, `The wallet has no node of the chain ${selected}.`);
    if (!ownMachine.test(URL.parse(url)?.hostname ?? ""))
      throw new ProviderError(
        4901,
        `The wallet asks nodes of this machine only, and the page has added the chain ${selected} with another one.`,
      );
    return await readFrom(url, method, params).catch((cause: unknown) => {
      if (cause instanceof ProviderError) throw cause;
      throw new ProviderError(
        4901,
        `The node that the page has added for the chain ${selected} does not respond.`,
      );
    });
  }

  async #ownChain(): Promise<Hex> {
    return numberToHex(await this.#first().client.getChainId());
  }

  async #selectedChain(): Promise<Hex> {
    return this.answers === "wrong-chain" ? wrongChain : (this.chainId ?? (await this.#ownChain()));
  }

  /** Whether pages of an origin have connected. */
  #isConnected(origin: string): boolean {
    return this.#changed.has(origin) !== (this.#options.connected === true);
  }

  /** The accounts that connected pages see. */
  #shown(): Hex[] {
    return this.#locked ? [] : this.#wallets.map(({ address }) => address);
  }

  #accounts(origin: string): Hex[] {
    return this.#isConnected(origin) ? this.#shown() : [];
  }

  /** The permissions of pages of an origin (EIP-2255), as MetaMask has them: to see these accounts. */
  #permissions(invoker: string): object[] {
    const value = this.#accounts(invoker);
    const caveats = [{ type: "restrictReturnedAccounts", value }];
    return value.length === 0 ? [] : [{ invoker, parentCapability: "eth_accounts", caveats }];
  }

  #first(): Wallet {
    const [first] = this.#wallets;
    if (first === undefined) throw new ProviderError(4900, "The wallet has no account.");
    return first;
  }

  #walletOf(from: string, origin: string): Wallet {
    const isIts = ({ address }: Wallet) => address.toLowerCase() === from.toLowerCase();
    const isConnected = this.#isConnected(origin);
    const found = isConnected && !this.#locked ? this.#wallets.find(isIts) : undefined;
    if (found !== undefined) return found;
    const remedy = isConnected ? "" : " Send eth_requestAccounts first.";
    throw new ProviderError(4100, `The account ${from} is not connected.${remedy}`);
  }
}

/** Returns a gas limit for a transaction that needs more than every call of the sandbox; otherwise undefined. One that reverts is sent as well. */
async function estimateGas({ client, address }: Wallet, call: TransactionCall): Promise<bigint | undefined> {
  const estimate = await client
    .estimateGas({ account: address, to: call.to, data: call.data, value: BigInt(call.value) })
    .catch(() => 0n);
  return estimate > walletGas ? (estimate * 3n) / 2n : undefined;
}

type TransactionCall = Pick<Extract<DecodedRequest, { type: "transaction" }>, "to" | "data" | "value">;

type ChainRequest = Extract<DecodedRequest, { type: "chain" }>;

function chainOf(decoded: DecodedRequest): string {
  return decoded.type === "chain" ? decoded.chain_id : "";
}

/** The error that a page gets; of one of the chain, what the node has said. */
function toRefusal(error: unknown): { code: number; message: string; data?: unknown } {
  const ofNode = causesOf(error).find(({ name }) => name === "RpcRequestError");
  const { code = 0, details, data } = readMembers.parse(ofNode ?? error);
  return {
    code: code === 0 ? -32_603 : code,
    message: details ?? messageOf(error),
    ...(data !== undefined && { data }),
  };
}

const readMembers = z
  .object({
    code: z.number().optional().catch(undefined),
    details: z.string().optional().catch(undefined),
    data: z.unknown(),
  })
  .catch({ data: undefined });

const ownMachine = /^(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])$/;

async function readFrom(url: string, method: string, params: unknown): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const response = await fetchDirect(url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body,
  });
  const { result, error } = (await response.json()) as {
    result?: unknown;
    error?: { code: number; message: string; data?: unknown };
  };
  if (error !== undefined) throw new ProviderError(error.code, error.message, error.data);
  return result;
}

/**
 * Returns the changed request that a hostile wallet would execute: calldata with its last bit flipped, or with a byte if it has none, typed data for the next chain id, or
 * a text with one more character.
 *
 * @example tamperWith({ type: "message", from: buyer, text: "hi", bytes: "0x6869" }) // the text is "hi."
 */
function tamperWith(decoded: DecodedRequest): DecodedRequest {
  switch (decoded.type) {
    case "transaction":
      return { ...decoded, data: flipLastBit(decoded.data) };
    case "message":
      return { ...decoded, text: `${decoded.text}.`, bytes: `${decoded.bytes}2e` };
    case "typed_data": {
      const { domain, types, ...rest } = decoded.typed_data;
      const members = types["EIP712Domain"] ?? [];
      const named = members.some(({ name }) => name === "chainId");
      return {
        ...decoded,
        typed_data: {
          ...rest,
          domain: { ...domain, chainId: (domain.chainId ?? 0n) + 1n },
          types: {
            ...types,
            EIP712Domain: named ? members : [...members, { name: "chainId", type: "uint256" }],
          },
        },
      };
    }
    default:
      return decoded;
  }
}

function flipLastBit(data: Hex): Hex {
  const last = Number.parseInt(data.slice(-1), 16);
  return data === "0x" ? "0x01" : `0x${data.slice(2, -1)}${(last ^ 1).toString(16)}`;
}
