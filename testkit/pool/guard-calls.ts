import { types } from "node:util";
import type { LeaseGuard } from "./lease-guard.ts";

/**
 * Guards an object: once the lease is over, its methods are refused, and so is what they have not answered yet; what they begin before is noted.
 *
 * @param path - how a test writes the object, as in `chain.client`; empty for the sandbox itself, and for the steps of a call, which a test knows
 * by the name of the call.
 * @param own - the functions that replace the object's, which note themselves which promises must be awaited.
 * @param isStepwise - whether all methods note for themselves, step by step; as a whole, some of them may wait without end.
 */
export function guardCalls<T extends object>(
  owner: T,
  path: string,
  guard: LeaseGuard,
  { own = {}, isStepwise = false }: { own?: Partial<T>; isStepwise?: boolean } = {},
): T {
  return new Proxy(owner, {
    get(target, name) {
      const isOwn = name in own;
      const value: unknown = isOwn ? Reflect.get(own, name) : Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      const call = path === "" ? String(name) : `${path}.${String(name)}`;
      const guarded = (...args: unknown[]): unknown => {
        guard.require(call);
        const answer: unknown = Reflect.apply(value, target, args);
        if (!isOwn && !isStepwise) guard.note(answer);
        return types.isPromise(answer) ? guard.untilOver(call, answer, guarded) : answer;
      };
      return guarded;
    },
  });
}
