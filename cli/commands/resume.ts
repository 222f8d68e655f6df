import type { Command } from "commander";
import { z } from "zod";
import { callControl } from "../running/call-control.ts";
import { dataDirectoryOption, jsonOption, type SandboxFlags } from "../shared-options.ts";
import { newCommand, print, type Terminal } from "../terminal.ts";

const resumed = z.looseObject({
  operation_id: z.string(),
  attempt: z.number(),
  status: z.string(),
  status_reason: z.string().nullable(),
});

interface ResumeFlags extends SandboxFlags {
  abandon?: boolean;
}

/** `routing-sandbox resume <operation>`: lets an operation that needs attention continue, or gives it up, once a person has looked. */
export function resumeCommand(terminal: Terminal): Command {
  return newCommand(terminal, "resume")
    .description("continue a relay operation that needs attention")
    .argument(
      "<operation>",
      "the id of the relay operation, from GET /v1/routing/programs/{program}/transactions",
    )
    .option(
      "--abandon",
      "give up the current attempt, whose nonce was taken by another transaction; the next request for the same effect starts a new attempt",
    )
    .addOption(dataDirectoryOption())
    .addOption(jsonOption())
    .action(async (operation: string, { abandon = false, dataDir, json }: ResumeFlags) => {
      const path = `/operations/${encodeURIComponent(operation)}/resume`;
      const answer = resumed.parse(await callControl(dataDir, "POST", path, { abandon }));
      print(terminal, { json }, answer, tell(answer));
    });
}

function tell({ operation_id, attempt, status, status_reason }: z.infer<typeof resumed>): string {
  if (status_reason === "abandoned")
    return `The attempt of ${operation_id} is abandoned. Send its request again to start attempt ${attempt}.`;
  return `${operation_id} is ${status} now${status_reason === null ? "" : `: ${status_reason}`}.`;
}
