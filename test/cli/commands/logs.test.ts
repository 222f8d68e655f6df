import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import type { Sandbox } from "../../../sandbox/create-sandbox.ts";
import { operations } from "../../../server/api/operations/table.ts";
import { cli, runCli, startInFolder } from "../program.ts";

let sandbox: Sandbox;
let folder: string;

beforeAll(async () => {
  const started = await startInFolder();
  ({ sandbox, folder } = started);
  return started.end;
});

test("logs prints the requests with their decoded calls, and --json one object per line", async () => {
  const { purchase } = await sandbox.given.purchase({ state: "active" });
  const text = await runCli("logs", "--purchase", purchase.id, "--data-dir", folder);
  expect(text).toMatch(new RegExp(`POST \\S+/purchases/${purchase.id}/activate {2}200 `));
  expect(text).toMatch(/ {4}eth_sendRawTransaction offer\(.*\) of the registrar contract/);
  const lines = (await runCli("logs", "--status", "2xx", "--json", "--data-dir", folder)).trim().split("\n");
  expect(lines.map((line) => JSON.parse(line).operation)).toContain("createPurchase");
});

test("logs refuses an operation that does not exist, and names the operations", async () => {
  const logs = promisify(execFile)(process.execPath, [
    cli,
    "logs",
    "--operation",
    "nope",
    "--data-dir",
    folder,
  ]);
  const listed = operations.map(({ id }) => JSON.stringify(id)).join(", ");
  await expect(logs).rejects.toMatchObject({
    code: 1,
    stderr: `--operation must be one of ${listed}, not "nope".\n`,
  });
});

test("logs --follow prints requests as they are answered, and ends with the sandbox or by a signal", async () => {
  const follower = spawn(process.execPath, [cli, "logs", "--follow", "--limit", "1", "--data-dir", folder]);
  const lines = createInterface(follower.stdout)[Symbol.asyncIterator]();
  const find = async (text: string): Promise<string> => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done) throw new Error(`The output ended without ${text}.`);
      if (value.includes(text)) return value;
    }
  };
  await fetch(`${sandbox.description.urls.api}/first`);
  expect(await find("/first")).toMatch(/GET \/first {2}404 route_not_found/);
  await fetch(`${sandbox.description.urls.api}/second`);
  await find("/second");
  follower.kill("SIGINT");
  const [code] = await once(follower, "close");
  expect(code).toBe(0);
});
