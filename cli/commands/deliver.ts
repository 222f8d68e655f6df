import type { Command } from "commander";
import { z } from "zod";
import { escapeControls } from "../../server/lib/escape-controls.ts";
import { callControl, requireRunning } from "../running/call-control.ts";
import { dataDirectoryOption, jsonOption, type SandboxFlags } from "../shared-options.ts";
import { newCommand, print, type Terminal } from "../terminal.ts";

const notification = z.looseObject({
  event_id: z.string(),
  status: z.enum(["delivered", "exhausted"]),
  attempts: z.array(
    z.looseObject({
      status_code: z.int().nullable(),
      error: z.string().nullable(),
      response_body: z.string().nullable(),
    }),
  ),
});
const answered = z.object({ notifications: z.array(notification) });

/** `routing-sandbox deliver`: delivers every undelivered event of the running sandbox. */
export function deliverCommand(terminal: Terminal): Command {
  return newCommand(terminal, "deliver")
    .description("deliver every undelivered event of the running sandbox; exit with 1 if one is exhausted")
    .addOption(dataDirectoryOption())
    .addOption(jsonOption())
    .action(async ({ dataDir, json }: SandboxFlags) => {
      const answer = answered.parse(await callControl(dataDir, "POST", "/deliver"));
      const exhausted = answer.notifications.filter(({ status }) => status === "exhausted");
      const counts = [
        `Events delivered: ${answer.notifications.length - exhausted.length}; exhausted: ${exhausted.length}.`,
      ];
      print(terminal, { json }, answer, [...counts, ...exhausted.map(describe)].join("\n"));
      if (exhausted.length === 0) return;
      const { receiver } = await requireRunning(dataDir);
      throw new Error(
        `${receiver.url} did not accept ${exhausted.map(({ event_id }) => event_id).join(", ")}, and an exhausted event gets no further attempt. ` +
          "Correct the receiver (or clear its faults with fault clear) for later events, and read the purchase or merchant of this one from the API.",
      );
    });
}

/** Says how the last attempt of a notification failed. */
function describe({ event_id, attempts }: z.output<typeof notification>): string {
  const last = attempts.at(-1);
  const made = `${attempts.length} ${attempts.length === 1 ? "attempt" : "attempts"}`;
  return `  ${event_id}: ${made}; the last one got ${last === undefined ? "none" : describeOutcome(last)}`;
}

function describeOutcome({
  status_code,
  error,
  response_body,
}: z.output<typeof notification>["attempts"][number]): string {
  if (status_code === null) return `no response: ${escapeControls(error ?? "the sandbox ended during it")}`;
  const said = error ?? response_body?.trim() ?? "";
  const shown = said.length > longestShown ? `${said.slice(0, longestShown - 1)}…` : said;
  return `status ${status_code}${shown === "" ? "" : `: ${escapeControls(shown)}`}`;
}

/** The most characters of a receiver's answer that are printed. */
const longestShown = 200;
