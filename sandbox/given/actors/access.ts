import { Mutex } from "async-mutex";
import { z } from "zod";
import { structuredClone } from "../../../protocol/globals.ts";
import { mostRenewals } from "../../client/access/lazy-access.ts";
import { requestAccess } from "../../client/access/request-access.ts";
import { WriteKeys } from "../../client/access/write-keys.ts";
import type { SendRequest } from "../../client/api-client.ts";
import { cloneRequest } from "../../lib/http/direct/clone-request.ts";
import type { Part } from "../../lib/part.ts";
import type { SeededAccount } from "../../service/keys.ts";

const held = z.object({ credential: z.string(), credential_id: z.string(), requests: z.int() });

const accessState = z.record(z.string(), held);

type Held = z.infer<typeof held>;
type AccessState = z.infer<typeof accessState>;

/**
 * Holds the access of given states: a credential of each program's own account for them, so that issuing it revokes none of a test's, and
 * how many requests it made, which makes their idempotency keys.
 */
export class GivenAccess implements Part<AccessState> {
  readonly name = "given_access";
  readonly schema = accessState;
  readonly #apiUrl: string;
  readonly #accounts: readonly SeededAccount[];
  /** Sends a request without a credential, once. */
  readonly send: SendRequest;
  readonly keys = new WriteKeys();
  readonly #issuing = new Mutex();
  #held: AccessState = {};
  #restores = 0;

  constructor(apiUrl: string, accounts: readonly SeededAccount[], send: SendRequest) {
    this.#apiUrl = apiUrl;
    this.#accounts = accounts;
    this.send = send;
  }

  capture(): AccessState {
    return structuredClone(this.#held);
  }

  restore(state: AccessState): void {
    this.#restores += 1;
    this.keys.restored();
    this.#held = structuredClone(state);
  }

  /**
   * Returns a fetch that sends a program's credential, and sends a request again with another one after a restore or when it has expired.
   *
   * @param issue - sends the request for a credential.
   */
  authorizedFetch(program: string, issue: SendRequest): SendRequest {
    return async (request) => {
      for (let renewals = 0; ; ) {
        const before = this.#restores;
        const copy = cloneRequest(request);
        const used = await this.#authorize(copy, program, issue);
        const answer = await this.send(copy);
        if (answer.status !== 401 || renewals === mostRenewals) return answer;
        if (before === this.#restores) renewals += 1;
        if (this.#held[program]?.credential === used) delete this.#held[program];
      }
    };
  }

  /** Returns an idempotency key that no other request has. */
  async nextKey(program: string, issue: SendRequest): Promise<string> {
    const one = await this.#hold(program, issue);
    one.requests += 1;
    return this.keys.next(`given-${one.credential_id}`, one.requests);
  }

  async #authorize(request: Request, program: string, issue: SendRequest): Promise<string> {
    const { credential } = await this.#hold(program, issue);
    request.headers.set("Authorization", `Bearer ${credential}`);
    return credential;
  }

  async #hold(program: string, issue: SendRequest): Promise<Held> {
    return await this.#issuing.runExclusive(async () => {
      const known = this.#held[program];
      if (known !== undefined) return known;
      const account = this.#accounts.find((one) => one.program === program);
      const before = this.#held;
      const issued = { ...(await requestAccess(this.#apiUrl, account?.key ?? "", issue)), requests: 0 };
      // A restore meanwhile has brought its own back.
      if (before === this.#held) this.#held[program] = issued;
      return issued;
    });
  }
}
