import { inFlags } from "../describe-failure.ts";

/** The result of one of the doctor's checks. */
export interface Finding {
  /** The subject of the check, as in `port 4020`. */
  check: string;
  ok: boolean;
  /** The result, as a sentence. */
  found: string;
  /** The action to take; null when none is needed. */
  remedy: string | null;
}

/** The options that the doctor checks. */
export interface Examined {
  dataDirectory: string;
  /** The ports that a start would take; 0 is free by nature. */
  ports: { readonly [option: string]: number };
  /** The URL of the database that a start would use; none without one. */
  store?: string | undefined;
  /** Whether the chain would be that of a node. */
  onNode?: boolean;
  /** The environment that programs of this machine are started with. */
  environment: { readonly [name: string]: string | undefined };
}

/** Something that is as it has to be. */
export function healthy(check: string, found: string): Finding {
  return { check, ok: true, found, remedy: null };
}

/** Something that is not, and what to do. A message of the library names its flags. */
export function broken(check: string, found: string, remedy: string): Finding {
  return { check, ok: false, found: inFlags(found), remedy };
}
