import { join } from "node:path";
import { z } from "zod";
import { causesOf, codeOf } from "../../protocol/coded-error.ts";
import { isCopy, readOwner } from "../../sandbox/data-directory/lock.ts";
import { readOwn } from "../../sandbox/data-directory/sandbox-file.ts";
import { fetchDirect } from "../../sandbox/lib/http/direct/fetch-direct.ts";
import { findProcess, isRunning } from "../../sandbox/lib/processes/processes.ts";
import type { SandboxDescription } from "../../sandbox/options/description.ts";
import { describeFileError } from "../../server/lib/describe-file-error.ts";
import { fileKind } from "../../server/lib/file-kind.ts";

/** The longest time for a sandbox or a pool to identify itself, in milliseconds. */
export const answerTimeoutMs = 10_000;

/** The codes of the system when this process may not connect: whether a sandbox runs is not known then. */
const refusals = ["EMFILE", "ENFILE", "EACCES", "EPERM"];

/** The answer of a sandbox whose node or database does not respond: its command then gets this problem. */
const unavailable = z.looseObject({ status: z.literal(503), code: z.string() });

/** The state that a sandbox tells of itself. */
export const described = z.looseObject({ pid: z.int(), urls: z.looseObject({ control: z.url() }) });

/**
 * Finds the sandbox that runs in a data directory.
 *
 * @param signal - aborts when it had to identify itself.
 * @throws StoreUnavailableError when this user may not read what a sandbox has written there.
 * @returns null when no sandbox answers, when another one answers at its URL, and for a copy of a directory in which one runs.
 */
export async function findRunning(
  directory: string,
  signal = AbortSignal.timeout(answerTimeoutMs),
): Promise<SandboxDescription | null> {
  const text = await readOwn(join(directory, "sandbox.json"));
  const description = text === null ? null : parseDescription(text);
  if (description === null || (await isCopy(directory))) return null;
  const answer = await fetchDirect(`${description.urls.control}/status`, { signal })
    .then(async (response) => await response.json())
    .catch(noneAnswers);
  if (unavailable.safeParse(answer).success)
    return (await findProcess(description.pid)) === undefined ? null : description;
  // A port that a killed sandbox had may be anyone's by now.
  const { data } = described.safeParse(answer);
  return data?.pid === description.pid && data.urls.control === description.urls.control ? description : null;
}

/**
 * Says that no sandbox can be asked in a data directory, and what to do.
 *
 * @param advice - what to do if no process has taken it; by default nothing is said.
 * @example throw new Error(await describeNone(".sandbox", "Start one with routing-sandbox start."))
 */
export async function describeNone(directory: string, ...advice: readonly string[]): Promise<string> {
  const owner = await readOwner(directory);
  if (owner === null || !isRunning(owner)) return [`No sandbox runs in ${directory}.`, ...advice].join(" ");
  return (await fileKind(join(directory, "sandbox.json"))) === "missing"
    ? `Process ${owner.pid} has taken ${directory}, in which there is no sandbox.json. Wait until the sandbox has started; if it has, the file was removed: stop it with routing-sandbox stop, and start it again.`
    : `Process ${owner.pid} has taken ${directory}, but no sandbox responds as its sandbox.json says. Wait until it has started, or continue it if it was suspended (kill -CONT ${owner.pid}); otherwise stop it with routing-sandbox stop, and start it again.`;
}

/**
 * Returns null for the error of a request that no process has answered.
 *
 * @throws Error when the system has refused the connection.
 */
export function noneAnswers(error: unknown): null {
  const refusal = causesOf(error).find((cause) => refusals.includes(codeOf(cause) ?? ""));
  if (refusal === undefined) return null;
  throw new Error(
    `The system refused a connection to the sandbox: ${describeFileError(refusal)}. Correct this, and run the command again.`,
    { cause: error },
  );
}

/** Parses the description that a sandbox wrote of itself; null when it is not complete. */
function parseDescription(text: string): SandboxDescription | null {
  try {
    const description: SandboxDescription = JSON.parse(text);
    return described.safeParse(description).success ? description : null;
  } catch {
    return null;
  }
}
