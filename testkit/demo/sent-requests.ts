import type { ApiClient } from "../../sandbox/client/api-client.ts";
import { cutText } from "./cut-text.ts";

/** Keeps what clients sent, for the report of the answers. */
export class SentRequests {
  readonly #ofRequests = new WeakMap<Request, string>();
  readonly #ofResponses = new WeakMap<Response, string>();

  /** Returns the client itself, whose requests are kept from here on. */
  of(client: ApiClient): ApiClient {
    client.use({
      // Before it is sent: sending uses the body up.
      onRequest: async ({ request }) => {
        const { pathname } = new URL(request.url);
        const body = await request.clone().text();
        const text = body === "" ? "" : ` ${cutText(body, 140)}`;
        this.#ofRequests.set(request, `${request.method} ${pathname}${text}`);
      },
      onResponse: ({ request, response }) => {
        this.#ofResponses.set(response, this.#ofRequests.get(request) ?? "");
      },
    });
    return client;
  }

  /** Returns method, path and body of the request that was answered. */
  answeredBy(response: Response): string {
    return this.#ofResponses.get(response) ?? "";
  }
}
