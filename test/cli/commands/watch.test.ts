import { randomInt } from "node:crypto";
import { once } from "node:events";
import { rename, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { redeployOnChange } from "../../../cli/running/redeploy-on-change.ts";
import { startSandbox } from "../../../cli/running/start-sandbox.ts";
import { readContractArtifact } from "../../../sandbox/chain/contracts.ts";
import type { SandboxDescription } from "../../../sandbox/options/description.ts";
import { temporaryFolder } from "../../temporary-folder.ts";
import { runCli, startCli } from "../run-cli.ts";

/**
 * Returns a free port below those that the system gives to programs that ask for any: while the sandbox is replaced, its ports are free, and no other
 * test may get them.
 */
async function lowPort(): Promise<number> {
  for (;;) {
    const server = createServer().listen(randomInt(10_000, 30_000), "127.0.0.1");
    const port = await once(server, "listening").then(
      () => server.address(),
      () => null,
    );
    server.close();
    if (typeof port === "object" && port !== null) return port.port;
  }
}

test("start --watch replaces the sandbox on the same ports when the artifact changes, and keeps it when the new contract cannot be used", async () => {
  const folder = await temporaryFolder();
  const artifact = join(folder, "MyRegistrar.json");
  const { abi, bytecode } = await readContractArtifact("PurchaseRegistrar");
  // Renamed into place: the watcher could read a file that is not complete yet.
  const write = async (content: object) => {
    const text = JSON.stringify({ contractName: "MyRegistrar", abi, bytecode, ...content });
    await writeFile(`${artifact}.new`, text);
    await rename(`${artifact}.new`, artifact);
  };
  await write({});
  const ports: string[] = [];
  for (const name of ["api", "docs", "rpc", "control"]) ports.push(`--${name}-port`, String(await lowPort()));
  const dataDir = ["--data-dir", join(folder, "data")];
  const options = ["--registrar", artifact, "--watch", "--seed", "watch", "--json", ...dataDir, ...ports];
  const { stdout, stderr, exited, kill } = startCli(["start", ...options]);
  try {
    const printed = createInterface({ input: stdout })[Symbol.asyncIterator]();
    const reported = createInterface({ input: stderr })[Symbol.asyncIterator]();
    const nextSandbox = async () => JSON.parse((await printed.next()).value ?? "") as SandboxDescription;

    const first = await nextSandbox();
    await runCli("given", "purchase", "--state", "paid", ...dataDir);
    await write({ abi: abi.filter((entry) => !("name" in entry && entry.name === "expire")) });
    expect((await reported.next()).value).toMatch(
      /^MyRegistrar does not have the interface IPurchaseRegistrar\. Missing: function expire\(bytes32\)\./,
    );
    expect((await reported.next()).value).toBe("The sandbox still runs with the earlier contract.");
    expect(JSON.parse(await runCli("status", "--json", ...dataDir))).toMatchObject({
      chain: { epoch: first.chain.epoch },
    });

    await write({ bytecode: `${bytecode}00` });
    expect((await reported.next()).value).toBe(
      "MyRegistrar has changed. The sandbox is deleted, and a fresh one starts with the new contract on the same ports.",
    );
    const second = await nextSandbox();
    expect(second.urls).toEqual(first.urls);
    expect(second.chain.epoch).not.toBe(first.chain.epoch);
    await runCli("given", "purchase", "--state", "paid", ...dataDir);
  } finally {
    kill("SIGTERM");
  }
  expect(await exited).toBe(0);
});

test("a contract that has changed after the sandbox read it and before it is watched replaces the sandbox", async () => {
  const folder = await temporaryFolder();
  const artifact = join(folder, "MyRegistrar.json");
  const { abi, bytecode } = await readContractArtifact("PurchaseRegistrar");
  const write = async (code: string) =>
    await writeFile(artifact, JSON.stringify({ contractName: "MyRegistrar", abi, bytecode: code }));
  const output = () => ({ write: () => true });
  const terminal = { stdin: new PassThrough(), stdout: output(), stderr: output(), once: () => {} };
  const [apiPort, docsPort, rpcPort, controlPort] = [
    await lowPort(),
    await lowPort(),
    await lowPort(),
    await lowPort(),
  ];
  const ports = { apiPort, docsPort, rpcPort, controlPort };
  const flags = { dataDir: join(folder, "data"), registrar: artifact, startTimeout: 60_000, ...ports };
  await write(bytecode);
  const first = await startSandbox(terminal, flags);
  await write(`${bytecode}00`);
  const replaced = Promise.withResolvers<void>();
  const last = await redeployOnChange(terminal, first, flags, replaced.promise, () => replaced.resolve());
  await last.close();
  expect(last.description.chain.epoch).not.toBe(first.description.chain.epoch);
});

test("start --watch without --registrar is refused", async () => {
  await expect(runCli("start", "--watch")).rejects.toMatchObject({
    stderr: "error: --watch needs --registrar. Name the artifact of your registrar contract.\n",
  });
});
