import { type Hex, isHex } from "viem";
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import type { Call } from "../../protocol/call.ts";
import { structuredClone } from "../../protocol/globals.ts";
import type { Json } from "../../protocol/values/json.ts";
import { type WalletName, walletNames } from "../../sandbox/chain/genesis/roles.ts";
import type { components } from "../../sandbox/client/api-client.ts";
import type { Sandbox } from "../../sandbox/create-sandbox.ts";
import { readJson } from "../../sandbox/lib/read-json.ts";
import type { ExpectingStep, Step } from "../../sandbox/scenarios/scenario.ts";
import { catchUp } from "../../sandbox/service/catch-up.ts";
import { withoutPorts } from "../../sandbox/snapshots/fingerprint.ts";
import type { Snapshot } from "../../sandbox/snapshots/snapshot.ts";
import { receiveNotification } from "../../server/notifications/receive-notification.ts";
import { findDifference } from "../scenario/repeat/find-difference.ts";
import type { RequestSender, StepAnswer } from "../scenario/repeat/send-request.ts";
import type { Model, SentByWallet } from "./model.ts";
import { type FaultName, faultOf, heldCollection, isOfRelayer } from "./moves/faults.ts";
import type { Mistake } from "./moves/step.ts";
import type { WalkCounts } from "./options.ts";
import { type Expected, isSuccess, refusalAnswer, successAnswer } from "./rules.ts";

/** The parts of a sandbox that a walk acts on. */
export type WalkedSandbox = Pick<
  Sandbox,
  "description" | "chain" | "relayer" | "wallets" | "receiver" | "snapshot"
>;

/** The ids of a walk's credentials: one of its program, and one of another program, if there is one. */
export interface WalkCredentials {
  own: string;
  foreign: string | null;
}

/**
 * Thrown when something differs from the model.
 *
 * Not a CodedError: `explore` reports it as an ExplorationError.
 */
export class WalkDifference extends Error {
  override readonly name = "WalkDifference";
  /** The title of the step in the scenario. */
  readonly title: string;
  /** The kind of the step, and the field that differs: equal for two sequences that end with the same fault of the service. */
  readonly signature: string;

  /** Whether the caller's own check has failed. */
  get isOfCheck(): boolean {
    return this.signature === checkSignature;
  }

  constructor(title: string, signature: string, expected: unknown, actual: unknown, options?: ErrorOptions) {
    super(`expected ${show(expected)}, got ${show(actual)}`, options);
    this.title = title;
    this.signature = signature;
  }
}

/** The signature of a difference that the caller's own check has found. */
export const checkSignature = "your check";

/** Enough gas for every call of the sandbox; fixed, so that equal transactions are equal bytes. */
const gas = { gas: 1_000_000n, maxFeePerGas: 2_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };

/** The number of identical requests that a fault of one step takes at most. */
const mostRequests = 5;

/** Adds to how often a kind of step had an answer. */
export function countAnswer(counts: WalkCounts, kind: string, answer: string, times: number): void {
  const answers = counts[kind] ?? {};
  answers[answer] = (answers[answer] ?? 0) + times;
  counts[kind] = answers;
}

/** A write, and what is wrong with it in any step. */
interface Write {
  title: string;
  /** Method and path. */
  line: string;
  body: { [name: string]: Json };
  expected: Expected;
  mistake?: Mistake;
  fault?: FaultName | "none";
  /** Whether the relayer has a part in it. */
  relayed?: boolean;
  /** Whether the collection that it starts is held, so that the same request is not answered the same later. */
  holdsCollection?: boolean;
  /** Whether it is sent over the wallet route, which takes no credential. */
  wallet?: boolean;
  /** Notes in the model what a refusal that is expected without a mistake changes. */
  refused?: (() => void) | undefined;
}

/** The answer to a write that was accepted. */
export interface Accepted {
  status: number;
  text: string;
  body: unknown;
}

/**
 * One walk: sends requests and transactions, compares each answer with what the model expects, and writes all of it down as the steps of a
 * scenario.
 */
export class Walk {
  readonly sandbox: WalkedSandbox;
  readonly credentials: WalkCredentials;
  model: Model;
  /** The kind of the step that is taken now. */
  kind = "";
  /** The id of the step that is taken now. */
  id = 0;
  /** Whether the last step can have changed anything. */
  hasChanged = false;
  readonly steps: Step[];
  /** The answer to each step of the scenario. */
  readonly answers: string[];
  /** Every answer with its bytes, and every block that was seen, for the digest. */
  readonly transcript: string[];
  readonly counts: WalkCounts = {};
  readonly #sender: RequestSender;
  #keys: number;
  #taken = 0;
  /** The model before the last transaction of a wallet, while nothing else has changed anything since. */
  #before: Model | null = null;
  #saved: { number: number; snapshot: Snapshot; model: Model } | null = null;

  constructor(
    sandbox: WalkedSandbox,
    from: {
      sender: RequestSender;
      credentials: WalkCredentials;
      model: Model;
      steps: readonly Step[];
      answers: readonly string[];
      transcript: readonly string[];
    },
  ) {
    this.sandbox = sandbox;
    this.#sender = from.sender;
    this.credentials = { ...from.credentials };
    this.model = structuredClone(from.model);
    this.steps = [...from.steps];
    this.answers = [...from.answers];
    this.transcript = [...from.transcript];
    this.#keys = from.steps.length;
  }

  /** The path of the walk's program. */
  get program(): string {
    return `/v1/routing/programs/${this.programId}`;
  }

  /** Whether deliveries go to the test receiver, where they can be made to fail. */
  get mayFailDeliveries(): boolean {
    const { receiver, description } = this.sandbox;
    return receiver.url === `${description.urls.api}${receiveNotification.path}`;
  }

  /** The id of the walk's program. */
  get programId(): string {
    return this.sandbox.description.accounts[0].program;
  }

  /**
   * Sends a write with a key of its own, and meets the fault of its step.
   *
   * @returns its answer; null when it was refused, as expected.
   * @throws WalkDifference
   */
  async write(write: Write): Promise<Accepted | null> {
    const { line, body, wallet = false, fault = "none", relayed = false, holdsCollection = false } = write;
    this.#keys += 1;
    const { request, expected } = this.#mistake(write, `explore-${this.#keys}`);
    if (!isSuccess(expected)) {
      await this.request(request, expected);
      if (write.refused !== undefined && expected === write.expected) {
        this.hasChanged = true;
        this.#before = null;
        write.refused();
      }
      return null;
    }
    this.hasChanged = true;
    this.#before = null;
    if (fault !== "none" && (relayed || !isOfRelayer(fault))) await this.#meet(fault, request, expected);
    if (holdsCollection) await this.#setFault("Hold the next collection", heldCollection);
    const answer = await this.request(request, expected);
    if (holdsCollection) await this.#clearFaults();
    const { idempotency_key: key = "" } = request;
    const { status, text } = answer;
    const step = this.steps.length;
    // A delivery that a check makes is no step of the walk, and is not sent again.
    if (this.kind !== "check" && !holdsCollection)
      this.model.writes.push({
        step,
        by: this.id,
        line,
        key,
        body: JSON.stringify(body),
        status,
        text,
        wallet,
      });
    return answer;
  }

  /** Sends a write while a fault is set, as often as it is not answered with success; then the fault is cleared. */
  async #meet(fault: FaultName, request: RequestLine, expected: Expected): Promise<void> {
    const { body, status } = faultOf(fault);
    const met = { status: [...expected.status, status] };
    await this.#setFault(`Set the fault ${fault}`, body);
    let answer = await this.request({ ...request, title: `${request.title}, with the fault ${fault}` }, met);
    for (let sent = 1; answer.status === 202 && sent < mostRequests; sent += 1)
      answer = await this.request({ ...request, title: `${request.title}, again` }, met);
    await this.#clearFaults();
  }

  async #setFault(title: string, body: { readonly [field: string]: Json }): Promise<void> {
    await this.request({ title, control: "POST /faults", body: { ...body } }, successAnswer(201));
  }

  async #clearFaults(): Promise<void> {
    await this.request({ title: "Clear the faults", control: "DELETE /faults" }, successAnswer(200));
  }

  /** Returns the request of a write, and what is expected of it with what is wrong. */
  #mistake(write: Write, ownKey: string): { request: RequestLine; expected: Expected } {
    const { title, line, body, expected, mistake = "none", wallet = false } = write;
    const { own, foreign } = this.credentials;
    const plain = { api: line, body };
    const as = wallet ? {} : { as: own };
    const idempotency_key = ownKey;
    const flaw = wallet && mistake !== "key_missing" ? "none" : mistake;
    if (flaw === "key_missing")
      return {
        request: { title: `${title}, without a key`, ...plain, ...as },
        expected: refusalAnswer(400, "idempotency_key_missing"),
      };
    const written = JSON.stringify(body);
    const ofApi = this.model.writes.filter((one) => !one.wallet);
    // Rather of the same path with another body: what differs least.
    const sameLine = ofApi.find((one) => one.line === line && one.body !== written);
    const reused = (sameLine ?? ofApi.find((one) => one.line !== line))?.key;
    if (flaw === "key_reused" && reused !== undefined)
      return {
        request: {
          title: `${title}, with the key of another request`,
          ...plain,
          ...as,
          idempotency_key: reused,
        },
        expected: refusalAnswer(422, "idempotency_key_reused"),
      };
    if (flaw === "credential_missing")
      return {
        request: { title: `${title}, without a credential`, ...plain, idempotency_key },
        expected: refusalAnswer(401, "credential_missing"),
      };
    if (flaw === "credential_foreign" && foreign !== null)
      return {
        request: {
          title: `${title}, with a credential of another program`,
          ...plain,
          as: foreign,
          idempotency_key,
        },
        expected: refusalAnswer(403, "program_mismatch"),
      };
    return { request: { title, ...plain, ...as, idempotency_key }, expected };
  }

  /**
   * Sends a request to the API or the control API as a step of the scenario.
   *
   * @param same - the earlier answer that this one must equal byte for byte, and the number of its step.
   * @throws WalkDifference
   */
  async request(
    request: RequestLine,
    expected: Expected,
    same?: { step: number; text: string },
  ): Promise<Accepted> {
    const step: Step = {
      ...request,
      expect: { ...statedOf(expected), ...(same === undefined ? {} : { same_as: same.step }) },
    };
    const answer = await this.#send(request);
    const found = readJson(answer.text);
    this.#note(step, nameAnswer(answer.status, found));
    this.#compare({ title: request.title, topic: this.kind }, expected, answer);
    if (same !== undefined && same.text !== answer.text)
      throw new WalkDifference(
        request.title,
        `${this.kind} bytes`,
        `the response of step ${same.step}, byte for byte: ${same.text}`,
        answer.text,
      );
    return { status: answer.status, text: answer.text, body: found };
  }

  /**
   * Sends a read, which becomes a step of the scenario only when its answer differs.
   *
   * @param topic - what is read, for the signature of a difference.
   * @throws WalkDifference
   */
  async read(request: RequestLine, topic: string, expected: Expected): Promise<unknown> {
    const answer = await this.#send(request);
    const found = readJson(answer.text);
    try {
      this.#compare({ title: request.title, topic }, expected, answer);
    } catch (error) {
      this.steps.push({ ...request, expect: statedOf(expected) });
      this.answers.push(nameAnswer(answer.status, found));
      throw error;
    }
    return found;
  }

  async #send(request: RequestLine): Promise<StepAnswer> {
    const answer = (await this.#sender.send(request)) ?? lost;
    this.transcript.push(`${answer.status} ${withoutPorts(answer.text)}`);
    return answer;
  }

  #compare(
    { title, topic }: { title: string; topic: string },
    { status, body }: Expected,
    { status: actual, text }: StepAnswer,
  ): void {
    if (!status.includes(actual)) {
      const code = findCode(body);
      const wanted = code === null ? status.join(" or ") : `${status.join(" or ")} ${code}`;
      throw new WalkDifference(title, `${topic} status`, wanted, `${actual} ${shorten(text)}`);
    }
    const difference = body === undefined ? null : findDifference(body, readJson(text), "");
    if (difference === null) return;
    const { field, expected, actual: got } = difference;
    throw new WalkDifference(
      title,
      // A missing event shows in the number of events of a page, or in what the page ends with.
      topic === "outbox" ? topic : `${topic} ${field.replaceAll(/\d+/g, "n")}`,
      `${field} ${show(expected)}`,
      got,
    );
  }

  /** Sends a transaction of a wallet and waits until it is mined, one second later. @throws WalkDifference */
  async send(
    by: WalletName,
    { to, data }: Pick<Call, "to" | "data">,
    { title, succeeds }: { title: string; succeeds: boolean },
  ): Promise<SentByWallet> {
    const { client } = this.sandbox.chain;
    const account = accountOf(this.sandbox, by);
    this.#before = structuredClone(this.model);
    const [nonce, chainId] = await Promise.all([
      client.getTransactionCount({ address: account.address, blockTag: "pending" }),
      client.getChainId(),
    ]);
    const raw = await account.signTransaction({
      type: "eip1559",
      chainId,
      nonce,
      to,
      data,
      value: 0n,
      ...gas,
    });
    const hash = await client.sendRawTransaction({ serializedTransaction: raw });
    const receipt = await this.sandbox.wallets.stranger.receipt(hash);
    const status = succeeds ? "success" : "reverted";
    this.transcript.push(`${hash} ${receipt.status} ${receipt.blockHash}`);
    this.#note({ title, transactions: [{ from: by, call: title, hash, status, raw }] }, receipt.status);
    this.model.now += 1;
    this.hasChanged = true;
    if (receipt.status !== status)
      throw new WalkDifference(title, `${this.kind} transaction`, status, receipt.status);
    return { hash, by, succeeded: succeeds, late: false };
  }

  /** Issues a credential of an account, and returns its id. @throws WalkDifference */
  async issue(account: string): Promise<string> {
    const title = `Issue a credential of ${account}`;
    const request = { title, api: "POST /v1/routing/access", as: account, body: {} };
    const { text } = await this.request(request, successAnswer(201, { account }));
    const { credential_id }: components["schemas"]["Access"] = JSON.parse(text);
    return credential_id;
  }

  /** Moves ahead by seconds. */
  async travel(seconds: number, title: string): Promise<void> {
    await this.sandbox.chain.clock.travel(seconds);
    this.hasChanged = true;
    this.#before = null;
    this.#note({ title, travel: seconds }, "done");
  }

  /** Removes the block of the last transaction of a wallet, if it is the newest one, with all that it has done. */
  async reorg(title: string): Promise<void> {
    if (this.#before === null) return;
    const body = { intent: "reorg", depth: 1 };
    await this.request({ title, control: "POST /faults", body }, successAnswer(201));
    this.hasChanged = true;
    this.model = this.#before;
    this.#before = null;
  }

  /** Takes a snapshot; an earlier one is forgotten. */
  async save(title: string): Promise<void> {
    const snapshot = await this.sandbox.snapshot();
    // A reorg would remove the block at which it was taken.
    this.#before = null;
    this.#taken += 1;
    this.#note({ title, control: "POST /snapshots", expect: { status: [201] } }, "201");
    this.#saved = { number: this.#taken, snapshot, model: structuredClone(this.model) };
  }

  /** Restores the snapshot. @returns whether there is one. */
  async restore(title: string): Promise<boolean> {
    if (this.#saved === null) return false;
    const { number, snapshot, model } = this.#saved;
    await snapshot.restore();
    this.hasChanged = true;
    this.#before = null;
    const control = `POST /snapshots/${number}/restore`;
    this.#note({ title, control, expect: { status: [200] } }, "200");
    this.model = structuredClone(model);
    return true;
  }

  /** Lets the relayer see the newest block, and reads its time. */
  async followChain(): Promise<void> {
    const { client } = this.sandbox.chain;
    await catchUp(this.sandbox.relayer, client);
    const { hash, timestamp } = await client.getBlock({ blockTag: "latest" });
    this.transcript.push(hash);
    this.model.now = Number(timestamp);
  }

  #note(step: Step, answer: string): void {
    this.steps.push(step);
    this.answers.push(answer);
    // A request that sets a fault or fails a delivery is no step of its own.
    const isFault = "control" in step && !["snapshot", "restore", "reorg", "resend"].includes(this.kind);
    countAnswer(this.counts, isFault ? "fault" : this.kind, answer, 1);
  }
}

/** A request of a walk. */
export type RequestLine = {
  title: string;
  as?: string;
  idempotency_key?: string;
  body?: Json;
} & ({ api: string } | { control: string });

/** The account of a wallet, which signs what a walk sends. */
export function accountOf({ description }: Pick<WalkedSandbox, "description">, name: WalletName) {
  const key = description.wallets[name]?.private_key;
  if (key === undefined || !isHex(key)) throw new Error(`There is no wallet ${name}.`);
  const known = accounts.get(key) ?? privateKeyToAccount(key);
  accounts.set(key, known);
  return known;
}

const accounts = new Map<Hex, PrivateKeyAccount>();

/** The names of the wallets whose balances a walk compares. */
export const walkWallets: readonly WalletName[] = walletNames.filter((name) => name !== "deployer");

/** The answer to a request whose connection dropped. */
const lost = { status: 0, text: "" };

/** Returns the conditions that a scenario states for an expected answer. */
function statedOf({ status, ...rest }: Expected): ExpectingStep["expect"] {
  const answers = status.filter((one) => one !== lost.status);
  return { status: answers, ...rest, ...(answers.length < status.length ? { lost: true } : {}) };
}

function findCode(body: unknown): string | null {
  if (typeof body !== "object" || body === null) return null;
  const code: unknown = Reflect.get(body, "code");
  return typeof code === "string" ? code : null;
}

function nameAnswer(status: number, body: unknown): string {
  if (status === 0) return "no response";
  const code = status < 400 ? null : findCode(body);
  return code === null ? `${status}` : `${status} ${code}`;
}

function show(value: unknown): string {
  if (value === undefined) return "nothing";
  return shorten(typeof value === "string" ? value : JSON.stringify(value));
}

function shorten(text: string): string {
  return text.length <= 300 ? text : `${text.slice(0, 299)}…`;
}
