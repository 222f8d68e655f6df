/** The events of Node for errors that no code has handled, and their names in a trace. */
const kinds: ReadonlyMap<unknown, string> = new Map([
  ["unhandledRejection", "Unhandled rejection"],
  ["uncaughtException", "Uncaught exception"],
]);

/**
 * Tells of each rejection and exception that no code has handled, until the returned function is called.
 *
 * It watches the events as Node emits them: with a listener of its own, Node and vitest would take the error for handled, and a test would pass.
 *
 * @param observe - called once for each error, with its kind in words.
 * @example const stop = observeUnhandled((error, kind) => console.log(kind, error));
 */
export function observeUnhandled(observe: (error: unknown, kind: string) => void): () => void {
  const { emit } = process;
  // Node raises a rejection that has no listener as an exception, and mocha emits it again.
  const known = new Set<unknown>();
  let isOver = false;
  const observed = new Proxy(emit, {
    apply(target, self, args: unknown[]) {
      const [event, error] = args;
      const kind = kinds.get(event);
      if (kind !== undefined && !isOver && !known.has(error)) {
        known.add(error);
        observe(error, kind);
      }
      return Reflect.apply(target, self, args);
    },
  });
  process.emit = observed;
  return () => {
    isOver = true;
    // Another function may have been put around this one meanwhile.
    if (process.emit === observed) process.emit = emit;
  };
}
