import { createInterface } from "node:readline";
import { beforeAll, expect, test } from "vitest";
import type { Sandbox } from "../../../sandbox/create-sandbox.ts";
import { operations } from "../../../server/operations.ts";
import { startInFolder } from "../program.ts";
import { runCli, startCli, tryCli } from "../run-cli.ts";

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

test("logs, also with --json, shows control characters of a path as escapes, and JSON keeps its values", async () => {
  // An erased screen, a title of the window, a direction of writing, a control of the second set.
  const hostile = "%1b]0;x%07%1b[2J%E2%80%AE%C2%9B%E2%80%8B";
  await fetch(`${sandbox.description.urls.api}/wallet/${hostile}/purchase/x`);
  await fetch(`${sandbox.description.urls.api}/v1/routing/programs/${hostile}?x=${hostile}`);
  const text = await runCli("logs", "--limit", "2", "--data-dir", folder);
  const json = await runCli("logs", "--limit", "2", "--json", "--data-dir", folder);
  for (const printed of [text, json])
    expect(printed.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  const read = await fetch(`${sandbox.description.urls.control}/requests?limit=2`);
  const { data } = (await read.json()) as { data: unknown[] };
  expect(
    json
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual(data.toReversed());
});

test("logs refuses an operation that does not exist, and names the operations", async () => {
  const listed = operations.map(({ id }) => JSON.stringify(id)).join(", ");
  expect(await tryCli(["logs", "--operation", "nope", "--data-dir", folder])).toEqual({
    code: 1,
    stdout: "",
    stderr: `--operation must be one of ${listed}, not "nope".\n`,
  });
});

test("logs --follow prints requests as they are answered, and ends with the sandbox or by a signal", async () => {
  const follower = startCli(["logs", "--follow", "--limit", "1", "--data-dir", folder]);
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
  expect(await follower.exited).toBe(0);
});
