import { expect, test } from "vitest";
import { startSandbox } from "../../end-to-end/started-sandbox.ts";
import { temporaryFolder } from "../../temporary-folder.ts";
import { tryCli } from "../run-cli.ts";

// Waits as long as a command does before it looks whether the sandbox still responds.
test("a command whose request is in progress ends when the sandbox is suspended, and says how to continue it", async () => {
  const folder = await temporaryFolder();
  await using sandbox = await startSandbox(folder);
  const { pid, urls } = sandbox.description;
  const blockNumber = async () => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_blockNumber", params: [] });
    const headers = { "Content-Type": "application/json" };
    const response = await fetch(urls.rpc, { method: "POST", headers, body });
    return (await response.json()) as { result: string };
  };
  const { result: before } = await blockNumber();
  const mining = tryCli(["mine", "5000", "--data-dir", folder]);
  while ((await blockNumber()).result === before);
  process.kill(pid, "SIGSTOP");
  const { code, stderr } = await mining;
  process.kill(pid, "SIGCONT");
  expect(stderr).toBe(
    `The sandbox (process ${pid}) no longer responds, so the outcome of POST /blocks is unknown. Continue the process if it was suspended (kill -CONT ${pid}), or stop it with routing-sandbox stop.\n`,
  );
  expect(code).toBe(1);
});
