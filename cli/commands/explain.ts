import { Command } from "commander";
import { dataDirectoryOption, jsonOption, type SandboxFlags } from "../options.ts";
import { print } from "../print.ts";
import { callControl } from "../running/call-control.ts";

interface ExplainFlags extends SandboxFlags {
  readonly for?: string;
}

/** `routing-sandbox explain <hash>`: whether a transaction would be accepted and for what, and if not why. */
export function explainCommand(): Command {
  return new Command("explain")
    .description("print which step of the API would accept a transaction, or why none would")
    .argument("<hash>", "the transaction's hash", hash)
    .option(
      "--for <id>",
      "the purchase or merchant to compare it with; default: that of the refused submission",
    )
    .addOption(dataDirectoryOption())
    .addOption(jsonOption())
    .action(async (transaction: string, { dataDir, json, for: id }: ExplainFlags) => {
      const { explanationSchema } = await import("../../sandbox/hosts/explain/explanation.ts");
      const { renderExplanation } = await import("../../testkit/render-explanation.ts");
      const answer = await callControl(
        dataDir,
        "GET",
        `/explain/${transaction}${id === undefined ? "" : `?for=${encodeURIComponent(id)}`}`,
      );
      const explanation = explanationSchema.parse(answer);
      print({ json }, explanation, renderExplanation(explanation, process.stdout.isTTY ?? false));
      // A script can tell by the exit code.
      if (!explanation.accepted) process.exitCode = 1;
    });
}

function hash(text: string): string {
  if (/^0x[0-9a-f]{64}$/i.test(text)) return text;
  throw new Error(`hash "${text}" is not a transaction hash. Pass 0x and 64 hex digits.`);
}
