import type { components } from "../../sandbox/client/api-client.ts";

/** A schema of the description, by its name. */
export type Schema<N extends keyof components["schemas"]> = components["schemas"][N];

/** An answer as it came over the wire. */
export interface Answer {
  status: number;
  headers: { [name: string]: string | string[] | undefined };
  text: string;
}

/** A request as it goes over the wire; nothing is added but the length of the body. */
export interface RawRequest {
  method?: string;
  headers?: { [name: string]: string | string[] };
  body?: string | Buffer;
}

/** The data of an answer that must be a success. */
export function present<T>({ data, error }: { data?: T; error?: unknown }): T {
  if (data === undefined) throw new Error(`The API refused: ${JSON.stringify(error)}`);
  return data;
}

/** The problem of an answer that must be a refusal. */
export function problem(answer: Answer): Schema<"Problem"> {
  const type = String(answer.headers["content-type"]);
  if (!type.startsWith("application/problem+json"))
    throw new Error(`${answer.status} ${type}: ${answer.text}`);
  return JSON.parse(answer.text);
}
