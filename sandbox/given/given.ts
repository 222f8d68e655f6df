import type { Mutex } from "async-mutex";
import { AbortController, AbortSignal } from "../../protocol/globals.ts";
import { operationId } from "../../relayer/relayer.ts";
import type { Services } from "../../server/http/services.ts";
import { orList } from "../../server/lib/wording.ts";
import type { SandboxClock } from "../chain/clock/clock.ts";
import { readMining } from "../chain/clock/mining.ts";
import type { components } from "../client/api-client.ts";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import { wait } from "../lib/time/timers.ts";
import type { SandboxDescription } from "../options/description.ts";
import { Deliveries } from "../receiver/deliver-undelivered.ts";
import { askControl } from "../service/ask-control.ts";
import type { TestWallets } from "../wallets/open-wallets.ts";
import type { GivenAccess } from "./actors/access.ts";
import type { GivenActors } from "./actors/actors.ts";
import type { MerchantReads } from "./actors/merchant-reads.ts";
import { openProgramApi, type ProgramApi } from "./actors/program-api.ts";
import { Reviewer } from "./actors/reviewer.ts";
import { giveMerchant } from "./give-merchant.ts";
import { givePurchase } from "./give-purchase.ts";
import { errorBelow, GivenInvalidError } from "./given-invalid-error.ts";
import {
  invalidOption,
  type MerchantOptions,
  type MerchantPlan,
  type PurchaseOptions,
  type PurchasePlan,
  readGivenRequest,
  readMerchantOptions,
  readPurchaseOptions,
} from "./options.ts";
import { requireMerchantMeans } from "./require-means.ts";
import type { DecidedState, RefundState } from "./states.ts";

type Schemas = components["schemas"];

/** The result of {@link Given.merchant}. */
export interface GivenMerchant {
  merchant: Schemas["Merchant"];
}

/** The result of {@link Given.purchase}: the purchase and the objects that were created for it, as the API returns them. */
export interface GivenPurchase {
  merchant: Schemas["Merchant"];
  purchase: Schemas["Purchase"];
  payments: Schemas["PaymentReceipt"][];
  claim: Schemas["Claim"] | null;
  decision: Schemas["Decision"] | null;
  refund: Schemas["Refund"] | null;
}

/** A given purchase that is claimed. */
export interface GivenClaim extends GivenPurchase {
  claim: Schemas["Claim"];
}

/** A given purchase whose claim is decided. */
export interface GivenDecision extends GivenClaim {
  decision: Schemas["Decision"];
}

/** A given purchase whose refund has started. */
export interface GivenRefund extends GivenDecision {
  refund: Schemas["Refund"];
}

/** The client and wallets that given states use: those of the sandbox, or of a lease of it. */
export interface GivenMeans {
  wallets: TestWallets;
  clock: SandboxClock;
  chain: GivenActors["chain"];
  /** Returns an object whose calls end with a lease. */
  guard: <T extends object>(calls: T) => T;
  /** Aborts when a lease ends. */
  signal: AbortSignal;
}

/** The sources of given states. */
export interface GivenSources {
  description: SandboxDescription;
  services: Services;
  access: GivenAccess;
  merchants: MerchantReads;
  turns: Mutex;
  deliveryTurns: Mutex;
}

/**
 * Creates merchants and purchases in any state, through the routing API and with real transactions of the wallets.
 *
 * It uses its own account. Equal calls on equal sandboxes give equal ids and hashes. Calls run one at a time.
 */
export class Given {
  readonly #sources: GivenSources;
  readonly #means: GivenMeans;
  /** The reviewer that uses the same account. */
  readonly reviewer: Reviewer;
  /** The deliveries of events. */
  readonly deliveries: Deliveries;

  constructor(sources: GivenSources, means: GivenMeans) {
    this.#sources = sources;
    this.#means = means;
    const { description, services, deliveryTurns: turns } = sources;
    const api = openApis(sources, means, true);
    this.reviewer = new Reviewer(description, means.clock, api);
    this.deliveries = new Deliveries({ programs: programsOf(description), api, services, turns });
  }

  /** Returns given states that use other means, such as those of a lease. @internal */
  using(means: Partial<GivenMeans>): Given {
    return new Given(this.#sources, { ...this.#means, ...means });
  }

  /** Returns given states that end with a signal, too. @internal */
  until(ended: AbortSignal): Given {
    return this.using({ signal: AbortSignal.any([this.#means.signal, ended]) });
  }

  /**
   * Returns a merchant in a state.
   *
   * A wallet can be enrolled as one merchant of a program at a time. If the wallet is already enrolled, its merchant is returned, and funded if the state requires it.
   *
   * @throws GivenInvalidError for invalid options; ProblemError when the API refuses; RetryLimitError when a transaction remains unconfirmed;
   * SandboxError given_refused when mining is paused, or a transaction reverts or is held.
   * @example const { merchant } = await given.merchant({ state: "funded" });
   */
  async merchant(options: MerchantOptions): Promise<GivenMerchant> {
    return await this.#merchant(readMerchantOptions(options));
  }

  /**
   * Creates a purchase in a state, and returns it with its merchant, claim, decision and refund.
   *
   * Without `merchant`, the purchase is for the merchant of the wallet `merchant`, which is created and funded if necessary.
   *
   * @throws GivenInvalidError for invalid options; ProblemError when the API refuses; RetryLimitError when a transaction remains unconfirmed;
   * SandboxError given_refused when mining is paused, or a transaction reverts or is held.
   * @example const { purchase, claim } = await given.purchase({ state: "claimed", amount: "25000000", claimed: "10000000" });
   */
  async purchase(options: PurchaseOptions<RefundState>): Promise<GivenRefund>;
  async purchase(options: PurchaseOptions<DecidedState>): Promise<GivenDecision>;
  async purchase(options: PurchaseOptions<DecidedState | "claimed">): Promise<GivenClaim>;
  async purchase(options: PurchaseOptions): Promise<GivenPurchase>;
  async purchase(options: PurchaseOptions): Promise<GivenPurchase> {
    return await this.#purchase(readPurchaseOptions(options));
  }

  /**
   * Runs a JSON request: `{"merchant":{…}}` with the options of {@link Given.merchant}, or `{"purchase":{…}}` with those of
   * {@link Given.purchase}.
   *
   * @throws the errors of these two functions.
   * @example await given.request({ purchase: { state: "paid" } })
   */
  async request(body: unknown): Promise<GivenMerchant | GivenPurchase> {
    const asked = readGivenRequest(body);
    try {
      return "merchant" in asked
        ? await this.#merchant(asked.merchant)
        : await this.#purchase(asked.purchase);
    } catch (error) {
      throw error instanceof GivenInvalidError ? errorBelow(Object.keys(asked), error) : error;
    }
  }

  async #merchant(plan: MerchantPlan): Promise<GivenMerchant> {
    return await this.#inTurn(async (actors) => {
      await requireMerchantMeans(plan, actors);
      return { merchant: await giveMerchant(plan, actors) };
    });
  }

  async #purchase(plan: PurchasePlan): Promise<GivenPurchase> {
    return await this.#inTurn(async (actors) => {
      const given = await givePurchase(plan, actors);
      const { receipts, claim, decision, refund } = given.purchase;
      return { ...given, payments: receipts, claim, decision, refund };
    });
  }

  async #inTurn<T>(work: (actors: GivenActors) => Promise<T>): Promise<T> {
    return await this.#sources.turns.runExclusive(async () => {
      if (await this.#isMiningStopped()) throw miningStopped();
      const ended = new AbortController();
      const signal = AbortSignal.any([this.#means.signal, ended.signal]);
      const running = work(actorsOf(this.#sources, { ...this.#means, signal }));
      try {
        return await Promise.race([running, this.#untilMiningStops(ended.signal)]);
      } finally {
        // Refused, it sends no further request once its transaction is mined.
        ended.abort();
        running.catch(() => undefined);
      }
    });
  }

  async #isMiningStopped(): Promise<boolean> {
    const { isOwn, client } = this.#means.chain;
    // Not while the chain is made again, which begins without mining.
    const mining = await this.#sources.services.gate.runShared("a given state", async () =>
      isOwn ? await readMining(client) : null,
    );
    return mining !== null && !mining.automine && !mining.interval;
  }

  /** @throws SandboxError given_refused when mining has been stopped for two looks: its transactions would be waited for without end. */
  async #untilMiningStops(ended: AbortSignal): Promise<never> {
    let looks = 0;
    while (looks < 2) {
      await wait(lookMs, ended);
      // The call has ended.
      if (ended.aborted) break;
      const isStopped = await this.#isMiningStopped().catch(() => false);
      looks = isStopped ? looks + 1 : 0;
    }
    throw miningStopped();
  }
}

/** The pause between looks at whether mining has been stopped during a call, in milliseconds. */
const lookMs = 2_000;

function miningStopped(): SandboxError {
  return new SandboxError(
    "given_refused",
    'Mining is stopped, so no transaction of a given state would be mined. Start it: routing-sandbox mine --every transaction, or {"every":"transaction"} to POST /mining.',
  );
}

function programsOf({ accounts }: SandboxDescription): string[] {
  return [...new Set(accounts.map(({ program }) => program))];
}

/**
 * Returns the API operations of each program.
 *
 * @param isDirect - whether the requests are for another function than one of given states.
 */
function openApis(
  { description, services, access }: GivenSources,
  { chain, guard, signal }: GivenMeans,
  isDirect: boolean,
): GivenActors["api"] {
  const programs = programsOf(description);
  const apis = new Map<string, ProgramApi>();
  return (program) => {
    const known = apis.get(program);
    if (known !== undefined) return known;
    if (!programs.includes(program))
      throw invalidOption("program", program, "is not a program of this sandbox", `Use ${orList(programs)}.`);
    const { confirmations } = services.settings;
    const { untilAnswered, retrying } = openProgramApi(program, {
      url: description.urls.api,
      access,
      confirmations,
      chain,
      signal,
      isDirect,
    });
    const made = { untilAnswered: guard(untilAnswered), retrying: guard(retrying) };
    apis.set(program, made);
    return made;
  };
}

function actorsOf(sources: GivenSources, means: GivenMeans): GivenActors {
  const { description, services, merchants } = sources;
  const { wallets, clock, chain } = means;
  const api = openApis(sources, means, false);
  return {
    firstProgram: programsOf(description)[0] ?? "",
    wallets,
    clock,
    chain,
    reviewer: new Reviewer(description, clock, api),
    merchants,
    api,
    async holdCollection(program, businessKey) {
      const operation_id = operationId(services.deployment.epoch, {
        program,
        kind: "collect_refund",
        businessKey,
      });
      // Over HTTP, so that a recording has it. The operation stays without a nonce, so no new block takes it on.
      const fault = { layer: "relayer", point: "nonce", action: "hold", match: { operation_id } };
      const answer = await askControl(description.urls.control, "POST", "/faults", fault);
      if (!answer.ok) throw new Error(`The control API responded with ${answer.status} to POST /faults.`);
    },
  };
}
