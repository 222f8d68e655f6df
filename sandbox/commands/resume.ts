import { Command } from "commander";
import { z } from "zod";
import { callControl } from "../control/call-control.ts";

const resumed = z.looseObject({
  operation_id: z.string(),
  status: z.string(),
  status_reason: z.string().nullable(),
});

/** `routing-sandbox resume <operation>`: a person has looked at an operation that needs attention and lets it go on. */
export function resumeCommand(): Command {
  return new Command("resume")
    .description("let a relayer's operation go on that needs a person's attention")
    .argument("<operation>", "the operation's id, as the API lists it under transactions")
    .option("--data-dir <folder>", "where the running sandbox is kept", ".sandbox")
    .option("--json", "print JSON")
    .action(async (operation: string, { dataDir, json }: { dataDir: string; json?: boolean }) => {
      const path = `/operations/${encodeURIComponent(operation)}/resume`;
      const answer = resumed.parse(await callControl(dataDir, "POST", path));
      const reason = answer.status_reason === null ? "" : `: ${answer.status_reason}`;
      process.stdout.write(
        json ? `${JSON.stringify(answer)}\n` : `${answer.operation_id} is ${answer.status} now${reason}.\n`,
      );
    });
}
