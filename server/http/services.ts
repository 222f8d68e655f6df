import type { Hex, LocalAccount, PrivateKeyAccount } from "viem";
import type { BindingCheck } from "../../protocol/binding/check-binding.ts";
import type { Relayer } from "../../relayer/relayer.ts";
import type { ChainReader } from "../chain/chain-reader.ts";
import type { Deployment } from "../chain/deployment.ts";
import type { ErrorCode } from "../errors/catalogue.ts";
import type { KeyRing } from "../keys/key-ring.ts";
import type { Store } from "../store/store.ts";
import type { Answer } from "./answers/answer.ts";
import type { ApiFaults } from "./faults/api-fault.ts";
import type { Gate, GateTurn } from "./gate.ts";
import type { RateLimiter } from "./request/rate-limit.ts";

/** Tells the time that API and chain share, in Unix seconds. */
export interface Clock {
  /** @throws ChainUnavailableError */
  now(): Promise<number>;
  /** Returns how much of a second of `now` has passed, from 0 to 1: always 0 where only blocks move time. */
  fraction(second: number): Promise<number>;
  /** Returns the time that `now` would probably return, without asking the chain; undefined if that saves nothing. */
  expected(): number | undefined;
}

/** An account that may issue credentials. Only the SHA-256 of its key is stored. */
export interface Account {
  id: string;
  program: string;
  key_sha256: Hex;
  /** Whether the rate limit counts its requests. */
  isLimited: boolean;
}

/** The keys of the programs that do not rotate; the others are in the key ring. */
export interface ServiceKeys {
  /** By program: signs commitments and funding authorizations. */
  commitmentSigners: ReadonlyMap<string, CommitmentSigner>;
}

/** An account that can also sign a digest, which avoids hashing the typed data twice. */
export type CommitmentSigner = LocalAccount & Pick<PrivateKeyAccount, "sign">;

/** One HTTP delivery: the answer, or the reason why there was none. */
export interface DeliveryOutcome {
  status_code: number | null;
  error: string | null;
  /** The beginning of the answer's body. */
  response_body: string | null;
  /** The header Retry-After; of a date after that of the response, the seconds between them. */
  retry_after: string | null;
  duration_ms: number;
}

/**
 * Sends one signed notification to the pinned receiver. It takes no other destination and follows no redirect.
 *
 * @param releaseGate - waits for the receiver.
 */
export type Deliver = (
  headers: { [name: string]: string },
  body: string,
  releaseGate: GateTurn["releaseGate"],
) => Promise<DeliveryOutcome>;

/**
 * The output of structured log lines.
 *
 * @example const log: Log = pino()
 */
export interface Log {
  /** Writes a line about normal operation. */
  info(fields: { [name: string]: unknown }, message: string): void;
  /** Writes a line about an error. */
  error(fields: { [name: string]: unknown }, message: string): void;
}

/** Where the parts of a sandbox are. */
export interface Urls {
  api: string;
  docs: string;
  rpc: string;
  control: string;
}

/** A public network, as wallets show it. */
export interface KnownNetwork {
  name: string;
  blockExplorerUrl: string | null;
  currency: { name: string; symbol: string; decimals: number };
}

/** The settings that are fixed when the sandbox starts. */
export interface Settings {
  seed: string;
  /** Required confirmations; 1 is the block that includes the transaction. */
  confirmations: number;
  /** The seconds that a block made now may have a time behind the clock; 0 on a chain that keeps this clock. */
  blockLagSeconds: number;
  accounts: readonly Account[];
  urls: Urls;
  /** The name and the currency of the chain's network, for wallets; null for the sandbox's own chain, and for a network that is not known. */
  network: KnownNetwork | null;
  /** The one URL that notifications go to. */
  receiverUrl: string;
  /** Whether that URL is `POST …/notification-receiver` of this service. */
  receivesNotifications: boolean;
  /** The longest time that a repeated request waits for the one in progress, in milliseconds. */
  receiptTimeoutMs: number;
}

/** A transaction that a step refused, with every check: the argument of {@link Services.refused}. */
export interface Refusal {
  /** Sandbox time of the request, in Unix seconds. */
  at: number;
  request_id: string;
  /** The operation's id, as in `reconcilePurchase`. */
  operation: string;
  program: string;
  /** The purchase or the merchant in the path. */
  subject: string;
  /** The step for which the transaction was submitted, as in `payment`. */
  step: string;
  /** The code of the problem that was answered. */
  code: ErrorCode;
  detail: string;
  transaction_hash: Hex;
  /** Whether a step had accepted the transaction before. */
  is_used: boolean;
  checks: readonly BindingCheck[];
}

/** A request of the API with its answer: the argument of {@link Services.answered}. */
export interface AnsweredRequest {
  request_id: string;
  method: string;
  /** With the query. */
  path: string;
  /** The id of the API operation, as in `reconcilePurchase`; null for a path that has none. */
  operation: string | null;
  /** The id of the account or the credential, or `anyone`. */
  caller: string;
  idempotency_key: string | null;
  /** Sandbox time of the request, in Unix seconds; null when the request was refused before the time was read. */
  at: number | null;
  /** The bytes of the body; null when none were read. */
  body: Buffer | null;
  /** Null where a fault dropped the answer. */
  status: number | null;
  /** The code of the problem that was answered. */
  code: ErrorCode | null;
  replayed: boolean;
  /** The body of the answer; null where a fault dropped all of it. */
  answer: Answer["body"] | null;
}

/** A request as it is passed to another process of the same sandbox. */
export interface ForwardedRequest {
  method: string;
  /** With the query. */
  path: string;
  headers: { [name: string]: string };
  body: Buffer;
}

/** Everything that an operation gets. The service reaches the outside only through these functions. */
export interface Services {
  settings: Settings;
  deployment: Deployment;
  chain: ChainReader;
  store: Store;
  /** Takes the next number of a counter, starting at 1: of the store, or within a request the one that it has taken before. */
  nextNumber: Store["next"];
  clock: Clock;
  relayer: Relayer;
  keys: ServiceKeys;
  /** The keys of notifications, delivery receipts and reviewers. */
  keyRing: KeyRing;
  deliver: Deliver;
  /** Lets the given number of milliseconds of sandbox time pass, rounded up to whole seconds if the clock counts only these. */
  pause: (milliseconds: number, releaseGate: GateTurn["releaseGate"]) => Promise<void>;
  /** Aborted when the process begins to close: no further attempt or pause begins. */
  closing: AbortSignal;
  /** The request gate: everything that reads or writes for a request holds it. */
  gate: Gate;
  /** The faults of writes. */
  apiFaults: ApiFaults;
  /** Counts the requests of each caller. */
  rateLimiter: RateLimiter;
  /** Numbers the requests, from 1. */
  requests: { next(): number };
  /** Resolves after the given number of milliseconds of real time, or at once when it is stopped. */
  wait: (milliseconds: number, stop?: AbortSignal) => Promise<void>;
  log: Log;
  /**
   * Forwards a request with an effect to the leader, if that is another process.
   *
   * @returns null when this process has to answer. @throws StoreUnavailableError when there is no leader.
   */
  forwardToLeader: (request: ForwardedRequest) => Promise<Answer | null>;
  /** Called with every transaction that a step refused, before the request is answered. */
  refused: (refusal: Refusal) => Promise<void>;
  /** Called with every request once its answer is sent. It must not throw. */
  answered: (request: AnsweredRequest) => void;
}
