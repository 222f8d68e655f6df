import type { Hex } from "viem";
import type { Json } from "../../protocol/values/json.ts";
import type { RelayOperationKind } from "../../relayer/relayer.ts";
import type { SandboxDescription } from "../../sandbox/options/description.ts";
import { type Actors, actorsOf } from "../../testkit/demo/actors.ts";
import { silentPrinter } from "../../testkit/demo/printer.ts";
import { Session } from "../../testkit/demo/session.ts";
import { type DemoMerchant, enrollMerchant } from "../../testkit/demo/show-merchant.ts";
import { demoSteps } from "../../testkit/demo/show-purchase.ts";

const amount = 5_000_000n;
const award = 1_000_000n;

/** A request that has the relayer send one transaction, with everything before it done. */
export interface RelayedRequest {
  kind: RelayOperationKind;
  /** The answer when it is done. */
  success: 200 | 201;
  purchase: string;
  commitment: Hex;
  path: string;
  key: string;
  body: Json;
}

/** An answer, to the byte. */
export interface ExactAnswer {
  status: number;
  replayed: boolean;
  text: string;
}

/** A merchant that brings purchases to just before a relayed operation. */
export class Storefront {
  readonly #actors: Actors;
  readonly #merchant: DemoMerchant;
  #session: Session;

  private constructor(actors: Actors, merchant: DemoMerchant, session: Session) {
    this.#actors = actors;
    this.#merchant = merchant;
    this.#session = session;
  }

  /** Opens with an enrolled and funded merchant. */
  static async open(description: SandboxDescription): Promise<Storefront> {
    const actors = actorsOf(description);
    const session = await Session.open(actors, silentPrinter);
    return new Storefront(actors, await enrollMerchant(session), session);
  }

  /** The same storefront at the sandbox as it was started again. */
  async reopen(description: SandboxDescription): Promise<Storefront> {
    const actors = actorsOf(description);
    return new Storefront(actors, this.#merchant, await Session.open(actors, silentPrinter));
  }

  /** The credential that is valid now. */
  get credential(): string {
    return this.#session.credential;
  }

  /** A request that is ready to be sent. */
  async prepare(kind: RelayOperationKind): Promise<RelayedRequest> {
    // A credential of its own, because the steps derive their idempotency keys from it.
    this.#session = await Session.open(this.#actors, silentPrinter);
    const session = this.#session;
    const purchase = await demoSteps.createPurchase(session, this.#merchant, "purchase", amount.toString());
    const common = { kind, purchase: purchase.id, commitment: purchase.commitment.hash };
    const path = (step: string) =>
      `/v1/routing/programs/${purchase.program}/purchases/${purchase.id}/${step}`;
    if (kind === "offer")
      return {
        ...common,
        success: 200,
        path: path("activate"),
        key: session.key("activate"),
        body: { commitment_hash: purchase.commitment.hash },
      };
    await demoSteps.activate(session, purchase, "activate");
    await demoSteps.approve(session, session.actors.buyer, purchase, amount);
    await demoSteps.pay(session, purchase, amount);
    await demoSteps.reconcile(session, purchase, "reconcile");
    const claim = await demoSteps.claim(session, purchase, amount);
    const decision = await demoSteps.decide(session, purchase, claim, award);
    return {
      ...common,
      success: 201,
      path: path("refunds"),
      key: session.key("refund"),
      body: { decision_id: decision.id },
    };
  }
}

/** Sends a request, the same bytes each time. */
export async function send(
  { urls }: Pick<SandboxDescription, "urls">,
  credential: string,
  { path, key, body }: Pick<RelayedRequest, "path" | "key" | "body">,
): Promise<ExactAnswer> {
  const response = await fetch(new URL(path, urls.api), {
    method: "POST",
    headers: {
      Authorization: `Bearer ${credential}`,
      "Content-Type": "application/json",
      "Idempotency-Key": key,
    },
    body: JSON.stringify(body),
  });
  return {
    status: response.status,
    replayed: response.headers.get("idempotent-replayed") === "true",
    text: await response.text(),
  };
}
