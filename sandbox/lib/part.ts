import type { Hex } from "viem";
import { z } from "zod";
import { messageOf } from "../../protocol/coded-error.ts";
import { hashSchema } from "../../server/schemas/primitives.ts";
import { SandboxError } from "./errors/sandbox-error.ts";
import { showValue } from "./errors/show-value.ts";

/**
 * State that snapshots, restores, snapshot files and fingerprints include.
 *
 * A restore restores the parts of the option `parts` first, in their order, then the sandbox's own state. If a part throws, all parts get
 * back their state before the restore, and nothing else has changed. The chain is not a part, because Anvil reverts it in one way and dumps
 * it in another.
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
  /**
   * Returns a copy of the state, which later changes do not affect. No request, delivery or relay operation is in progress during this
   * call. A restore also calls it, so that it can undo the part's restore.
   */
  capture(): S | Promise<S>;
  /** Restores a state that `capture` returned, without changing it: it may be restored again. */
  restore(state: S): void | Promise<void>;
  /**
   * Returns SHA-256 digests, by name, of the state that equal runs have in common; the fingerprint includes them. A name must differ from
   * the names of other parts and of their digests.
   */
  digest?(state: S): { [name: string]: Hex };
}

/** All state but the chain's, by when a restore brings it back. */
export interface RestoredParts {
  /** The parts of the option `parts`, which may throw: first. */
  readonly added: readonly Part[];
  /** The parts that a restore writes to disk, which may refuse: after these, before the chain. */
  readonly durable: readonly Part[];
  /** The parts that cannot refuse: after the chain. */
  readonly others: readonly Part[];
  /** All of them. */
  readonly all: readonly Part[];
}

/** The states of parts at one time. */
export type PartStates = ReadonlyMap<Part, unknown>;

/** Schemas leave out a field of this name. */
const unusable = "__proto__";

/**
 * Thrown when the parts of a snapshot file differ from the list.
 *
 * Not a CodedError: the load of the file refuses it with `snapshot_refused`.
 */
class PartsDifferError extends Error {
  override name = "PartsDifferError";
}

/**
 * Checks that no two parts have the same name, and that none has one that objects leave out.
 *
 * @throws SandboxError option_invalid
 */
export function requireUsableNames(parts: readonly Part[]): void {
  const names = parts.map(({ name }) => name);
  if (names.includes(unusable))
    throw new SandboxError("option_invalid", `A part cannot be named "${unusable}". Give it another name.`);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined)
    throw new SandboxError(
      "option_invalid",
      `Two parts have the name "${twice}". Give the part in the option parts another name.`,
    );
}

/** Captures the states of all parts. */
export async function captureParts(parts: readonly Part[]): Promise<PartStates> {
  const states = new Map<Part, unknown>();
  for (const part of parts) states.set(part, await part.capture());
  return states;
}

/** Restores parts, one after the other. */
export async function restoreParts(parts: readonly Part[], states: PartStates): Promise<void> {
  for (const part of parts) if (states.has(part)) await part.restore(states.get(part));
}

/**
 * Restores parts and runs a step after them. If a part or the step throws, all parts are put back to the state before.
 *
 * @throws SandboxError part_failed when a part throws; what the step throws.
 */
export async function restoreTogether(
  parts: readonly Part[],
  states: PartStates,
  step: () => Promise<void>,
): Promise<void> {
  const before = await captureParts(parts);
  try {
    await restoreParts(parts, states);
    await step();
  } catch (cause) {
    const stuck: string[] = [];
    for (const part of parts) await restoreParts([part], before).catch(() => stuck.push(part.name));
    if (stuck.length === 0) throw cause;
    throw new SandboxError(
      "part_failed",
      `These parts could not be put back after a failed restore, because they threw again: ${stuck.join(", ")}. Everything else is as before; correct them and restore again.`,
      { cause },
    );
  }
}

/** Returns a part of the option `parts` whose errors name it. */
export function namedPart(part: Part): Part {
  const { name, schema } = part;
  const failed = (method: keyof Part, cause: unknown) =>
    new SandboxError(
      "part_failed",
      `The function ${method} of the part "${name}" threw: ${messageOf(cause).replace(/\.$/, "")}. Correct it and try again.`,
      { cause },
    );
  const named: Part = {
    name,
    schema,
    async capture() {
      try {
        return await part.capture();
      } catch (cause) {
        throw failed("capture", cause);
      }
    },
    async restore(state) {
      try {
        await part.restore(state);
      } catch (cause) {
        throw failed("restore", cause);
      }
    },
  };
  if (part.digest === undefined) return named;
  const digest = part.digest.bind(part);
  return {
    ...named,
    digest(state) {
      try {
        return digest(state);
      } catch (cause) {
        throw failed("digest", cause);
      }
    },
  };
}

/**
 * Encodes states as JSON, by the names of their parts.
 *
 * @throws SandboxError snapshot_refused when a file with a state could not be loaded.
 */
export function encodeParts(states: PartStates): { [name: string]: unknown } {
  const saved = [...states].flatMap(([{ name, schema }, state]) =>
    schema === null ? [] : [[name, encodeState(name, schema, state)]],
  );
  return Object.fromEntries(saved);
}

/** Encodes a state, and makes sure that it can be decoded again from the file. */
function encodeState(name: string, schema: z.ZodType, state: unknown): unknown {
  try {
    const encoded = z.encode(schema, state);
    // JSON.stringify writes a Map as {} and a Date as a string, and leaves out a function.
    if (!isJson(encoded))
      throw new TypeError(`its schema encodes it as ${showValue(encoded)}, which is not JSON`);
    z.decode(schema, JSON.parse(JSON.stringify(encoded)));
    return encoded;
  } catch (cause) {
    const reason = cause instanceof z.core.$ZodError ? describeIssue(cause) : messageOf(cause);
    throw new SandboxError(
      "snapshot_refused",
      `The part "${name}" cannot be saved: ${reason}. Give it a schema that encodes its state as JSON, such as z.codec(…), or the schema null to leave it out of files.`,
      { cause },
    );
  }
}

function describeIssue({ issues: [issue] }: z.core.$ZodError): string {
  const place = issue?.path.join(".") ?? "";
  return place === "" ? String(issue?.message) : `${issue?.message} at ${place}`;
}

/** Returns whether JSON has a value as it is; fields that are undefined are left out. */
function isJson(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isJson);
  if (z.core.util.isPlainObject(value))
    return Object.values(value).every((entry) => entry === undefined || isJson(entry));
  return value === null || ["string", "boolean"].includes(typeof value) || Number.isFinite(value);
}

/**
 * Decodes what {@link encodeParts} returned.
 *
 * @throws PartsDifferError when it holds other parts, or a state that does not have its part's shape.
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
  return new Map(
    saved.map(({ part, schema }) => {
      const { data, error } = z.safeDecode<z.ZodType>(schema, encoded[part.name]);
      if (error === undefined) return [part, data];
      throw new PartsDifferError(`its part "${part.name}" has another shape (${describeIssue(error)})`, {
        cause: error,
      });
    }),
  );
}

/**
 * Returns the digests of all parts.
 *
 * @throws SandboxError option_invalid when `digest` returns no object, for a digest that has the name of another part or of its digest, so that
 * it would take the other's place in the fingerprint, and for one that is not a SHA-256.
 */
export function digestParts(states: PartStates): { [name: string]: Hex } {
  const owners = new Map([...states.keys()].map((part) => [part.name, part]));
  const digests = new Map<string, Hex>();
  for (const [part, state] of states)
    for (const [name, digest] of Object.entries(digestsOf(part, state))) {
      if (name === unusable)
        throw new SandboxError(
          "option_invalid",
          `The part "${part.name}" has a digest "${name}". Give the digest another name.`,
        );
      const owner = owners.get(name) ?? part;
      if (owner !== part)
        throw new SandboxError(
          "option_invalid",
          `The part "${part.name}" has a digest "${name}", a name that belongs to the part "${owner.name}". Give the digest another name.`,
        );
      const { data } = hashSchema.safeParse(digest);
      if (data === undefined)
        throw new SandboxError(
          "option_invalid",
          `The digest "${name}" of the part "${part.name}" is ${showValue(digest)}. Return a SHA-256: 0x and 64 lower-case hex digits.`,
        );
      owners.set(name, part);
      digests.set(name, data);
    }
  return Object.fromEntries(digests);
}

function digestsOf(part: Part, state: unknown): { [name: string]: unknown } {
  if (part.digest === undefined) return {};
  const digests: unknown = part.digest(state);
  if (z.core.util.isPlainObject(digests)) return digests;
  throw new SandboxError(
    "option_invalid",
    `The function digest of the part "${part.name}" returns ${showValue(digests)}. Return an object of digests by their names, at once.`,
  );
}

/** A schema for state that this project writes and reads itself: a checksum covers it, so only its kind is checked. */
export function ownState<S extends object>(): z.ZodType<S> {
  return z.custom<S>((value) => typeof value === "object" && value !== null);
}
