import { Mutex } from "async-mutex";
import { z } from "zod";
import { accessSchema } from "../../../server/schemas/access.ts";
import type { Part } from "../../lib/part.ts";
import { unwrap } from "../client/problem-error.ts";
import type { SeededAccount } from "../keys/keys.ts";

const held = z.object({ credential: z.string(), credential_id: z.string(), requests: z.int() });

const accessState = z.record(z.string(), held);

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
  readonly #issuing = new Mutex();
  #held: AccessState = {};

  constructor(apiUrl: string, accounts: readonly SeededAccount[]) {
    this.#apiUrl = apiUrl;
    this.#accounts = accounts;
  }

  capture(): AccessState {
    return structuredClone(this.#held);
  }

  restore(state: AccessState): void {
    this.#held = structuredClone(state);
  }

  /** Returns the credential for a program, which is issued when it is first needed. */
  async credential(program: string): Promise<string> {
    return (await this.#hold(program)).credential;
  }

  /** Returns an idempotency key that no other request has. */
  async nextKey(program: string): Promise<string> {
    const one = await this.#hold(program);
    one.requests += 1;
    return `given-${one.credential_id}-${one.requests}`;
  }

  /** Has the next request issue a credential: this one has expired. */
  renew(program: string): void {
    delete this.#held[program];
  }

  async #hold(program: string): Promise<z.infer<typeof held>> {
    return await this.#issuing.runExclusive(async () => {
      this.#held[program] ??= { ...(await this.#issue(program)), requests: 0 };
      return this.#held[program];
    });
  }

  async #issue(program: string) {
    const account = this.#accounts.find((one) => one.program === program);
    const answer = await fetch(`${this.#apiUrl}/v1/routing/access`, {
      method: "POST",
      headers: { Authorization: `Bearer ${account?.key}` },
    });
    const body: unknown = await answer.json();
    return accessSchema.parse(unwrap(answer.ok ? { data: body } : { error: body }));
  }
}
