import { type Command, InvalidArgumentError } from "commander";
import { z } from "zod";
import type { MiningPace } from "../../sandbox/chain/clock/mining.ts";
import { mostBlocks, mostMiningSeconds } from "../../sandbox/chain/clock/mining-limits.ts";
import { howToRun } from "../../sandbox/lib/package-root.ts";
import { callControl } from "../running/call-control.ts";
import { dataDirectoryOption, jsonOption, type SandboxFlags, wholeNumber } from "../shared-options.ts";
import { newCommand, print, type Terminal } from "../terminal.ts";

interface MineFlags extends SandboxFlags {
  every?: MiningPace;
}

const mined = z.object({ block_number: z.int() });

/** `routing-sandbox mine 3`: mines blocks, so that confirmations come; `--every` says when they come by themselves. */
export function mineCommand(terminal: Terminal): Command {
  return newCommand(terminal, "mine")
    .description("mine blocks, or set when blocks are mined")
    .argument("[blocks]", "the number of blocks", wholeNumber(1, mostBlocks), 1)
    .option(
      "--every <pace>",
      "when to mine from now on: at once, a block for each transaction (transaction); only when you run mine (never); or a number of seconds between blocks",
      pace,
    )
    .addOption(dataDirectoryOption())
    .addOption(jsonOption())
    .action(async (blocks: number, { dataDir, json, every }: MineFlags, command: Command) => {
      if (every !== undefined) {
        if (command.args.length > 0)
          command.error("error: mine takes a number of blocks or --every, not both. Leave one of them out.");
        const answer = await callControl(dataDir, "POST", "/mining", { every });
        print(terminal, { json }, answer, describe(every));
        return;
      }
      const answer = mined.parse(await callControl(dataDir, "POST", "/blocks", { blocks }));
      print(terminal, { json }, answer, `The chain is at block ${answer.block_number}.`);
    });
}

function pace(text: string): MiningPace {
  if (text === "transaction" || text === "never") return text;
  if (!/^[1-9]\d{0,8}$/.test(text) || Number(text) > mostMiningSeconds)
    throw new InvalidArgumentError(
      `It must be transaction, never, or a number of seconds from 1 to ${mostMiningSeconds}.`,
    );
  return Number(text);
}

function describe(every: MiningPace): string {
  if (every === "transaction") return "A block is mined for each transaction, immediately.";
  if (every === "never") return `Blocks are mined only when you run ${howToRun("mine")}.`;
  return `A block is mined every ${every} s.`;
}
