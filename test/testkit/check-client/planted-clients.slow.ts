import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { tryCli } from "../../cli/run-cli.ts";
import { temporaryFolder } from "../../temporary-folder.ts";
import type { Mistake } from "./planted/client.ts";

const planted = (file: string) => join(import.meta.dirname, "planted", file);
const typescript = [process.execPath, planted("client.ts")];
const python = ["python3", planted("client.py")];

const reportSchema = z.object({
  clean: z.object({ writes: z.array(z.object({ operation: z.string() })), events: z.array(z.unknown()) }),
  cases: z.array(
    z.object({
      operation: z.string(),
      fault: z.string(),
      verdict: z.string(),
      cause: z.string(),
      trace: z.string().nullable(),
    }),
  ),
});

/** Checks a command, and returns the exit code and the report. */
async function check(command: readonly string[], ...options: string[]) {
  const traces = await temporaryFolder();
  const words = [
    "check-client",
    "--given",
    "merchant",
    "--json",
    "--traces",
    traces,
    // For a busy machine.
    "--timeout",
    "5m",
    ...options,
    "--",
    ...command,
  ];
  const { code, stdout, stderr } = await tryCli(words);
  expect(stdout, stderr).not.toBe("");
  return { code, report: reportSchema.parse(JSON.parse(stdout)) };
}

const wrong: readonly [Mistake, only: string, verdict: string, cause: RegExp][] = [
  [
    "new-key",
    "activatePurchase/answer-lost",
    "acted_twice",
    /^activatePurchase of pur_\w+ was requested again with another Idempotency-Key \(.*\) \d+ ms after its response was lost\.$/,
  ],
  [
    "new-key",
    "activatePurchase/partial",
    "acted_twice",
    /^activatePurchase of pur_\w+ was requested again with another Idempotency-Key \(.*\) \d+ ms after its response was cut\.$/,
  ],
  [
    "new-key-after-4xx",
    "activatePurchase/429-after-commit",
    "acted_twice",
    /another Idempotency-Key .* ms after its response was 429\.$/,
  ],
  [
    "no-retry",
    "activatePurchase/reset",
    "stopped",
    /^it exited with 1; the last failed request, activatePurchase of pur_\w+, got no response; missing: 1 activation, 1 payment, 1 claim/,
  ],
  ["accepts-202", "executeRefund/hold", "lost", /^the client reported success; missing: 1 refund/],
  [
    "pays-again",
    "reconcilePurchase/answer-lost",
    "acted_twice",
    /^2 payments in place of 1 \(0x\w+, 0x\w+\)\.$/,
  ],
  [
    "no-dedupe",
    "event-twice",
    "acted_twice",
    /^purchase\.claimed evt_\w+ came again after \d+ ms; recordDecision of pur_\w+ was requested under 2 keys in place of 1 \(.*\)\.$/,
  ],
  [
    "verifies-parsed-body",
    "forged-bytes",
    "accepted_forgery",
    /^the receiver responded with 204 to purchase\.claimed with changed bytes of the same JSON; recordDecision of pur_\w+ was requested \d+ ms after it, before the genuine event\.$/,
  ],
  [
    "accepts-any-signature",
    "forged-key",
    "accepted_forgery",
    /^the receiver responded with 204 to purchase\.claimed that another key has signed; recordDecision of pur_\w+ was requested \d+ ms after it, before the genuine event\.$/,
  ],
  [
    "keeps-credential",
    "createPurchase/credential_revoked",
    "stopped",
    /got 401 credential_revoked; missing: /,
  ],
  [
    "keeps-figure",
    "reconcilePurchase/reorg",
    "wrong_figures",
    /^the client last read paid 10000000 of pur_\w+, which is 0 on the chain\.$/,
  ],
];

describe("check-client finds that a client", { timeout: 300_000 }, () => {
  test.each(wrong)("%s, with %s", async (mistake, only, verdict, cause) => {
    const { code, report } = await check([...typescript, mistake], "--only", only);
    expect(report.cases).toEqual([expect.objectContaining({ verdict, cause: expect.stringMatching(cause) })]);
    expect(code).toBe(verdict === "stopped" ? 0 : 1);
    expect(readFileSync(report.cases[0]?.trace ?? "", "utf8")).toContain(verdict);
  });
});

test("check-client fails with --strict for a client that stops", { timeout: 300_000 }, async () => {
  const { code } = await check([...typescript, "no-retry"], "--strict", "--only", "activatePurchase/reset");
  expect(code).toBe(1);
});

test("every case of a right client is safe, in two sandboxes at once", { timeout: 1_800_000 }, async () => {
  const { code, report } = await check(typescript, "--jobs", "2");
  expect(report.cases.filter(({ verdict }) => verdict !== "safe")).toEqual([]);
  expect(new Set(report.cases.map(({ fault }) => fault)).size).toBe(21);
  expect(code).toBe(0);
});

test.skipIf(!hasPython())(
  "every case of a right client in Python is safe",
  { timeout: 1_800_000 },
  async () => {
    const { code, report } = await check(python);
    expect(report.cases.filter(({ verdict }) => verdict !== "safe")).toEqual([]);
    expect(code).toBe(0);
  },
);

function hasPython(): boolean {
  try {
    execFileSync("python3", ["--version"]);
    return true;
  } catch {
    return false;
  }
}
