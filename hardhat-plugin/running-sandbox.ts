import { dirname, join } from "node:path";
import { HardhatPluginError } from "hardhat/plugins";
import { describeNone, findRunning } from "../cli/running/find-running.ts";
import type { SandboxDescription } from "../sandbox/options/description.ts";

/** The name of the network that connects to a sandbox. */
export const sandboxNetwork = "sandbox";

/** The variable that has the URL of the sandbox's chain RPC; `routing-sandbox exec` sets it for its command. */
export const urlVariable = "ROUTING_RPC_URL";

/**
 * Finds the sandbox to connect to: that of `routing-sandbox exec`, or the one that runs in `.sandbox` of the project.
 *
 * @param root - the folder of the project.
 * @throws HardhatPluginError when none runs.
 */
export async function requireProjectSandbox(root: string): Promise<SandboxDescription> {
  const file = process.env["ROUTING_SANDBOX_FILE"];
  const directory = file === undefined ? join(root, ".sandbox") : dirname(file);
  const running = await findRunning(directory);
  if (running !== null) return running;
  throw new HardhatPluginError(
    "routing-sandbox",
    await describeNone(
      directory,
      "Start one with npx routing-sandbox start, or start one for a single command with npx routing-sandbox exec -- npx hardhat test.",
    ),
  );
}
