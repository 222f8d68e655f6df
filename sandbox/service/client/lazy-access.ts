import type { Middleware } from "openapi-fetch";
import { z } from "zod";
import type { Part } from "../../lib/part.ts";
import type { SendRequest } from "./api-client.ts";
import { isProblem } from "./problem-error.ts";
import { requestAccess } from "./request-access.ts";

const held = z.object({ credential: z.string(), credential_id: z.string(), keys: z.int() });

type Held = z.infer<typeof held>;

/** Gives every request of a client a credential, which is issued when the first one is sent; a restore brings it back. */
export interface LazyAccess extends Part<Held | null> {
  middleware: Middleware;
  /** Returns an idempotency key that no other request has; equal runs get equal keys. */
  nextKey: (send: SendRequest) => Promise<string>;
}

/**
 * Issues an account's credential when a client first needs it. If the credential has expired, or a restore has replaced it during a
 * request, the request is sent once more with a valid one.
 *
 * @example client.use(lazyAccess(urls.api, account.key).middleware)
 */
export function lazyAccess(apiUrl: string, accountKey: string): LazyAccess {
  const access = new IssuedAccess(async (send) => await requestAccess(apiUrl, accountKey, send));
  return {
    middleware: authorizeWith(access),
    async nextKey(send) {
      const one = await access.current(send);
      one.keys += 1;
      return `client-${one.credential_id}-${one.keys}`;
    },
    name: "client_credential",
    schema: held.nullable(),
    capture: () => structuredClone(access.held),
    restore: (kept) => access.restore(structuredClone(kept)),
  };
}

/** The access of one account, which is issued once for all requests that need it at the same time. */
class IssuedAccess {
  held: Held | null = null;
  /** The number of states that were restored. */
  restores = 0;
  #issuing: Promise<Held> | null = null;
  readonly #issue: (send: SendRequest) => Promise<Omit<Held, "keys">>;

  constructor(issue: (send: SendRequest) => Promise<Omit<Held, "keys">>) {
    this.#issue = issue;
  }

  /** @param send - how the request that needs the credential is sent, which decides whether a lost answer is asked for again. */
  async current(send: SendRequest): Promise<Held> {
    if (this.held !== null) return this.held;
    const before = this.restores;
    this.#issuing ??= this.#issue(send).then((issued) => ({ ...issued, keys: 0 }));
    try {
      const got = await this.#issuing;
      if (before === this.restores) this.held = got;
      return got;
    } finally {
      if (before === this.restores) this.#issuing = null;
    }
  }

  restore(kept: Held | null): void {
    this.restores += 1;
    this.held = kept;
    this.#issuing = null;
  }
}

/** Returns what gives each request the credential, and sends it once more with another one after a restore or when it has expired. */
function authorizeWith(access: IssuedAccess): Middleware {
  /** Requests in progress, as they can be sent once more. */
  const sent = new Map<string, { request: Request; credential: string; restores: number }>();
  const authorize = async (request: Request, send: SendRequest): Promise<string> => {
    const { credential } = await access.current(send);
    request.headers.set("Authorization", `Bearer ${credential}`);
    return credential;
  };
  return {
    async onRequest({ request, schemaPath, id, options }) {
      if (request.headers.has("Authorization") || !schemaPath.includes("/programs/")) return;
      const copy = { request: request.clone(), restores: access.restores };
      const credential = await authorize(request, options.fetch);
      sent.set(id, { ...copy, credential });
    },
    async onResponse({ response, id, options }) {
      const copy = sent.get(id);
      sent.delete(id);
      if (response.status !== 401 || copy === undefined) return;
      const expired = await isExpired(response);
      if (!expired && copy.restores === access.restores) return;
      // Of several requests that expired together, the first one renews the credential for all.
      if (expired && access.held?.credential === copy.credential) access.held = null;
      await authorize(copy.request, options.fetch);
      return await options.fetch(copy.request);
    },
    onError({ id }) {
      sent.delete(id);
    },
  };
}

async function isExpired(response: Response): Promise<boolean> {
  const body: unknown = await response.clone().json();
  return isProblem(body) && body.code === "credential_expired";
}
