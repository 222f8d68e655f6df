import { type Command, InvalidArgumentError } from "commander";
import type { z } from "zod";
import { readFingerprint } from "../../sandbox/control/sandbox-operations.ts";
import { deliver } from "../../sandbox/given/operations.ts";
import { rotateKeys } from "../../sandbox/receiver/operations.ts";
import { resumeOperation } from "../../sandbox/relayer/operations.ts";
import { escapeControls } from "../../server/lib/escape-controls.ts";
import { controlCommand } from "../control-command.ts";
import { requireRunning } from "../running/call-control.ts";
import type { SandboxFlags } from "../shared-options.ts";
import { newCommand, type Terminal } from "../terminal.ts";

type Notification = z.output<typeof deliver.success.schema>["notifications"][number];

/** `routing-sandbox keys rotate notifications`: signs with new keys from now on. */
export function keysCommand(terminal: Terminal): Command {
  return newCommand(terminal, "keys")
    .description("manage the signing keys of the service")
    .addCommand(
      controlCommand(
        terminal,
        rotateKeys,
        ({ rotated }) =>
          `New keys sign ${rotated.join(" and ")} from now on; sandbox.json has the new secret.`,
      ),
    );
}

/** `routing-sandbox resume <operation>`: lets an operation that needs attention continue, or gives it up, once a person has looked. */
export function resumeCommand(terminal: Terminal): Command {
  return controlCommand(terminal, resumeOperation, ({ operation_id, attempt, status, status_reason }) =>
    status_reason === "abandoned"
      ? `The attempt of ${operation_id} is abandoned. Send its request again to start attempt ${attempt}.`
      : `${operation_id} is ${status} now${status_reason === null ? "" : `: ${status_reason}`}.`,
  );
}

/** `routing-sandbox deliver`: delivers every undelivered event of the running sandbox. */
export function deliverCommand(terminal: Terminal): Command {
  return controlCommand(
    terminal,
    deliver,
    ({ notifications }) => {
      const exhausted = notifications.filter(isExhausted);
      const counts = `Events delivered: ${notifications.length - exhausted.length}; exhausted: ${exhausted.length}.`;
      return [counts, ...exhausted.map(describe)].join("\n");
    },
    async ({ notifications }, { dataDir }) => {
      const exhausted = notifications.filter(isExhausted);
      if (exhausted.length === 0) return;
      const { receiver } = await requireRunning(dataDir);
      throw new Error(
        `${receiver.url} did not accept ${exhausted.map(({ event_id }) => event_id).join(", ")}, and an exhausted event gets no further attempt. ` +
          "Correct the receiver (or clear its faults with fault clear) for later events, and read the purchase or merchant of this one from the API.",
      );
    },
  );
}

/** `routing-sandbox fingerprint`: one digest of the whole state of the running sandbox, compared with that of an earlier run. */
export function fingerprintCommand(terminal: Terminal): Command {
  return controlCommand(
    terminal,
    readFingerprint,
    ({ digest }) => digest,
    ({ digest }, { expect }: SandboxFlags & { expect?: string }) => {
      if (expect !== undefined && expect !== digest)
        throw new Error(
          `The fingerprint is ${digest}, not ${expect} as --expect says. Compare the steps of the runs, or pass the new digest.`,
        );
    },
  ).option("--expect <digest>", "exit with 1 if the digest differs from this one", readDigest);
}

function readDigest(text: string): string {
  if (/^0x[0-9a-f]{64}$/i.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError("Pass 0x and 64 hex digits, as fingerprint prints them.");
}

function isExhausted({ status }: Notification): boolean {
  return status === "exhausted";
}

/** Says how the last attempt of a notification failed. */
function describe({ event_id, attempts }: Notification): string {
  const last = attempts.at(-1);
  const made = `${attempts.length} ${attempts.length === 1 ? "attempt" : "attempts"}`;
  return `  ${event_id}: ${made}; the last one got ${last === undefined ? "none" : describeOutcome(last)}`;
}

function describeOutcome({ status_code, error, response_body }: Notification["attempts"][number]): string {
  if (status_code === null) return `no response: ${escapeControls(error ?? "the sandbox ended during it")}`;
  const said = error ?? response_body?.trim() ?? "";
  const shown = said.length > longestShown ? `${said.slice(0, longestShown - 1)}…` : said;
  return `status ${status_code}${shown === "" ? "" : `: ${escapeControls(shown)}`}`;
}

/** The most characters of a receiver's answer that are printed. */
const longestShown = 200;
