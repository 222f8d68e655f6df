/**
 * Returns a reading that began after the call: callers that ask while one is in progress share the next with all others
 * who do. So no caller gets what was true before they asked, and any number of callers costs two readings at a time.
 */
export function freshReading<Answer>(read: () => Promise<Answer>): () => Promise<Answer> {
  let underWay: Promise<unknown> | null = null;
  let next: Promise<Answer> | null = null;
  const begin = (): Promise<Answer> => {
    next = null;
    const reading = read();
    const ended = reading.then(
      () => {},
      () => {},
    );
    underWay = ended;
    void ended.then(() => {
      if (underWay === ended) underWay = null;
    });
    return reading;
  };
  return async () => {
    if (next === null && underWay === null) return await begin();
    next ??= Promise.resolve(underWay).then(begin);
    return await next;
  };
}

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
