import { type Hex, isHash } from "viem";
import { z } from "zod";
import { SandboxError } from "./errors/sandbox-error.ts";
import { showValue } from "./errors/show-value.ts";

/**
 * State that snapshots, restores, snapshot files and fingerprints include.
 *
 * Durable parts are restored first, then the chain, then the other parts, each in the order of the list. The chain is not a part, because
 * Anvil reverts it in one way and dumps it in another.
 *
 * @example
 * const visits: Part<number> = {
 *   name: "visits",
 *   schema: z.int(),
 *   capture: () => count,
 *   restore: (state) => { count = state; },
 * };
 * await createSandbox({ parts: [visits] });
 */
export interface Part<S = unknown> {
  /** Names the state in snapshot files. */
  readonly name: string;
  /** The schema of the state in a snapshot file, as JSON; null when files do not have it. */
  readonly schema: z.ZodType<S> | null;
  /** Whether a restore writes it to disk: such parts are restored first, before the chain, so that a disk that refuses changes nothing. */
  readonly isDurable?: boolean;
  /** Returns the state. No request, delivery or relay operation is in progress during this call. */
  capture(): S | Promise<S>;
  /** Restores a state that `capture` returned. */
  restore(state: S): void | Promise<void>;
  /**
   * SHA-256 digests of what two equal runs must have in common, by name; they become part of the fingerprint. A name must differ from
   * the names of other parts and of their digests.
   */
  digest?(state: S): { [name: string]: Hex };
}

/** The states of parts at one time. */
export type PartStates = ReadonlyMap<Part, unknown>;

/**
 * Thrown when the parts of a snapshot file differ from the list.
 *
 * Not a CodedError: the load of the file refuses it with `snapshot_refused`.
 */
export class PartsDifferError extends Error {
  override name = "PartsDifferError";
}

/**
 * Checks that no two parts have the same name.
 *
 * @throws SandboxError option_invalid
 */
export function requireDistinctNames(parts: readonly Part[]): void {
  const names = parts.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined)
    throw new SandboxError(
      "option_invalid",
      `Two parts are named "${twice}"; give the one in the option parts another name.`,
    );
}

/** Captures the states of all parts. */
export async function captureParts(parts: readonly Part[]): Promise<PartStates> {
  const states = new Map<Part, unknown>();
  for (const part of parts) states.set(part, await part.capture());
  return states;
}

/**
 * Restores parts, one after the other.
 *
 * @param which - whether the durable ones, or the others; all if not given.
 */
export async function restoreParts(states: PartStates, which?: "durable" | "others"): Promise<void> {
  for (const [part, state] of states)
    if (which === undefined || (which === "durable") === (part.isDurable === true)) await part.restore(state);
}

/** Encodes states as JSON, by the names of their parts. */
export function encodeParts(states: PartStates): { [name: string]: unknown } {
  const saved = [...states].flatMap(([{ name, schema }, state]) =>
    schema === null ? [] : [[name, z.encode(schema, state)]],
  );
  return Object.fromEntries(saved);
}

/**
 * Decodes what {@link encodeParts} returned.
 *
 * @throws PartsDifferError when it holds other parts; ZodError when a state does not have its part's shape.
 */
export function decodeParts(
  parts: readonly Part[],
  encoded: { readonly [name: string]: unknown },
): PartStates {
  const saved = parts.flatMap((part) => (part.schema === null ? [] : [{ part, schema: part.schema }]));
  const names = new Set(saved.map(({ part }) => part.name));
  const unknown = Object.keys(encoded).filter((name) => !names.has(name));
  const missing = [...names].filter((name) => !Object.hasOwn(encoded, name));
  if (unknown.length > 0)
    throw new PartsDifferError(`it holds ${unknown.join(", ")}, which the option parts does not name`);
  if (missing.length > 0) throw new PartsDifferError(`it does not hold ${missing.join(", ")}`);
  return new Map(saved.map(({ part, schema }) => [part, z.decode(schema, encoded[part.name])]));
}

/**
 * Returns the digests of all parts.
 *
 * @throws SandboxError option_invalid for a digest that has the name of another part or of its digest, so that it would take the other's
 * place in the fingerprint, and for one that is not a SHA-256.
 */
export function digestParts(states: PartStates): { [name: string]: Hex } {
  const owners = new Map([...states.keys()].map((part) => [part.name, part]));
  const digests = new Map<string, Hex>();
  for (const [part, state] of states)
    for (const [name, digest] of Object.entries(part.digest?.(state) ?? {})) {
      const owner = owners.get(name) ?? part;
      if (owner !== part)
        throw new SandboxError(
          "option_invalid",
          `The part "${part.name}" has a digest "${name}", a name that belongs to the part "${owner.name}". Give the digest another name.`,
        );
      if (!isHash(digest))
        throw new SandboxError(
          "option_invalid",
          `The digest "${name}" of the part "${part.name}" is ${showValue(digest)}. Return a SHA-256: 0x and 64 hex digits.`,
        );
      owners.set(name, part);
      digests.set(name, digest);
    }
  return Object.fromEntries(digests);
}

/** A schema for state that this project writes and reads itself: a checksum covers it, so only its kind is checked. */
export function ownState<S extends object>(): z.ZodType<S> {
  return z.custom<S>((value) => typeof value === "object" && value !== null);
}
