import { capitalize } from "../../lib/wording.ts";

/** The cause of a failing call, in clauses without a full stop. */
export interface Cause {
  /** The problem. */
  wrong: string;
  /** The change that makes the call succeed; null when nothing does. */
  remedy: string | null;
  /** A sentence with the alternative to the call, if nothing makes it succeed. */
  instead?: string;
}

/** Says what is wrong, as a sentence. */
export function sayWrong({ wrong }: Pick<Cause, "wrong">): string {
  return `${capitalize(wrong)}.`;
}

/** Says what is wrong with a call that would fail now, and what makes it succeed. */
export function sayCause({ wrong, remedy }: Pick<Cause, "wrong" | "remedy">): string {
  return remedy === null ? sayWrong({ wrong }) : `${sayWrong({ wrong })} ${remedy}.`;
}

/**
 * Says what to do about a call that failed.
 *
 * @param again - how it is made again, as in `send a new transaction`.
 * @param never - what is said where neither that nor anything in its place helps.
 */
export function sayRemedy({ remedy, instead }: Cause, again: string, never: string): string {
  return remedy === null ? (instead ?? never) : `${remedy}, then ${again}.`;
}
