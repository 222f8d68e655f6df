import { z } from "zod";
import { CodedError } from "../../protocol/coded-error.ts";
import { howToRun } from "../../sandbox/lib/package-root.ts";
import { wait } from "../../sandbox/lib/time/timers.ts";
import type { SandboxDescription } from "../../sandbox/options/description.ts";
import { askControl, type ControlMethod } from "../../sandbox/service/ask-control.ts";
import { defaultDataDirectory } from "../shared-options.ts";
import { answerTimeoutMs, describeNone, findRunning } from "./find-running.ts";

const refusal = z.object({
  code: z.string().default("control_refused"),
  detail: z.string(),
  errors: z.array(z.object({ pointer: z.string(), detail: z.string() })).default([]),
});

/**
 * Thrown when the control API refuses a request, with what is wrong in each field. It has the code of the answer, or `control_refused` if
 * the answer has none.
 */
export class ControlRefusedError extends CodedError {
  override readonly name = "ControlRefusedError";
  readonly errors: readonly { pointer: string; detail: string }[];

  constructor({ code, detail, errors }: z.output<typeof refusal>) {
    super(code, detail);
    this.errors = errors;
  }
}

/**
 * Asks the control API of the sandbox that runs in a data directory.
 *
 * @throws ControlRefusedError with the sandbox's own sentence when it refuses; Error with what to do when none runs.
 */
export async function callControl(
  dataDirectory: string,
  method: ControlMethod,
  path: string,
  body?: object,
): Promise<unknown> {
  return await (await fetchControl(dataDirectory, method, path, body)).json();
}

/**
 * Asks the control API as {@link callControl} does, for an answer that is not JSON.
 *
 * @throws as {@link callControl} does.
 */
export async function fetchControl(
  dataDirectory: string,
  method: ControlMethod,
  path: string,
  body?: object,
): Promise<Response> {
  const running = await requireRunning(dataDirectory);
  const { control } = running.urls;
  const response = await whileItResponds(
    running,
    `${method} ${path}`,
    async (signal) => await askControl(control, method, path, body, signal),
  );
  if (response.ok) return response;
  const answer: unknown = await response.json();
  const { data } = refusal.safeParse(answer);
  throw data === undefined
    ? new Error(`The sandbox responded with ${response.status}.`)
    : new ControlRefusedError(data);
}

/** Sends a request, which may take long, and gives it up when the sandbox does not respond to others either: when its process is suspended. */
async function whileItResponds(
  { pid, urls }: SandboxDescription,
  request: string,
  send: (signal: AbortSignal) => Promise<Response>,
): Promise<Response> {
  const [ended, silent] = [new AbortController(), new AbortController()];
  const look = async () => {
    for (;;) {
      await wait(answerTimeoutMs, ended.signal);
      if (ended.signal.aborted) return;
      const signal = AbortSignal.any([ended.signal, AbortSignal.timeout(answerTimeoutMs)]);
      await askControl(urls.control, "GET", "/health", undefined, signal).catch(() =>
        silent.abort(
          new Error(
            `The sandbox (process ${pid}) no longer responds, so the outcome of ${request} is unknown. Continue the process if it was suspended (kill -CONT ${pid}), or stop it with routing-sandbox stop.`,
          ),
        ),
      );
    }
  };
  const looking = look();
  try {
    return await send(silent.signal);
  } finally {
    ended.abort();
    await looking;
  }
}

/**
 * Returns the description of the sandbox that runs in a data directory.
 *
 * @throws Error with what to do when none runs.
 */
export async function requireRunning(dataDirectory: string): Promise<SandboxDescription> {
  const running = await findRunning(dataDirectory);
  if (running !== null) return running;
  // Throws where the current folder was removed: in it, no path leads to a sandbox.
  process.cwd();
  const named = dataDirectory === defaultDataDirectory ? [] : ["--data-dir", dataDirectory];
  throw new Error(
    await describeNone(
      dataDirectory,
      `Start one with ${howToRun("start", ...named)}, or name the data directory of a running sandbox with --data-dir.`,
    ),
  );
}
