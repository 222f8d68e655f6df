import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readScenario } from "../../../sandbox/hosts/recorder/scenario-file.ts";
import { plant } from "../../../scripts/mutate/mutant.ts";
import { playScenario } from "../../../testkit/scenario/play-scenario.ts";
import { copyCheckout } from "../../setup/copied-checkout.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
let folder: string;
let checkout: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "routing-sandbox-"));
  checkout = await copyCheckout(folder);
  await cp(join(root, ".genesis"), join(checkout, ".genesis"), { recursive: true });
  await cp(join(root, "portal"), join(checkout, "portal"), { recursive: true });
});
afterAll(async () => await rm(folder, { recursive: true, force: true }));

/** Runs a command of the copy. */
async function run(...args: string[]): Promise<{ code: number; output: string }> {
  const options = ["--disable-warning=ExperimentalWarning", "cli/main.ts", ...args];
  return await new Promise((resolve) => {
    execFile(process.execPath, options, { cwd: checkout }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr }),
    );
  });
}

/** Bugs of the service, and the most steps that the shortest sequence has besides the credential and the enrolled merchant. */
const bugs = [
  {
    rule: "a decision needs a claim",
    file: "server/domain/purchases/purchase-steps.ts",
    find: 'active: ["reconcile", "claims"]',
    replace: 'active: ["reconcile", "claims", "decisions"]',
    steps: 4,
  },
  {
    rule: "a payment is recorded once",
    file: "server/domain/payments/payment-ledger.ts",
    find: "ledger.receipts.push(recorded);",
    replace: "ledger.receipts.push(recorded, recorded);",
    steps: 6,
  },
  {
    rule: "a repeat gets the stored answer",
    file: "server/http/idempotency.ts",
    find: "if (value.fingerprint !== fingerprint)",
    replace: "if (value.fingerprint === fingerprint)",
    steps: 3,
  },
  {
    rule: "a repeat has no second effect",
    file: "server/http/idempotency.ts",
    find: "if (value.response === null) return",
    replace: `if (value.response === null || value.response.body.includes('"typed_data"')) return`,
    steps: 3,
  },
  {
    rule: "an event has the time of its change",
    file: "server/outbox/freeze-event.ts",
    find: "created_at: toTimestamp(now), data",
    replace: "created_at: toTimestamp(now + 1), data",
    steps: 1,
  },
  {
    rule: "a relay operation costs what its transaction receipt says",
    file: "relayer/submission/settle.ts",
    find: "(gasUsed * receipt.effectiveGasPrice).toString()",
    replace: "(gasUsed * receipt.effectiveGasPrice + 1n).toString()",
    steps: 3,
  },
];

test.for(bugs)(
  "the planted bug against the rule that $rule is found, shortened, and plays red until it is fixed",
  { timeout: 240_000 },
  async ({ rule, file, find, replace, steps }) => {
    const path = join(checkout, file);
    const source = await readFile(path, "utf8");
    const failing = join(folder, "failing.yaml");
    await writeFile(path, plant(source, { rule, file, find, replace }));
    try {
      const explored = await run("explore", "--steps", "300", "--seed", "sown", "--scenario", failing);
      expect(explored).toMatchObject({ code: 1, output: expect.stringContaining("scenario play") });
      const played = await run("scenario", "play", failing);
      expect(played).toMatchObject({ code: 1, output: expect.stringMatching(/^Step \d+ .* differs in /m) });
    } finally {
      await writeFile(path, source);
    }
    const scenario = await readScenario(failing);
    expect(scenario.steps.length).toBeLessThanOrEqual(4 + steps);
    await playScenario(scenario);
  },
);
