/**
 * Makes a value when it is first asked for, and keeps it.
 *
 * @example const description = once(() => describeApi(operations, urls));
 */
export function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
