import type { Json } from "../../../protocol/values/json.ts";

/** The example request of an operation: literal values that a fresh sandbox with the default seed takes. */
export interface RequestExample {
  path?: { [name: string]: string };
  query?: { [name: string]: string };
  header?: { [name: string]: string };
  /** The bodies that are taken at this point, each on its own, by name. */
  bodies?: { [name: string]: { summary: string; value: Json } };
}
