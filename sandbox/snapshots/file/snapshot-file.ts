import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, brotliDecompress, constants } from "node:zlib";
import { z } from "zod";
import { codeOf } from "../../../protocol/coded-error.ts";
import { canonicalJson } from "../../../protocol/values/canonical-json.ts";
import { describeFileError } from "../../../server/lib/describe-file-error.ts";
import { countBytes, readInput } from "../../../server/lib/file-kind.ts";
import { replaceNamedFile } from "../../../server/lib/replace-file.ts";
import { SandboxError } from "../../lib/errors/sandbox-error.ts";
import { packageVersion } from "../../lib/package-version.ts";
import { readJson } from "../../lib/read-json.ts";
import { type LoadedSnapshot, type SnapshotContent, snapshotContent } from "./snapshot-content.ts";

const format = "routing-sandbox-snapshot";
/** The format that is written. */
const currentVersion = 5;
/** The format of routing-sandbox 0.1.0, which had the hash of that version's contracts in the first line; otherwise it is the same. */
const oldestVersion = 4;

/** The first line of the file, which a person can read. That of another version may have other fields. */
const header = z.looseObject({
  format: z.literal(format),
  version: z.int(),
  /** The version of this package that wrote it; 0.1.0 did not say. */
  routing_sandbox: z.string().optional(),
  anvil: z.string(),
  /** SHA-256 over the other fields as canonical JSON, a line feed and everything after this line. */
  sha256: z.string(),
});

/** The longest snapshot file, in bytes. */
export const mostFileBytes = 128 * 2 ** 20;
/** The longest first line of a snapshot file, in bytes: parsed, a line of many small values takes thirty times as much. */
const mostHeaderBytes = 64 * 2 ** 10;
/** The longest content of a snapshot file, decompressed, in bytes; Node cannot have a much longer text. */
export const mostContentBytes = 500 * 2 ** 20;
/** The longest part of the content that is parsed here: all of it but the chain's state, in bytes. */
const mostFirstBytes = 64 * 2 ** 20;
/** The most objects and lists of that part: empty ones take thirty times as much memory as their text. */
const mostFirstContainers = 2 ** 22;

/** Historical states repeat each other over long distances, which only a large window sees. */
const compression = { params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_LGWIN]: 24 } };

/**
 * Encodes a sandbox as the content of a snapshot file: one line of JSON that says what it is, then everything, compressed.
 *
 * @throws SandboxError snapshot_refused when it would be longer than can be loaded.
 * @example const bytes = await encodeSnapshot(saved)
 */
export async function encodeSnapshot({ state, anvil, ...rest }: SnapshotContent): Promise<Buffer> {
  const first = Buffer.from(`${JSON.stringify(z.encode(snapshotContent, rest))}\n`);
  const content = Buffer.concat([first, typeof state === "string" ? Buffer.from(state) : state]);
  if (!isFirst(first) || content.length > mostContentBytes) throw tooLong();
  const body = await promisify(brotliCompress)(content, compression);
  const { seed, mode } = rest.settings;
  const { epoch, block } = rest.fingerprint;
  const fields = {
    format,
    version: currentVersion,
    routing_sandbox: packageVersion(),
    anvil,
    seed,
    mode,
    epoch,
    block: { number: block.number, hash: block.hash },
  };
  const line = JSON.stringify({ ...fields, sha256: digest(fields, body) });
  return Buffer.concat([Buffer.from(`${line}\n`), body]);
}

/**
 * Writes the content of a snapshot file, whole or not at all, for its owner only.
 *
 * @throws SandboxError snapshot_refused when the file cannot be written.
 */
export async function writeSnapshot(file: string, content: Uint8Array): Promise<void> {
  try {
    await replaceNamedFile(file, content, 0o600);
  } catch (cause) {
    const code = codeOf(cause);
    const reason = code === "ENOENT" ? "its directory does not exist" : describeFileError(cause);
    let remedy = "Free disk space or correct the permissions of its directory, or name another file";
    if (code === "ENOENT") remedy = "Make the directory, or name another file";
    if (code === "EISDIR") remedy = "Name another file";
    throw new SandboxError("snapshot_refused", `${file} cannot be written: ${reason}. ${remedy}.`, { cause });
  }
}

/**
 * Reads a snapshot file.
 *
 * @throws SandboxError snapshot_refused when it is damaged, or is of a format that this version does not read.
 * @example const saved = await readSnapshot("checkout.snapshot")
 */
export async function readSnapshot(file: string): Promise<LoadedSnapshot> {
  const refused = (reason: string, cause?: unknown) =>
    new SandboxError("snapshot_refused", `${file} ${reason}`, { cause });
  const content = await readInput(file, { bytes: mostFileBytes }).catch((cause: unknown) => {
    throw refused(`cannot be read: ${describeFileError(cause)}. Name a snapshot file.`, cause);
  });
  const end = content.subarray(0, mostHeaderBytes).indexOf("\n");
  const { data: head } = header.safeParse(readJson(content.subarray(0, Math.max(end, 0)).toString()));
  if (head === undefined)
    throw refused(
      "is not a snapshot file, or its first line is damaged. Name a file that sandbox.save() or routing-sandbox snapshot save has written.",
    );
  const unread = `, and this version reads the formats ${oldestVersion} and ${currentVersion}.`;
  if (head.version > currentVersion)
    throw refused(
      `was saved by ${writerOf(head.routing_sandbox)} in format ${head.version}${unread} Update routing-sandbox, or make the state again with this version.`,
    );
  if (head.version < oldestVersion)
    throw refused(
      `was saved in format ${head.version}${unread} Make the state again with this version, or load and save the file with each minor version in between.`,
    );
  const { sha256, ...fields } = head;
  const body = content.subarray(end + 1);
  if (digest(fields, body) !== sha256)
    throw refused("is damaged: it does not match its checksum. Copy or save it again.");
  const text = await promisify(brotliDecompress)(body, { maxOutputLength: mostContentBytes }).catch(
    (cause: unknown) => {
      throw refused(
        `cannot be decompressed, or has more than ${mostContentBytes / 2 ** 20} MiB decompressed: no sandbox has written it. Save it again.`,
        cause,
      );
    },
  );
  const split = text.indexOf("\n");
  const first = text.subarray(0, Math.max(split, 0));
  const { data, error } = snapshotContent.safeParse(isFirst(first) ? readJson(first.toString()) : undefined);
  if (data === undefined)
    throw refused("has content that this version does not write. Save it again.", error);
  return { ...data, anvil: head.anvil, state: text.subarray(split + 1), file };
}

/** Returns whether the part of a content that is parsed here is within its limits. */
function isFirst(part: Uint8Array): boolean {
  return part.length <= mostFirstBytes && countBytes(part, "[{") <= mostFirstContainers;
}

/** The refusal of a sandbox that has grown too large for a snapshot file. */
export function tooLong(): SandboxError {
  return new SandboxError(
    "snapshot_refused",
    `The sandbox has grown too large for a snapshot file, which holds ${mostContentBytes / 2 ** 20} MiB. Copy its data directory instead, after a stop.`,
  );
}

function writerOf(release: string | undefined): string {
  return release === undefined ? "another version" : `routing-sandbox ${release}`;
}

function digest(fields: object, body: Uint8Array): string {
  return createHash("sha256")
    .update(`${canonicalJson(fields)}\n`)
    .update(body)
    .digest("hex");
}
