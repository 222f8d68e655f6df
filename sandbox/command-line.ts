import { Command, CommanderError } from "commander";
import { checkContractCommand } from "./commands/check-contract.ts";
import { demoCommand } from "./commands/demo.ts";
import { explainCommand } from "./commands/explain.ts";
import { faultCommand } from "./commands/fault.ts";
import { joinCommand } from "./commands/join.ts";
import { listenCommand } from "./commands/listen.ts";
import { mineCommand } from "./commands/mine.ts";
import { scenarioCommand } from "./commands/scenario.ts";
import { snapshotCommand } from "./commands/snapshot.ts";
import { startCommand } from "./commands/start.ts";
import { statusCommand } from "./commands/status.ts";
import { travelCommand } from "./commands/travel.ts";

const program = new Command("routing-sandbox")
  .description("Stablecoin commerce on one machine: a chain, a relayer and a routing API that reset as one.")
  .version("0.1.0")
  .showHelpAfterError("Run with --help to see what there is.")
  .addCommand(startCommand())
  .addCommand(joinCommand())
  .addCommand(demoCommand())
  .addCommand(statusCommand())
  .addCommand(travelCommand())
  .addCommand(mineCommand())
  .addCommand(faultCommand())
  .addCommand(snapshotCommand())
  .addCommand(scenarioCommand())
  .addCommand(listenCommand())
  .addCommand(explainCommand())
  .addCommand(checkContractCommand())
  .exitOverride();

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode;
  else {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
