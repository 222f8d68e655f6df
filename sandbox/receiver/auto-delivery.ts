import type { Services } from "../../server/http/services.ts";
import type { ChangeFeed } from "../activity/change-feed.ts";
import type { Deliveries } from "./deliver-undelivered.ts";

/** Delivers undelivered events now, and again whenever events change. Events that a failure leaves undelivered are tried with the next change. */
export class AutoDelivery implements AsyncDisposable {
  readonly #deliveries: Pick<Deliveries, "all">;
  readonly #services: Pick<Services, "closing" | "log">;
  readonly #stop: () => void;
  #isDue = false;
  #running: Promise<void> | null = null;

  constructor(
    deliveries: Pick<Deliveries, "all">,
    feed: Pick<ChangeFeed, "listen">,
    services: Pick<Services, "closing" | "log">,
  ) {
    this.#deliveries = deliveries;
    this.#services = services;
    this.#stop = feed.listen(({ topics }) => {
      if (topics.includes("events") || topics.includes("everything")) this.#deliver();
    });
    this.#deliver();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop();
    this.#isDue = false;
    await this.#running;
  }

  #deliver(): void {
    this.#isDue = true;
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
    });
  }

  async #run(): Promise<void> {
    while (this.#isDue && !this.#services.closing.aborted) {
      this.#isDue = false;
      try {
        await this.#deliveries.all();
      } catch (error) {
        // A restore or the end of the sandbox may end a delivery.
        if (!this.#services.closing.aborted)
          this.#services.log.error({ err: error }, "An automatic delivery failed.");
      }
    }
  }
}
