import { type ApiClient, createApiClient, unwrap } from "../../../../sandbox/client/api-client.ts";
import type { SandboxDescription } from "../../../../sandbox/options/description.ts";

const program = "prg_demo";

const write = (key: string) => ({ path: { program }, header: { "Idempotency-Key": key } });

/** Issues a credential of the first account. */
export async function issueCredential({ urls, accounts }: SandboxDescription): Promise<string> {
  const account = createApiClient(urls.api, accounts[0]?.key);
  return unwrap(await account.POST("/v1/routing/access", { body: {} })).credential;
}

/** Creates a merchant, and returns the id of its event. */
export async function writeEvent(api: ApiClient): Promise<string> {
  const answer = await api.POST("/v1/routing/programs/{program}/merchants", {
    params: write("merchant-1"),
    body: {
      wallet: "0x70997970c51812dc3a010c7d01b50e0d17dc79c8",
      name: "Corner Books",
      funding_cap: "1",
    },
  });
  return unwrap(answer).event_id;
}

/** Delivers an event, or the oldest that is undelivered. */
export async function deliverEvent(api: ApiClient, key: string, event_id?: string) {
  return await api.POST("/v1/routing/programs/{program}/notifications", {
    params: write(key),
    body: event_id === undefined ? {} : { event_id },
  });
}
