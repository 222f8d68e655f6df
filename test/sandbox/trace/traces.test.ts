import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSandbox } from "../../../sandbox/create-sandbox.ts";
import type { TraceView } from "../../../sandbox/trace/trace-view.ts";

const path = (name: string) => fileURLToPath(new URL(`../../../${name}`, import.meta.url));

let folder: string;
let left: string[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "routing-sandbox-traces-"));
  const config = `export default ${JSON.stringify({ test: { include: [path("test/sandbox/trace/failing-suite.ts")], testTimeout: 120_000 } })}`;
  await writeFile(join(folder, "vitest.config.mjs"), config);
  const child = spawn(
    path("node_modules/.bin/vitest"),
    ["run", "--root", path(""), "--config", join(folder, "vitest.config.mjs")],
    { cwd: folder, env: { ...process.env, NO_COLOR: "1", TRACES: join(folder, "left") } },
  );
  const [output, problems] = await Promise.all([
    buffer(child.stdout),
    buffer(child.stderr),
    once(child, "close"),
  ]);
  left = await readdir(join(folder, "left")).catch(() => {
    throw new Error(`No trace was left.\n${output}\n${problems}`);
  });
}, 240_000);

afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function summary(name: string): Promise<string> {
  return textOf(await readFile(join(folder, "left", `failing-suite-${name}.trace.html`), "utf8"));
}

/** The text that the page of a trace has before its modules run, as a person reads it. */
function textOf(page: string): string {
  const text = /<pre>([\s\S]*?)<\/pre>/.exec(page)?.[1] ?? "";
  return text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&");
}

test("a test that fails leaves a trace and a snapshot file, and one that passes leaves nothing", () => {
  const names = [
    "bad-webhook-signature",
    "late-claim",
    "lost-answer",
    "missing-enrollment",
    "reverted-refund",
    "timeout",
    "unhandled-rejection",
    "wrong-amount",
    "wrong-chain-state",
    "wrong-wallet",
  ].map((name) => `failing-suite-${name}`);
  expect(left.filter((name) => name.endsWith(".html"))).toEqual(names.map((name) => `${name}.trace.html`));
  expect(left.filter((name) => name.endsWith(".snapshot"))).toEqual(names.map((name) => `${name}.snapshot`));
});

test.each([
  ["wrong-wallet", "wallet: expected"],
  ["lost-answer", "activatePurchase: response lost"],
  ["late-claim", "Time moved [^.]* ahead"],
  ["late-claim", "DeadlinePassed"],
  ["wrong-amount", "expected '1' to be '[0-9]+'"],
  ["wrong-amount", "pay\\(0x[^)]*, 1\\) of the registrar contract"],
  ["missing-enrollment", "merchant_not_enrolled"],
  ["reverted-refund", "funding_source_insufficient|FundingRevoked"],
  ["bad-webhook-signature", "receiveNotification: 4\\d\\d "],
  ["timeout", "Test timed out in 1000ms"],
  ["timeout", "Fault set: api delay of 60000 ms before commit, for operation createMerchant"],
  ["unhandled-rejection", "Unhandled rejection: no test awaits the refund"],
  ["wrong-chain-state", "reverted: \\w+"],
  ["wrong-wallet", "It was sent by 0x\\w+ \\(stranger\\); the bound wallet is 0x\\w+ \\(buyer\\)\\."],
  ["lost-answer", "fetch failed\nCaused by: socket hang up"],
  ["lost-answer", "Last failure\n\\d+\\. \\[api, failed\\] activatePurchase"],
  [
    "lost-answer",
    "Fault\n\\d+\\. \\[fault, ok\\] Fault set: api reset after commit, for operation activatePurchase.*\n +It has acted once\\.",
  ],
  ["late-claim", "deadline \\d{10} \\(2026-01-\\d\\dT"],
  ["timeout", "\\[api, open\\] POST .*merchants: no response for \\d+ ms"],
  [
    "wrong-chain-state",
    "Nothing is left to pay\\. It reverted: AmountOutOfRange\\(value amount, actual 1, min 1, max 0\\)\\.$",
  ],
])("the trace of %s names the cause: %s", async (name, cause) => {
  const text = await summary(name);
  expect(text).toMatch(new RegExp(cause, "m"));
  expect(text).not.toMatch(/rs[ck]_(?!redacted)/);
});

test("a trace adds no label to an address that its sentence names already", async () => {
  for (const name of left.filter((file) => file.endsWith(".html"))) {
    const text = textOf(await readFile(join(folder, "left", name), "utf8"));
    expect(text).not.toMatch(/\b(buyer|merchant|beneficiary)[^\w"]{1,4}0x\w{40} \(\1\)/);
  }
});

test("a trace shows the line of the test that failed, in its code", async () => {
  expect(await summary("wrong-amount")).toMatch(/> \d+ \| {3}expect\(unwrap\(read\)\.figures\.paid\)/);
});

test("a trace of a timeout shows the line of the given state that has not finished", async () => {
  expect(await summary("timeout")).toMatch(/> \d+ \| {3}await sandbox\.given\.merchant/);
});

test.each(["lost-answer", "timeout", "unhandled-rejection"])(
  "the trace of %s has a place in the test, and of the code only that test",
  async (name) => {
    const text = await summary(name);
    const title = name.replace("-", " ");
    const [, excerpt = ""] = /failing-suite\.ts:\d+:\d+\n\n([\s\S]*?)\n\n/.exec(text) ?? [];
    expect(excerpt).toContain(`test("${title}"`);
    expect(excerpt.match(/\| test\(/g)).toHaveLength(1);
  },
);

test("the entries of given states are counted as preparation, up to the first own step", async () => {
  const entries = (await summary("wrong-chain-state")).split("Timeline, of which ")[1]?.split("\n") ?? [];
  const [, prepared] = /^(\d+) prepared the test$/.exec(entries[0] ?? "") ?? [];
  expect(entries.at(Number(prepared))).toMatch(/readPurchase: 200/);
  expect(entries.at(Number(prepared) + 1)).toMatch(/buyer called pay\(.*reverted$/);
  expect(await summary("wrong-wallet")).toMatch(/of which 9 prepared/);
});

test("a trace has no account key, even if a client has sent one as a reference", async () => {
  const page = await readFile(join(folder, "left", "failing-suite-wrong-amount.trace.html"), "utf8");
  expect(page).toContain('"reference":"rsk_redacted_');
  expect(page).not.toMatch(/rs[ck]_(?!redacted)[\w-]{20}/);
});

test("a trace has at most one megabyte, and its snapshot file can be started", async () => {
  const { size } = await stat(join(folder, "left", "failing-suite-wrong-wallet.trace.html"));
  expect(size).toBeLessThan(1_000_000);
  await using sandbox = await createSandbox({
    from: join(folder, "left", "failing-suite-wrong-wallet.snapshot"),
  });
  const answer = await fetch(`${sandbox.description.urls.control}/explorer/purchases`);
  expect(await answer.json()).toMatchObject({ data: [{ status: "active" }] });
});

test("the times of a trace never run back", async () => {
  for (const name of left.filter((file) => file.endsWith(".html"))) {
    const page = await readFile(join(folder, "left", name), "utf8");
    const [, json = ""] = /<script type="application\/json" id="trace">(.*?)<\/script>/s.exec(page) ?? [];
    const { entries }: TraceView = JSON.parse(json).trace;
    const times = entries.flatMap(({ at }) => at ?? []);
    expect(times.length).toBeGreaterThan(0);
    expect(times, name).toEqual(times.toSorted());
  }
});

const step =
  /enroll\(|confirmEnrollment|createPurchase|activatePurchase|offer\(|offer: confirmed|pay\(|reconcilePurchase| claim\(|fileClaim|recordDecision|executeRefund|collectRefund\(|collect refund: confirmed/;

test("a trace in live mode has each step after the one that it needs, also within a second", async () => {
  await using sandbox = await createSandbox({ mode: "live" });
  await sandbox.given.purchase({ state: "refunded" });
  const file = join(folder, "live.html");
  await sandbox.trace(file);
  const steps = textOf(await readFile(file, "utf8"))
    .split("\n")
    .flatMap((line) => step.exec(line) ?? []);
  expect(steps).toEqual([
    "enroll(",
    "confirmEnrollment",
    "createPurchase",
    "activatePurchase",
    "offer(",
    "offer: confirmed",
    "pay(",
    "reconcilePurchase",
    " claim(",
    "fileClaim",
    "recordDecision",
    "executeRefund",
    "collectRefund(",
    "collect refund: confirmed",
  ]);
});
