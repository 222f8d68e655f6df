/** What the doctor found out about one thing. */
export interface Finding {
  /** What was looked at, as in `port 4020`. */
  check: string;
  ok: boolean;
  /** What is the case, as a sentence. */
  found: string;
  /** What to do about it; null when nothing has to be done. */
  remedy: string | null;
}

/** What is looked at. */
export interface Examined {
  dataDirectory: string;
  /** The ports that a start would take; 0 is free by nature. */
  ports: { readonly [option: string]: number };
  /** The environment that programs of this machine are started with. */
  environment: { readonly [name: string]: string | undefined };
}

/** Something that is as it has to be. */
export function healthy(check: string, found: string): Finding {
  return { check, ok: true, found, remedy: null };
}

/** Something that is not, and what to do. */
export function broken(check: string, found: string, remedy: string): Finding {
  return { check, ok: false, found, remedy };
}
