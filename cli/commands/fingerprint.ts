import { type Command, InvalidArgumentError } from "commander";
import { z } from "zod";
import { callControl } from "../running/call-control.ts";
import { dataDirectoryOption, jsonOption, type SandboxFlags } from "../shared-options.ts";
import { newCommand, print, type Terminal } from "../terminal.ts";

interface FingerprintFlags extends SandboxFlags {
  readonly expect?: string;
}

const answered = z.looseObject({ digest: z.string() });

/** `routing-sandbox fingerprint`: one digest of the whole state of the running sandbox, compared with that of an earlier run. */
export function fingerprintCommand(terminal: Terminal): Command {
  return newCommand(terminal, "fingerprint")
    .description("print the fingerprint of the running sandbox, a digest of its whole state")
    .option("--expect <digest>", "exit with 1 if the digest differs from this one", digest)
    .addOption(dataDirectoryOption())
    .addOption(jsonOption("print all digests as JSON"))
    .action(async ({ dataDir, json, expect }: FingerprintFlags) => {
      const fingerprint = answered.parse(await callControl(dataDir, "GET", "/fingerprint"));
      print(terminal, { json }, fingerprint, fingerprint.digest);
      if (expect !== undefined && expect !== fingerprint.digest)
        throw new Error(
          `The fingerprint is ${fingerprint.digest}, not ${expect} as --expect says. Compare the steps of the runs, or pass the new digest.`,
        );
    });
}

function digest(text: string): string {
  if (/^0x[0-9a-f]{64}$/i.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError("Pass 0x and 64 hex digits, as fingerprint prints them.");
}
