import type { Client, ClientOptions, Middleware } from "openapi-fetch";
import createClient from "openapi-fetch";
import { Request } from "../../protocol/globals.ts";
import { withOwnGlobals } from "../lib/http/direct/with-own-globals.ts";

/**
 * Opens a client of openapi-fetch that works when the tests remove or replace the globals of `fetch`: the library reads these before it first waits.
 */
export function openTyped<Paths extends object>(options: ClientOptions): Client<Paths> {
  const client = createClient<Paths>({ Request, ...options });
  return new Proxy(client, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      return (...call: unknown[]) => withOwnGlobals((): unknown => Reflect.apply(method, target, call));
    },
  });
}

/** Refuses a request whose path still has a parameter, such as `{id}`, before it is sent. @throws TypeError */
export const requireFilledPath: NonNullable<Middleware["onRequest"]> = ({ schemaPath, params }) => {
  const unfilled = schemaPath.match(/\{[^{}]+\}/g)?.find((name) => params.path?.[name.slice(1, -1)] == null);
  if (unfilled !== undefined)
    throw new TypeError(
      `The path has an unfilled ${unfilled}. Pass ${unfilled.slice(1, -1)} in params.path.`,
    );
};
