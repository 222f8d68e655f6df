import {
  AbortController,
  AbortSignal,
  FormData,
  Headers,
  Request,
  Response,
  URL,
} from "../../../../protocol/globals.ts";

const own = Object.entries({ AbortController, AbortSignal, FormData, Headers, Request, Response, URL });

/** Runs a step of a library, which must not wait, with the globals that the library reads as they were when the package was loaded. */
export function withOwnGlobals<T>(step: () => T): T {
  const replaced = own
    .filter(([name, value]) => Reflect.get(globalThis, name) !== value)
    .map(([name, value]) => ({ name, value, before: Reflect.getOwnPropertyDescriptor(globalThis, name) }));
  for (const { name, value } of replaced)
    Reflect.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  try {
    return step();
  } finally {
    for (const { name, before } of replaced)
      if (before === undefined) Reflect.deleteProperty(globalThis, name);
      else Reflect.defineProperty(globalThis, name, before);
  }
}
