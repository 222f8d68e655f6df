import type { Middleware } from "openapi-fetch";
import { z } from "zod";
import type { Part } from "../../lib/part.ts";
import type { SendRequest } from "./api-client.ts";
import { issueAccess } from "./issue-access.ts";
import { isProblem } from "./problem-error.ts";

const held = z.object({ credential: z.string(), credential_id: z.string(), keys: z.int() });

type Held = z.infer<typeof held>;

/** Gives every request of a client a credential, which is issued when the first one is sent; a restore brings it back. */
export interface LazyAccess extends Part<Held | null> {
  middleware: Middleware;
  /** Returns an idempotency key that no other request has; equal runs get equal keys. */
  nextKey: (send: SendRequest) => Promise<string>;
}

/**
 * Issues an account's access when a client first needs it. It is never renewed in silence: a test that travels past its
 * seven days sees the refusal that a real client would see. Only what a restore meets on its way is sent once more, with the access
 * of the state that was restored.
 *
 * @example client.use(lazyAccess(urls.api, account.key).middleware)
 */
export function lazyAccess(apiUrl: string, accountKey: string): LazyAccess {
  let access: Held | null = null;
  let issuing: Promise<Held> | null = null;
  let restores = 0;
  /** Requests in progress, as they can be sent once more. */
  const sent = new Map<string, { request: Request; credential: string; restores: number }>();

  /** @param send - how the request that needs the credential is sent, which decides whether a lost answer is asked for again. */
  const current = async (send: SendRequest): Promise<Held> => {
    if (access !== null) return access;
    const before = restores;
    issuing ??= issueAccess(apiUrl, accountKey, send).then((issued) => ({ ...issued, keys: 0 }));
    try {
      const got = await issuing;
      if (before === restores) access = got;
      return got;
    } finally {
      if (before === restores) issuing = null;
    }
  };
  const authorize = async (request: Request, send: SendRequest): Promise<string> => {
    const { credential } = await current(send);
    request.headers.set("Authorization", `Bearer ${credential}`);
    return credential;
  };

  return {
    middleware: {
      async onRequest({ request, schemaPath, id, options }) {
        if (request.headers.has("Authorization") || !schemaPath.includes("/programs/")) return;
        const copy = { request: request.clone(), restores };
        const credential = await authorize(request, options.fetch);
        sent.set(id, { ...copy, credential });
      },
      async onResponse({ response, id, options }) {
        const copy = sent.get(id);
        sent.delete(id);
        if (response.status !== 401 || copy === undefined) return;
        const expired = await isExpired(response);
        if (!expired && copy.restores === restores) return;
        // Of several requests that expired together, the first one renews the credential for all.
        if (expired && access?.credential === copy.credential) access = null;
        await authorize(copy.request, options.fetch);
        return await options.fetch(copy.request);
      },
      onError({ id }) {
        sent.delete(id);
      },
    },
    async nextKey(send) {
      const one = await current(send);
      one.keys += 1;
      return `client-${one.credential_id}-${one.keys}`;
    },
    name: "client_credential",
    schema: held.nullable(),
    capture: () => structuredClone(access),
    restore(kept) {
      restores += 1;
      access = structuredClone(kept);
      issuing = null;
    },
  };
}

async function isExpired(response: Response): Promise<boolean> {
  const body: unknown = await response.clone().json();
  return isProblem(body) && body.code === "credential_expired";
}
