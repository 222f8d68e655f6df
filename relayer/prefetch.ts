/**
 * Begins questions whose answers are needed later, so that they share a message with those that come before them. Their errors are left to
 * the code that asks them again.
 */
export function prefetch(...answers: readonly Promise<unknown>[]): void {
  for (const answer of answers) answer.catch(() => undefined);
}
