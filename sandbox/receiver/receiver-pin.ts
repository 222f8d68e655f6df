import { SandboxError } from "../lib/errors/sandbox-error.ts";
import type { SendDelivery } from "../lib/http/deliver.ts";
import { isPinnedAs, type PinnedReceiver, pinReceiver, type Resolve } from "../lib/http/pin-receiver.ts";
import type { Part } from "../lib/part.ts";

/** The state of the pin in a snapshot. */
interface PinState {
  pinned: PinnedReceiver;
  isChosen: boolean;
  hasDelivered: boolean;
}

/** Makes a delivery in another way than `send` does: twice, later, or not as it was signed. */
export type InterceptDelivery = (
  send: SendDelivery,
  ...delivery: Parameters<SendDelivery>
) => ReturnType<SendDelivery>;

/**
 * The one receiver of notifications. Either the start names it, or `pin` does, once and before the first delivery. A restore restores the
 * pin of the snapshot.
 */
export class ReceiverPin implements Part<PinState> {
  readonly name = "receiver_pin";
  // A snapshot file is continued with the receiver of the start that loads it.
  readonly schema = null;
  /** The URL of the test receiver. */
  readonly own: string;
  readonly #resolve: Resolve | undefined;
  #pinned: PinnedReceiver;
  /** Whether the start or `pin` named the receiver; otherwise it is the test receiver. */
  #isChosen: boolean;
  #hasDelivered = false;
  #intercept: InterceptDelivery | null = null;

  /**
   * @param own - the URL of the test receiver.
   * @param named - the receiver that the start names; without it, notifications go to the test receiver.
   */
  static async open(own: string, named: PinnedReceiver | null, resolve?: Resolve): Promise<ReceiverPin> {
    return new ReceiverPin(own, named ?? (await pinReceiver(own)), { isChosen: named !== null, resolve });
  }

  constructor(
    own: string,
    pinned: PinnedReceiver,
    { isChosen = true, resolve }: { isChosen?: boolean; resolve?: Resolve | undefined } = {},
  ) {
    this.own = own;
    this.#pinned = pinned;
    this.#isChosen = isChosen;
    this.#resolve = resolve;
  }

  /** The receiver with the address that its name has resolved to. */
  get receiver(): PinnedReceiver {
    return this.#pinned;
  }

  /** The URL that notifications go to. */
  get url(): string {
    return this.#pinned.url.href;
  }

  /** Whether notifications go to the test receiver. */
  get isOwn(): boolean {
    return isPinnedAs(this.#pinned, this.own);
  }

  /** Passes all deliveries to a receiver other than the test receiver through a function; null ends this. */
  intercept(intercept: InterceptDelivery | null): void {
    this.#intercept = intercept;
  }

  /** Returns how deliveries are made now. */
  through(send: SendDelivery): SendDelivery {
    const intercept = this.isOwn ? null : this.#intercept;
    return intercept === null ? send : async (...delivery) => await intercept(send, ...delivery);
  }

  /** Called before each delivery attempt: from then on nothing can be pinned. */
  delivers(): void {
    this.#hasDelivered = true;
  }

  /**
   * Pins the receiver.
   *
   * @throws SandboxError receiver_invalid, receiver_unresolved; receiver_pinned when one was named before, or a delivery was made.
   */
  async pin(url: string): Promise<void> {
    this.#requireFree();
    const pinned = await pinReceiver(url, this.#resolve);
    this.#requireFree();
    this.#pinned = pinned;
    this.#isChosen = true;
  }

  /** Returns the state for a snapshot. */
  capture(): PinState {
    return { pinned: this.#pinned, isChosen: this.#isChosen, hasDelivered: this.#hasDelivered };
  }

  /** Restores the state of a snapshot. */
  restore({ pinned, isChosen, hasDelivered }: PinState): void {
    this.#pinned = pinned;
    this.#isChosen = isChosen;
    this.#hasDelivered = hasDelivered;
  }

  #requireFree(): void {
    if (this.#isChosen)
      throw new SandboxError(
        "receiver_pinned",
        `Notifications go to ${this.url} already. Pin a receiver once, and only when the start names none (the option receiverUrl).`,
      );
    if (this.#hasDelivered)
      throw new SandboxError(
        "receiver_pinned",
        `A notification was delivered to ${this.url} already. Pin a receiver before the first delivery.`,
      );
  }
}
