import { Command } from "commander";
import { dataDirectoryOption, jsonOption, type SandboxFlags } from "../options.ts";
import { print } from "../print.ts";
import { callControl } from "../running/call-control.ts";

interface ExplainFlags extends SandboxFlags {
  readonly for?: string;
  readonly call?: unknown;
}

/** `routing-sandbox explain`: whether a transaction or a call would be accepted and for what, and if not why. */
export function explainCommand(): Command {
  return new Command("explain")
    .description(
      "print which step would accept a transaction, or why none would; with --call, the same for a call that was not sent",
    )
    .argument("[hash]", "the transaction's hash", hash)
    .option(
      "--call <json>",
      'a call that was not sent, as JSON with "from", "to" and, if needed, "data" and "value"',
      call,
    )
    .option(
      "--for <id>",
      "the purchase or merchant to compare it with; default: that of the refused submission",
    )
    .addOption(dataDirectoryOption())
    .addOption(jsonOption())
    .action(async (transaction: string | undefined, flags: ExplainFlags) => {
      const told = await ask(transaction, flags);
      print({ json: flags.json }, told.answer, told.text);
      // A script can tell by the exit code.
      if (!told.answer.accepted) process.exitCode = 1;
    });
}

/** Asks the running sandbox about the one thing that was named. */
async function ask(transaction: string | undefined, { dataDir, for: id, call: unsent }: ExplainFlags) {
  const { callExplanationSchema, explanationSchema } = await import(
    "../../sandbox/hosts/explain/explanation.ts"
  );
  const { renderCallExplanation, renderExplanation } = await import("../../testkit/render-explanation.ts");
  const color = process.stdout.isTTY ?? false;
  if (Number(transaction !== undefined) + Number(unsent !== undefined) !== 1)
    throw new Error("explain needs either a transaction hash or --call. Pass one of them.");
  if (unsent !== undefined) {
    const body = { call: unsent, ...(id === undefined ? {} : { for: id }) };
    const answer = callExplanationSchema.parse(await callControl(dataDir, "POST", "/explain", body));
    return { answer, text: renderCallExplanation(answer, color) };
  }
  const query = id === undefined ? "" : `?for=${encodeURIComponent(id)}`;
  const path = `/explain/${transaction}${query}`;
  const answer = explanationSchema.parse(await callControl(dataDir, "GET", path));
  return { answer, text: renderExplanation(answer, color) };
}

function hash(text: string): string {
  if (/^0x[0-9a-f]{64}$/i.test(text)) return text;
  throw new Error(`hash "${text}" is not a transaction hash. Pass 0x and 64 hex digits.`);
}

function call(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`--call ${text} is not JSON. Pass '{"from":"0x…","to":"0x…","data":"0x…"}'.`);
  }
}
