import { createApiClient, type SendRequest } from "../api-client.ts";
import { unwrap } from "../problem-error.ts";

/**
 * Issues a credential for an account's program, and revokes the account's previous credential.
 *
 * @throws ProblemError when the API refuses.
 */
export async function requestAccess(
  apiUrl: string,
  accountKey: string,
  send: SendRequest,
): Promise<{ credential: string; credential_id: string }> {
  const account = createApiClient(apiUrl, accountKey, { fetch: send });
  // The API reads no key here. With one, `retrying` repeats the request: a repeat revokes the credential whose answer was lost.
  const headers = { "Idempotency-Key": "access" };
  const answer = await account.POST("/v1/routing/access", { body: {}, headers });
  const { credential, credential_id } = unwrap(answer);
  return { credential, credential_id };
}
