import type { Middleware } from "openapi-fetch";
import { z } from "zod";
import { structuredClone, URL } from "../../../protocol/globals.ts";
import { cloneRequest } from "../../lib/http/direct/clone-request.ts";
import type { Part } from "../../lib/part.ts";
import type { SendRequest } from "../api-client.ts";
import { isProblem } from "../problem-error.ts";
import { requestAccess } from "./request-access.ts";
import { WriteKeys } from "./write-keys.ts";

const held = z.object({ credential: z.string(), credential_id: z.string(), keys: z.int() });

type Held = z.infer<typeof held>;

/** Gives every request of a client a credential, which is issued when the first one is sent; a restore brings it back. */
export interface LazyAccess extends Part<Held | null> {
  middleware: Middleware;
  /** Returns a fetch that adds the credential to requests that need one. */
  authorize: (send: SendRequest) => SendRequest;
  /** Returns an idempotency key that no other request has; equal runs get equal keys. */
  nextKey: (send: SendRequest) => Promise<string>;
}

/**
 * Issues an account's credential when a client first needs it. If the credential has expired, or a restore has replaced it during a
 * request, the request is sent again with a valid one.
 */
export function lazyAccess(apiUrl: string, accountKey: string): LazyAccess {
  const access = new IssuedAccess(async (send) => await requestAccess(apiUrl, accountKey, send));
  const keys = new WriteKeys();
  return {
    middleware: keys.middleware,
    authorize: (send) => authorizeWith(access, send),
    async nextKey(send) {
      const one = await access.current(send);
      one.keys += 1;
      return keys.next(`client-${one.credential_id}`, one.keys);
    },
    name: "client_credential",
    schema: held.nullable(),
    capture: () => access.capture(),
    restore(kept) {
      keys.restored();
      access.restore(structuredClone(kept));
    },
  };
}

/** The access of one account, which is issued once for all requests that need it at the same time. */
class IssuedAccess {
  held: Held | null = null;
  /** The number of states that were restored. */
  restores = 0;
  #issuing: Promise<Held> | null = null;
  /** The number of requests for a credential that have no answer yet. */
  #inProgress = 0;
  /** Whether a request from before a restore may have revoked what is held: the API can have got it after the restore. */
  #mayBeRevoked = false;
  readonly #issue: (send: SendRequest) => Promise<Omit<Held, "keys">>;

  constructor(issue: (send: SendRequest) => Promise<Omit<Held, "keys">>) {
    this.#issue = issue;
  }

  /** @param send - how the request that needs the credential is sent, which decides whether a lost answer is asked for again. */
  async current(send: SendRequest): Promise<Held> {
    if (this.held !== null) return this.held;
    const before = this.restores;
    this.#issuing ??= this.#request(send);
    try {
      const got = await this.#issuing;
      if (before === this.restores) this.held = got;
      return got;
    } finally {
      if (before === this.restores) this.#issuing = null;
    }
  }

  /** A credential that may be revoked is not kept: it would be refused after the restore. */
  capture(): Held | null {
    return this.#mayBeRevoked ? null : structuredClone(this.held);
  }

  restore(kept: Held | null): void {
    this.restores += 1;
    this.held = kept;
    this.#issuing = null;
    this.#mayBeRevoked = this.#inProgress > 0;
  }

  /** Returns whether a credential was refused for a reason that a new one removes. Of several requests, the first one renews it for all. */
  renews(code: string, credential: string): boolean {
    const isRevoked = code === "credential_revoked" && this.#mayBeRevoked;
    if (code !== "credential_expired" && !isRevoked) return false;
    if (this.held?.credential === credential) this.held = null;
    return true;
  }

  async #request(send: SendRequest): Promise<Held> {
    this.#mayBeRevoked = this.#inProgress > 0;
    this.#inProgress += 1;
    try {
      return { ...(await this.#issue(send)), keys: 0 };
    } finally {
      this.#inProgress -= 1;
    }
  }
}

/** The largest number of times that a request is sent again with another credential without a restore since the one before was taken. */
export const mostRenewals = 3;

/** Returns a fetch that gives each request the credential, and sends it again with another one after a restore or when it has expired. */
function authorizeWith(access: IssuedAccess, send: SendRequest): SendRequest {
  return async (request) => {
    if (request.headers.has("Authorization") || !new URL(request.url).pathname.includes("/programs/"))
      return await send(request);
    for (let renewals = 0; ; ) {
      const { restores } = access;
      const copy = cloneRequest(request);
      const { credential } = await access.current(send);
      copy.headers.set("Authorization", `Bearer ${credential}`);
      const answer = await send(copy);
      if (answer.status !== 401) return answer;
      const renewed = access.renews(await codeOf(answer), credential);
      // Each restore may remove the credential, so that a request among many of them is sent as often.
      if (restores !== access.restores) continue;
      if (!renewed || renewals === mostRenewals) return answer;
      renewals += 1;
    }
  };
}

async function codeOf(response: Response): Promise<string> {
  const body: unknown = await response.clone().json();
  return isProblem(body) ? body.code : "";
}
