import type { Sandbox } from "../create-sandbox.ts";
import { SandboxError } from "../sandbox-error.ts";

/**
 * A sandbox that refuses whoever still uses it when the loan is over: what a test that timed out goes on doing must not reach the next
 * one. Only what is asked of the URLs themselves goes past this.
 */
export function lentSandbox(sandbox: Sandbox, isOver: () => boolean): Sandbox {
  const { client, wallets, chain, clock, relayer, receiver } = sandbox;
  const lent = lend(clock, isOver, 0);
  return lend(
    {
      ...sandbox,
      client: lend(client, isOver, 0),
      wallets: lend(wallets, isOver, 1),
      chain: { ...chain, client: lend(chain.client, isOver, 0), clock: lent },
      clock: lent,
      relayer: lend(relayer, isOver, 0),
      receiver: lend(receiver, isOver, 0),
    },
    isOver,
    0,
  );
}

/** @param depth - how far down objects are lent, too. */
function lend<T extends object>(owner: T, isOver: () => boolean, depth: number): T {
  return new Proxy(owner, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value === "function")
        return (...args: unknown[]): unknown => {
          if (isOver())
            throw new SandboxError(
              "not_lent",
              `The test that had this sandbox is over, and still calls ${String(name)}(); await everything that a test begins.`,
            );
          return Reflect.apply(value, target, args);
        };
      return depth > 0 && typeof value === "object" && value !== null
        ? lend(value, isOver, depth - 1)
        : value;
    },
  });
}
