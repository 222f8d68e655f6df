import { Argument, type Command } from "commander";
import { z } from "zod";
import { keyUses } from "../../server/keys/key-use.ts";
import { callControl } from "../running/call-control.ts";
import { dataDirectoryOption, jsonOption, type SandboxFlags } from "../shared-options.ts";
import { newCommand, print, type Terminal } from "../terminal.ts";

const rotated = z.object({ rotated: z.array(z.string()) });

/** `routing-sandbox keys rotate notifications`: signs with new keys from now on. */
export function keysCommand(terminal: Terminal): Command {
  return newCommand(terminal, "keys")
    .description("manage the signing keys of the service")
    .addCommand(
      newCommand(terminal, "rotate")
        .description("rotate signing keys; the old public keys remain published")
        .addArgument(
          new Argument("[uses...]", "which keys").choices(keyUses).default(undefined, "all of them"),
        )
        .addOption(dataDirectoryOption())
        .addOption(jsonOption())
        .action(async (uses: string[], { dataDir, json }: SandboxFlags) => {
          const body = uses.length === 0 ? {} : { uses };
          const answer = rotated.parse(await callControl(dataDir, "POST", "/keys/rotate", body));
          print(
            terminal,
            { json },
            answer,
            `New keys sign ${answer.rotated.join(" and ")} from now on; sandbox.json has the new secret.`,
          );
        }),
    );
}
