import type { Command } from "commander";
import { explainBytes } from "../../sandbox/lib/http/connection-limits.ts";
import { describeFileError } from "../../server/lib/describe-file-error.ts";
import { readInput } from "../../server/lib/file-kind.ts";
import { callControl } from "../running/call-control.ts";
import { dataDirectoryOption, jsonOption, type SandboxFlags } from "../shared-options.ts";
import { newCommand, print, type Terminal } from "../terminal.ts";

interface ExplainFlags extends SandboxFlags {
  readonly for?: string;
  readonly call?: unknown;
  readonly typedData?: string;
  readonly decision?: string;
  readonly signature?: string;
}

/** `routing-sandbox explain`: whether a transaction, a call or typed data would be accepted and for what, and if not why. */
export function explainCommand(terminal: Terminal): Command {
  return newCommand(terminal, "explain")
    .description(
      "print which step would accept a transaction, or why none would; with --call, --typed-data or --decision, the same for a call or a signature that was not sent",
    )
    .argument("[hash]", "the transaction's hash", hash)
    .option(
      "--call <json>",
      'a call that was not sent, as JSON with "from", "to" and, if needed, "data" and "value"',
      call,
    )
    .option(
      "--typed-data <file>",
      "typed data (EIP-712) that a wallet signs, as JSON in a file; - reads standard input",
    )
    .option(
      "--decision <file>",
      "a decision that a reviewer signs, as JSON in a file; - reads standard input",
    )
    .option(
      "--signature <text>",
      "with --typed-data: the signature of the wallet, in hex; with --decision: that of the reviewer, in base64url",
    )
    .option(
      "--for <id>",
      "the purchase or merchant to compare with; by default that of the refused request or, without one, that of the step with the fewest failed checks",
    )
    .addOption(dataDirectoryOption())
    .addOption(jsonOption())
    .action(async (transaction: string | undefined, flags: ExplainFlags) => {
      const told = await ask(terminal, transaction, flags);
      print(terminal, { json: flags.json }, told.answer, told.text);
      // A script can tell by the exit code.
      if (!told.answer.accepted) terminal.exitCode = 1;
    });
}

/** Asks the running sandbox about the one thing that was named. */
async function ask(terminal: Terminal, transaction: string | undefined, flags: ExplainFlags) {
  const { dataDir, for: id, call: unsent, typedData, decision, signature } = flags;
  const named = [transaction, unsent, typedData, decision].filter((one) => one !== undefined);
  if (named.length !== 1)
    throw new Error(
      `explain needs one of a transaction hash, --call, --typed-data and --decision, and ${named.length} are given. Pass one of them.`,
    );
  if (signature !== undefined && typedData === undefined && decision === undefined)
    throw new Error("--signature is of typed data or of a decision. Pass --typed-data or --decision too.");
  const color = terminal.stdout.isTTY ?? false;
  const about = id === undefined ? {} : { for: id };
  const signed = { ...about, signature };
  if (typedData !== undefined) {
    const typed_data = await readJson(terminal, "--typed-data", typedData);
    return await askTypedData({ typed_data, ...signed }, dataDir, color);
  }
  if (decision !== undefined) {
    const body = { decision: await readJson(terminal, "--decision", decision), ...signed };
    return await askDecision(body, dataDir, color);
  }
  const { callExplanationSchema, explanationSchema } = await import("../../sandbox/explain/explanation.ts");
  const { renderCallExplanation, renderExplanation } = await import(
    "../../testkit/explanations/render-explanation.ts"
  );
  if (unsent !== undefined) {
    const body = { call: unsent, ...about };
    const answer = callExplanationSchema.parse(await callControl(dataDir, "POST", "/explain", body));
    return { answer, text: renderCallExplanation(answer, color) };
  }
  const query = id === undefined ? "" : `?for=${encodeURIComponent(id)}`;
  const path = `/explain/${transaction}${query}`;
  const answer = explanationSchema.parse(await callControl(dataDir, "GET", path));
  return { answer, text: renderExplanation(answer, color) };
}

async function askTypedData(body: object, dataDir: string, color: boolean) {
  const { typedDataExplanationSchema } = await import(
    "../../sandbox/explain/signatures/signature-explanation.ts"
  );
  const { renderTypedDataExplanation } = await import("../../testkit/explanations/render-signature.ts");
  const answer = typedDataExplanationSchema.parse(await callControl(dataDir, "POST", "/explain", body));
  return { answer, text: renderTypedDataExplanation(answer, color) };
}

async function askDecision(body: object, dataDir: string, color: boolean) {
  const { decisionExplanationSchema } = await import(
    "../../sandbox/explain/signatures/signature-explanation.ts"
  );
  const { renderDecisionExplanation } = await import("../../testkit/explanations/render-signature.ts");
  const answer = decisionExplanationSchema.parse(await callControl(dataDir, "POST", "/explain", body));
  return { answer, text: renderDecisionExplanation(answer, color) };
}

/** Reads JSON from a file, or from standard input for `-`. */
async function readJson({ stdin }: Terminal, flag: string, file: string): Promise<unknown> {
  const source = file === "-" ? "standard input" : file;
  const bytes = await readInput(file === "-" ? stdin : file, { bytes: explainBytes }).catch((error) => {
    throw new Error(
      `${flag} ${file} cannot be read: ${describeFileError(error)}. Name a file, or - for standard input.`,
    );
  });
  try {
    return JSON.parse(bytes.toString());
  } catch {
    throw new Error(`${flag} ${file}: ${source} is not JSON. Write the JSON object there that is signed.`);
  }
}

function hash(text: string): string {
  if (/^0x[0-9a-f]{64}$/i.test(text)) return text;
  throw new Error(`hash "${text}" is not a transaction hash. Pass 0x and 64 hexadecimal digits.`);
}

function call(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`--call ${text} is not JSON. Pass '{"from":"0x…","to":"0x…","data":"0x…"}'.`);
  }
}
