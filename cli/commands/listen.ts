import { type Command, InvalidArgumentError } from "commander";
import { faultLimits } from "../../sandbox/faults/fault-matrix.ts";
import type { ReceiverFault } from "../../sandbox/receiver/delivery-recorder.ts";
import { escapeControls } from "../../server/lib/escape-controls.ts";
import type { HeardDelivery } from "../open-receiver.ts";
import { findRunning } from "../running/find-running.ts";
import {
  dataDirectoryOption,
  jsonOption,
  portOption,
  type SandboxFlags,
  wholeNumber,
} from "../shared-options.ts";
import { interruption, newCommand, print, type Terminal } from "../terminal.ts";

const { least, most } = faultLimits.status;

interface ListenFlags extends SandboxFlags {
  port: number;
  secret?: string;
  fail: number;
  status: number;
  delay?: number;
  drop?: boolean;
}

/** `routing-sandbox listen`: a receiver in a terminal. */
export function listenCommand(terminal: Terminal): Command {
  return newCommand(terminal, "listen")
    .description(
      "receive and print notifications in this terminal; options can make the first deliveries fail",
    )
    .addOption(portOption("--port", "port to listen on", 4040))
    .addOption(dataDirectoryOption("the data directory of the sandbox whose secret verifies the deliveries"))
    .option("--secret <whsec>", "the secret that verifies the deliveries, instead of the sandbox's", secret)
    .option("--fail <number>", "how many of the first deliveries fail", wholeNumber(), 0)
    .option(
      "--status <code>",
      `the status of a failing delivery, ${least} to ${most}`,
      wholeNumber(least, most),
      500,
    )
    .option(
      "--delay <milliseconds>",
      "for a failing delivery, wait this long and then respond as usual, instead of responding with --status; the delivery fails only if the sandbox's deliveryTimeoutMs is shorter",
      wholeNumber(0, faultLimits.delayMs),
    )
    .option("--drop", "for a failing delivery, drop the connection instead of responding")
    .addOption(jsonOption("print one JSON object per line"))
    .action(async (flags: ListenFlags) => await hear(terminal, flags));
}

async function hear(terminal: Terminal, flags: ListenFlags): Promise<void> {
  const { openReceiver } = await import("../open-receiver.ts");
  // A directory of another user has a secret that this one cannot read: nothing would be verified.
  if (flags.secret === undefined) await findRunning(flags.dataDir);
  let { fail } = flags;
  const takeFault = () => {
    if (fail === 0) return null;
    fail -= 1;
    return faultOf(flags);
  };
  const listener = await openReceiver({
    port: flags.port,
    // Asked for at each delivery: the sandbox may be started later than this, and its keys may rotate.
    secret: async () => flags.secret ?? (await findRunning(flags.dataDir))?.receiver.hmac_secret ?? null,
    takeFault,
    heard: (delivery) => print(terminal, flags, delivery, describe(delivery)),
  });
  const url = `${listener.url}/`;
  print(
    terminal,
    flags,
    { listening: url },
    `Listening. To receive the notifications of a sandbox here, start it with --receiver-url ${url}. Ctrl-C stops listening.`,
  );
  await interruption(terminal);
  await listener.close();
}

function faultOf({ status, delay, drop }: ListenFlags): ReceiverFault {
  if (drop) return { action: "reset" };
  return delay === undefined ? { action: "answer", status } : { action: "delay", delay_ms: delay };
}

function describe({ number, headers, body, verified, status }: HeardDelivery): string {
  const trust = verified === null ? "no secret known" : verified ? "verified" : "NOT VERIFIED";
  const answer = status === null ? "no response" : `responded with ${status}`;
  const id = headers["webhook-id"] ?? "no webhook-id";
  return `#${number}  ${escapeControls(String(id))}  ${trust}, ${answer}\n    ${escapeControls(body)}`;
}

function secret(text: string): string {
  if (!/^(?:whsec_)?(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text))
    throw new InvalidArgumentError(
      "It must be whsec_ and base64, as in sandbox.json under receiver.hmac_secret.",
    );
  return text;
}
