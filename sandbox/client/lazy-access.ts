import type { Middleware } from "openapi-fetch";
import { z } from "zod";

const issued = z.object({ credential: z.string() });

/** Gives every request of a client a credential, which is issued when the first one is sent. */
export interface LazyAccess {
  middleware: Middleware;
  /** Forgets the credential, as after a restore to a time before it was issued. */
  forget(): void;
}

/**
 * Issues an account's access when a client first needs it. It is never renewed in silence: a test that travels past its
 * seven days sees the refusal that a real client would see.
 *
 * @example client.use(lazyAccess(urls.api, account.key).middleware)
 */
export function lazyAccess(apiUrl: string, accountKey: string): LazyAccess {
  let credential: Promise<string> | undefined;
  return {
    middleware: {
      async onRequest({ request, schemaPath }) {
        if (request.headers.has("Authorization") || !schemaPath.includes("/programs/")) return;
        credential ??= issue(apiUrl, accountKey);
        request.headers.set("Authorization", `Bearer ${await credential}`);
      },
    },
    forget() {
      credential = undefined;
    },
  };
}

async function issue(apiUrl: string, accountKey: string): Promise<string> {
  const answer = await fetch(`${apiUrl}/v1/routing/access`, {
    method: "POST",
    headers: { Authorization: `Bearer ${accountKey}`, "Content-Type": "application/json" },
    body: "{}",
  });
  return issued.parse(await answer.json()).credential;
}
