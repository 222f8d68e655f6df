import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { TestKit } from "../../kit/test-kit.ts";
import { serveWallets } from "../wallets/wallet-host.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

test("Redocly's respect runs the Arazzo lifecycle on a running sandbox", async () => {
  const kit = await TestKit.shared();
  await using wallets = await serveWallets(kit);
  const inputs = {
    account_key: kit.accountKey,
    program: kit.program,
    merchant: kit.wallet("merchant").address,
    buyer: kit.wallet("buyer").address,
    beneficiary: kit.wallet("beneficiary").address,
  };
  const parameters = [
    "respect",
    "docs/openapi/lifecycle.arazzo.yaml",
    "--server",
    `routing=${kit.base}`,
    "--server",
    `wallets=${wallets.url}`,
    "--input",
    JSON.stringify(inputs),
  ];
  const { stdout, stderr } = await promisify(execFile)(`${root}node_modules/.bin/redocly`, parameters, {
    cwd: root,
    env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
  }).catch((error: { stdout: string; stderr: string }) => error);
  const told = stdout + stderr;
  expect(told).toMatch(/Workflows: 1 passed, 1 total/);
  expect(told).not.toContain("✗");
  const purchases = await kit.sandbox.store.list("purchases", {});
  expect(purchases.map(({ value }) => value.status)).toEqual(["refunded"]);
});
