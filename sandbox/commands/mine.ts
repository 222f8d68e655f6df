import { Command, InvalidArgumentError } from "commander";
import { z } from "zod";
import { callControl } from "../control/call-control.ts";

const mined = z.object({ block_number: z.int() });

/** `routing-sandbox mine 3`: mines blocks, so that confirmations come. */
export function mineCommand(): Command {
  return new Command("mine")
    .description("mine blocks")
    .argument("[blocks]", "how many", count, 1)
    .option("--data-dir <folder>", "where the running sandbox is kept", ".sandbox")
    .option("--json", "print JSON")
    .action(async (blocks: number, { dataDir, json }: { dataDir: string; json?: boolean }) => {
      const answer = mined.parse(await callControl(dataDir, "POST", "/blocks", { blocks }));
      process.stdout.write(
        json ? `${JSON.stringify(answer)}\n` : `The chain is at block ${answer.block_number}.\n`,
      );
    });
}

function count(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new InvalidArgumentError("It must be a number from 1 to 9999.");
  return Number(text);
}
