import type { Mutex } from "async-mutex";
import type { Services } from "../../server/http/services.ts";
import { findUndelivered } from "../../server/notifications/outbox/deliver-event.ts";
import type { components, RetryingClient } from "../client/api-client.ts";

type Notification = components["schemas"]["Notification"];

/** Returns the API of a program. */
type ApiOf = (program: string) => { retrying: RetryingClient };

/** Delivers undelivered events, through the API and with the account of given states. */
export class Deliveries {
  readonly #programs: readonly string[];
  readonly #api: ApiOf;
  readonly #services: Pick<Services, "gate" | "store">;
  readonly #turns: Mutex;

  constructor(sources: {
    programs: readonly string[];
    api: ApiOf;
    services: Pick<Services, "gate" | "store">;
    turns: Mutex;
  }) {
    this.#programs = sources.programs;
    this.#api = sources.api;
    this.#services = sources.services;
    this.#turns = sources.turns;
  }

  /**
   * Delivers every undelivered event, program by program and the oldest first, including events that are added meanwhile. An event whose
   * attempts are exhausted no longer counts as undelivered. One call runs at a time.
   *
   * @returns the notifications that were delivered or exhausted by this call.
   * @throws ProblemError when the API refuses; RetryLimitError when responses are lost, or the API is unavailable, again and again.
   */
  async all(): Promise<Notification[]> {
    return await this.#turns.runExclusive(async () => {
      const notifications: Notification[] = [];
      for (const program of this.#programs)
        for (let id = await this.#oldest(program); id !== undefined; id = await this.#oldest(program))
          notifications.push(await this.#api(program).retrying.deliver(program, { id }));
      return notifications;
    });
  }

  async #oldest(program: string): Promise<string | undefined> {
    const { gate, store } = this.#services;
    const event = await gate.runShared("a delivery", async () => await findUndelivered(program, store));
    return event?.id;
  }
}
