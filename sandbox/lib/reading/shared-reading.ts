/** Gives every caller that asks while a question is in progress the same answer. */
export function sharedReading<Answer>(read: () => Promise<Answer>): () => Promise<Answer> {
  let underWay: Promise<Answer> | undefined;
  return async () => {
    underWay ??= read().finally(() => {
      underWay = undefined;
    });
    return await underWay;
  };
}
