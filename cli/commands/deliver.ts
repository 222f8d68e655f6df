import { Command } from "commander";
import { z } from "zod";
import { dataDirectoryOption, jsonOption, type SandboxFlags } from "../options.ts";
import { print } from "../print.ts";
import { callControl } from "../running/call-control.ts";

const answered = z.object({
  notifications: z.array(z.looseObject({ event_id: z.string(), status: z.enum(["delivered", "exhausted"]) })),
});

/** `routing-sandbox deliver`: delivers every undelivered event of the running sandbox. */
export function deliverCommand(): Command {
  return new Command("deliver")
    .description("deliver every undelivered event of the running sandbox")
    .addOption(dataDirectoryOption())
    .addOption(jsonOption())
    .action(async ({ dataDir, json }: SandboxFlags) => {
      const answer = answered.parse(await callControl(dataDir, "POST", "/deliver"));
      const exhausted = answer.notifications.filter(({ status }) => status === "exhausted");
      const delivered = answer.notifications.length - exhausted.length;
      const ids = exhausted.map(({ event_id }) => event_id).join(", ");
      print({ json }, answer, `Events delivered: ${delivered}; exhausted: ${ids === "" ? "none" : ids}.`);
    });
}
