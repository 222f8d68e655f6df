import { Command } from "commander";
import { findRunning } from "../data-directory/find-running.ts";
import { explanationSchema } from "../explain/explanation.ts";
import { renderExplanation } from "../explain/render-explanation.ts";

/** `routing-sandbox explain <hash>`: whether a transaction would be accepted and for what, and if not why. */
export function explainCommand(): Command {
  return new Command("explain")
    .description("say of a transaction whether it would be accepted and for what, and if not why")
    .argument("<hash>", "the transaction's hash")
    .option("--data-dir <folder>", "where the running sandbox is kept", ".sandbox")
    .option("--json", "print JSON")
    .action(async (hash: string, { dataDir, json }: { dataDir: string; json?: boolean }) => {
      const running = await findRunning(dataDir);
      if (running === null)
        throw new Error(`No sandbox runs in ${dataDir}; start one with npm start, or name its --data-dir.`);
      const response = await fetch(`${running.urls.control}/explain/${encodeURIComponent(hash)}`);
      const answer: unknown = await response.json();
      if (!response.ok) throw new Error(detailOf(answer));
      const explanation = explanationSchema.parse(answer);
      process.stdout.write(
        json
          ? `${JSON.stringify(explanation)}\n`
          : renderExplanation(explanation, process.stdout.isTTY ?? false),
      );
      // A script can tell by the exit code.
      if (!explanation.accepted) process.exitCode = 1;
    });
}

function detailOf(answer: unknown): string {
  const detail = typeof answer === "object" && answer !== null ? Reflect.get(answer, "detail") : undefined;
  return typeof detail === "string" ? detail : "The sandbox could not explain it.";
}
