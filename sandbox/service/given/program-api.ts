import { once } from "../../../server/once.ts";
import { problemSchema } from "../../../server/schemas/problem.ts";
import { SandboxError } from "../../lib/sandbox-error.ts";
import { type ApiClient, type components, createApiClient } from "../client/api-client.ts";
import { unwrap } from "../client/problem-error.ts";
import type { GivenAccess } from "./access.ts";

type Schemas = components["schemas"];
type Id = Pick<Schemas["Purchase"], "id">;

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** How many requests may wait for a transaction, beyond one for each required confirmation. */
const moreRequests = 10;

/** The API operations that make states, of one program. */
export class ProgramApi {
  readonly #program: string;
  readonly #access: GivenAccess;
  readonly #client: () => ApiClient;
  readonly #most: number;
  readonly #mine: () => Promise<void>;

  /** @param mine - mines a block for what waits for confirmations. */
  constructor(
    program: string,
    api: {
      url: string;
      access: GivenAccess;
      guard: (client: ApiClient) => ApiClient;
      confirmations: number;
      mine: () => Promise<void>;
    },
  ) {
    const { url, access, guard, confirmations, mine } = api;
    this.#program = program;
    this.#access = access;
    this.#most = confirmations + moreRequests;
    this.#mine = mine;
    this.#client = once(() => {
      const client = createApiClient(url);
      client.use({
        async onRequest({ request }) {
          request.headers.set("Authorization", `Bearer ${await access.credential(program)}`);
        },
      });
      return guard(client);
    });
  }

  async createMerchant(body: Schemas["CreateMerchant"]): Promise<Schemas["Merchant"]> {
    const params = await this.#write("");
    return await this.#done(
      async (client) => await client.POST("/v1/routing/programs/{program}/merchants", { params, body }),
    );
  }

  async confirmEnrollment(
    { id }: Pick<Schemas["Merchant"], "id">,
    body: Schemas["ConfirmEnrollment"],
  ): Promise<Schemas["Merchant"]> {
    const params = await this.#write(id);
    return await this.#done(
      async (client) =>
        await client.POST("/v1/routing/programs/{program}/merchants/{id}/enrollment", { params, body }),
    );
  }

  async createPurchase(body: Schemas["CreatePurchase"]): Promise<Schemas["Purchase"]> {
    const params = await this.#write("");
    return await this.#done(
      async (client) => await client.POST("/v1/routing/programs/{program}/purchases", { params, body }),
    );
  }

  async readPurchase({ id }: Id): Promise<Schemas["Purchase"]> {
    const params = { path: { program: this.#program, id } };
    return await this.#done(
      async (client) => await client.GET("/v1/routing/programs/{program}/purchases/{id}", { params }),
    );
  }

  async activate({ id, commitment }: Schemas["Purchase"]): Promise<Schemas["Purchase"]> {
    const params = await this.#write(id);
    const body = { commitment_hash: commitment.hash };
    const { purchase } = await this.#done(
      async (client) =>
        await client.POST("/v1/routing/programs/{program}/purchases/{id}/activate", { params, body }),
    );
    return purchase;
  }

  async confirmRegistration({ id }: Id, body: Schemas["ConfirmRegistration"]): Promise<Schemas["Purchase"]> {
    const params = await this.#write(id);
    return await this.#done(
      async (client) =>
        await client.POST("/v1/routing/programs/{program}/purchases/{id}/registration", { params, body }),
    );
  }

  async reconcile({ id }: Id, body: Schemas["ReconcilePurchase"]): Promise<Schemas["Purchase"]> {
    const params = await this.#write(id);
    const { purchase } = await this.#done(
      async (client) =>
        await client.POST("/v1/routing/programs/{program}/purchases/{id}/reconcile", { params, body }),
    );
    return purchase;
  }

  async fileClaim({ id }: Id, body: Schemas["FileClaim"]): Promise<Schemas["Claim"]> {
    const params = await this.#write(id);
    return await this.#done(
      async (client) =>
        await client.POST("/v1/routing/programs/{program}/purchases/{id}/claims", { params, body }),
    );
  }

  async recordDecision({ id }: Id, body: Schemas["RecordDecision"]): Promise<Schemas["Decision"]> {
    const params = await this.#write(id);
    return await this.#done(
      async (client) =>
        await client.POST("/v1/routing/programs/{program}/purchases/{id}/decisions", { params, body }),
    );
  }

  /** @param waits - whether to wait until the refund is collected; without it, the answer is the first one. */
  async executeRefund(
    { id }: Id,
    body: Schemas["ExecuteRefund"],
    { waits }: { waits: boolean },
  ): Promise<Schemas["Refund"]> {
    const params = await this.#write(id);
    const { refund } = await this.#done(
      async (client) =>
        await client.POST("/v1/routing/programs/{program}/purchases/{id}/refunds", { params, body }),
      waits,
    );
    return refund;
  }

  async deliver({ id: event_id }: Id): Promise<Schemas["Notification"]> {
    const params = await this.#write(event_id);
    const { notification } = await this.#done(
      async (client) =>
        await client.POST("/v1/routing/programs/{program}/notifications", { params, body: { event_id } }),
    );
    return notification;
  }

  async #write(id: string) {
    const key = await this.#access.nextKey(this.#program);
    return { path: { program: this.#program, id }, header: { "Idempotency-Key": key } };
  }

  /** Sends a request, and the identical one again while what it asks for needs confirmations. */
  async #done<T>(send: (client: ApiClient) => Promise<Answer<T>>, waits = true): Promise<T> {
    for (let sent = 1; sent <= this.#most; sent += 1) {
      const { data, error, response } = await send(this.#client());
      if (response.status === 401 && sent === 1) this.#access.renew(this.#program);
      else if (waits && isUnconfirmed(response, error)) await this.#mine();
      else return unwrap(data === undefined ? { error } : { data });
    }
    throw new SandboxError(
      "given_refused",
      `The API still waits for a transaction after ${this.#most} requests. Clear the faults that hold it, then try again.`,
    );
  }
}

function isUnconfirmed({ status }: Response, error: unknown): boolean {
  return status === 202 || problemSchema.safeParse(error).data?.code === "transaction_unconfirmed";
}
