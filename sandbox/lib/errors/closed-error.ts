import { SandboxError } from "./sandbox-error.ts";

/** Says what has happened to a sandbox that was closed. */
export const closedMessage = "The sandbox is closed. Open another one with createSandbox().";

/** Returns the error of a call on a closed sandbox. */
export function closedError(): SandboxError {
  return new SandboxError("closed", closedMessage);
}

/** Refuses every member of an object once it is closed, but those that are named. */
export function refuseOnceClosed<T extends object>(
  object: T,
  isClosed: () => boolean,
  except: readonly PropertyKey[],
): T {
  return new Proxy(object, {
    get(target, name) {
      if (isClosed() && Object.hasOwn(target, name) && !except.includes(name)) throw closedError();
      return Reflect.get(target, name, target);
    },
  });
}
