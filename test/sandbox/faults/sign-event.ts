import { ed25519Key } from "../../../protocol/signatures/ed25519.ts";
import { deriveKey } from "../../../protocol/signatures/key-derivation.ts";
import { signWebhook, webhookSecret } from "../../../protocol/signatures/webhook.ts";
import type { Sandbox } from "../../../sandbox/create-sandbox.ts";

/** Signs the oldest event of a sandbox as the service delivers it. */
export async function signEvent({
  store,
  clock,
  description: { seed },
}: Sandbox): Promise<{ headers: { [name: string]: string }; body: string }> {
  const [event] = await store.list("events", {}, { limit: 1 });
  if (event === undefined) throw new Error("There is no event.");
  const { id, body } = event.value;
  const headers = await signWebhook(
    { id, timestamp: await clock.now(), body },
    {
      key: await ed25519Key(deriveKey(seed, "notifications")),
      secret: webhookSecret(deriveKey(seed, "notifications/hmac")),
    },
  );
  return { headers: { ...headers }, body };
}
