import type { Command } from "commander";
import type { RequestView, RequestViews } from "../../sandbox/activity/views.ts";
import { escapeControls } from "../../server/lib/escape-controls.ts";
import { ControlRefusedError, callControl, fetchControl } from "../running/call-control.ts";
import {
  dataDirectoryOption,
  jsonOption,
  optionWithDefault,
  type SandboxFlags,
  wholeNumber,
} from "../shared-options.ts";
import { interruption, newCommand, print, type Terminal } from "../terminal.ts";

interface LogsFlags extends SandboxFlags {
  follow?: boolean;
  status?: string;
  operation?: string;
  purchase?: string;
  limit?: number;
}

/** The number of requests that are printed, by default and at most. */
const printed = { usual: 50, most: 200 } as const;

/** `routing-sandbox logs`: the requests of the API with their responses and the calls to the chain node. */
export function logsCommand(terminal: Terminal): Command {
  return newCommand(terminal, "logs")
    .description("print the last API requests with their responses and the decoded calls to the chain node")
    .option("--follow", "continue with each new request when its response is sent, until Ctrl-C")
    .option("--status <status>", "only responses with this status, such as 409, 4xx or lost")
    .option("--operation <id>", "only requests of this API operation, such as createPurchase")
    .option("--purchase <id>", "only requests that name this purchase or other record")
    .addOption(
      optionWithDefault(
        "--limit <number>",
        `how many of the last requests to print, at most ${printed.most}`,
        printed.usual,
        wholeNumber(1, printed.most),
      ),
    )
    .addOption(dataDirectoryOption())
    .addOption(jsonOption("print one JSON object per line"))
    .action(async (flags: LogsFlags) => {
      const { limit = printed.usual } = flags;
      const { data } = await readRequests(flags, { limit: String(limit) });
      const requests = data.toReversed();
      for (const request of requests) print(terminal, flags, request, describe(request));
      if (flags.follow) await followRequests(terminal, flags, requests.at(-1)?.number ?? 0);
      else if (requests.length === 0 && !flags.json) terminal.stderr.write("No request matches.\n");
    });
}

/** Prints requests as they are answered, until Ctrl-C or the end of the sandbox. */
async function followRequests(terminal: Terminal, flags: LogsFlags, printedUpTo: number): Promise<void> {
  const changes = await fetchControl(flags.dataDir, "GET", "/stream");
  const reader = changes.body?.getReader();
  void interruption(terminal).then(async () => await reader?.cancel());
  let seen = printedUpTo;
  for (;;) {
    // The first message says that the stream is ready: what came before it is read then.
    const read = await reader?.read().catch(() => undefined);
    if (read === undefined || read.done) return;
    seen = await printNew(terminal, flags, seen);
  }
}

async function printNew(terminal: Terminal, flags: LogsFlags, seen: number): Promise<number> {
  const { data } = await readRequests(flags, { after: String(seen), limit: String(printed.most) });
  for (const request of data) print(terminal, flags, request, describe(request));
  const last = data.at(-1)?.number ?? seen;
  return data.length === printed.most ? await printNew(terminal, flags, last) : last;
}

async function readRequests(
  { dataDir, status, operation, purchase }: LogsFlags,
  range: { [name: string]: string },
): Promise<RequestViews> {
  const query = new URLSearchParams(range);
  for (const [name, value] of Object.entries({ status, operation, purchase }))
    if (value !== undefined) query.set(name, value);
  const answer = await callControl(dataDir, "GET", `/requests?${query}`).catch(throwInFlags);
  // The sandbox of the same package answers it.
  return answer as RequestViews;
}

/** Throws a refusal that names the flag of each wrong field of the query, as `--status` for `/query/status`. */
function throwInFlags(error: unknown): never {
  if (!(error instanceof ControlRefusedError) || error.errors.length === 0) throw error;
  const wrong = error.errors.map(({ pointer, detail }) => `--${pointer.replace("/query/", "")} ${detail}.`);
  throw new Error(wrong.join(" "));
}

/** A request in words: its line, the refusal, and the calls to the node. */
function describe(request: RequestView): string {
  const { received, method, path, status, code, duration_ms, caller, replayed, refusal, calls } = request;
  const ended = status === null ? "response lost" : [status, code].filter((part) => part !== null).join(" ");
  const notes = [`${duration_ms} ms`, caller, ...(replayed ? ["replayed"] : [])].join(", ");
  const failed = refusal?.checks.filter(({ ok }) => !ok) ?? [];
  return [
    `${received.slice(11, 23)}  ${method} ${escapeControls(path)}  ${ended}  (${notes})`,
    ...(refusal === null ? [] : [`    ${escapeControls(refusal.detail)}`]),
    ...failed.map(
      ({ name, expected, actual }) =>
        `    ${name}: expected ${JSON.stringify(expected)}, actual ${JSON.stringify(actual)}`,
    ),
    ...calls.map(
      ({ method: rpc, call, duration_ms: ms, failed: isFailed }) =>
        `    ${rpc}${call === null ? "" : ` ${escapeControls(call)}`}  ${isFailed ? "failed" : ""}${ms === null ? "" : `(${ms} ms)`}`,
    ),
  ].join("\n");
}
