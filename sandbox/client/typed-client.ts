import type { Client, ClientOptions, Middleware } from "openapi-fetch";
import createClient, { defaultBodySerializer } from "openapi-fetch";
import { messageOf } from "../../protocol/coded-error.ts";
import { Request } from "../../protocol/globals.ts";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import { showValue } from "../lib/errors/show-value.ts";
import { withOwnGlobals } from "../lib/http/direct/with-own-globals.ts";

/**
 * Opens a client of openapi-fetch that works when the tests remove or replace the globals of `fetch`: the library reads these before it first waits.
 *
 * @throws SandboxError argument_invalid when the base URL is not a string.
 */
export function openTyped<Paths extends object>(options: ClientOptions): Client<Paths> {
  if (typeof options.baseUrl !== "string")
    throw new SandboxError(
      "argument_invalid",
      `The base URL must be a string, not ${showValue(options.baseUrl)}. Pass the text of one of the sandbox's urls.`,
    );
  const client = createClient<Paths>({ Request, bodySerializer: toBody, ...options });
  return new Proxy(client, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      return (...call: unknown[]) => withOwnGlobals((): unknown => Reflect.apply(method, target, call));
    },
  });
}

/** Writes a body as openapi-fetch does. @throws SandboxError argument_invalid that names the member which has no JSON form. */
function toBody(body: unknown, ...headers: unknown[]): unknown {
  try {
    return Reflect.apply(defaultBodySerializer, undefined, [body, ...headers]);
  } catch (cause) {
    const wrong = findUnwritable(body) ?? messageOf(cause);
    throw new SandboxError(
      "argument_invalid",
      `The body has no JSON form: ${wrong}. Pass amounts as decimal strings such as "10000000", and no object inside itself.`,
      { cause },
    );
  }
}

/** The most levels of a body that the API takes. */
const mostLevels = 64;

/** Says which member of a value JSON cannot write; null if none is a bigint or an object that contains it. */
function findUnwritable(value: unknown, path = "body", above: readonly object[] = []): string | null {
  if (typeof value === "bigint") return `${path} is ${value}n`;
  if (typeof value !== "object" || value === null) return null;
  if (above.includes(value)) return `${path} contains itself`;
  if (above.length > mostLevels) return `it has more than ${mostLevels} levels`;
  for (const [name, member] of Object.entries(value)) {
    const found = findUnwritable(member, `${path}.${name}`, [...above, value]);
    if (found !== null) return found;
  }
  return null;
}

/** Refuses a request whose path still has a parameter, such as `{id}`, or an object in its place, before it is sent. @throws SandboxError argument_invalid */
export const requireFilledPath: NonNullable<Middleware["onRequest"]> = ({ schemaPath, params }) => {
  for (const [unfilled] of schemaPath.matchAll(/\{[^{}]+\}/g)) {
    const name = unfilled.slice(1, -1);
    const value: unknown = params.path?.[name];
    if (value != null && typeof value !== "object") continue;
    const passed = value == null ? "" : ` for ${showValue(value)}, which is no text`;
    throw new SandboxError(
      "argument_invalid",
      `The path has an unfilled ${unfilled}${passed}. Pass ${name} in params.path.`,
    );
  }
};
