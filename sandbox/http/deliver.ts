import type { Deliver } from "../../server/services.ts";

/** How long a delivery may take, in milliseconds. */
const timeoutMs = 5_000;

/** How much of a receiver's answer is read, in characters. */
const answerCharacters = 4_000;

/** Sends one notification over HTTP; redirects are not followed. */
export const deliver: Deliver = async (url, headers, body) => {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers,
      body,
      redirect: "manual",
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = (await response.text()).slice(0, answerCharacters);
    return { status_code: response.status, error: null, body: text };
  } catch (error) {
    const reason =
      error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    return { status_code: null, error: reason, body: null };
  }
};
