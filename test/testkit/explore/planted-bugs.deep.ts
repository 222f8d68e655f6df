import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readScenario } from "../../../sandbox/scenarios/scenario-file.ts";
import type { Bug } from "../../../scripts/mutate/bug.ts";
import { plant, readSources } from "../../../scripts/mutate/plant.ts";
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

type PlantedBug = Pick<Bug, "rule" | "of" | "bug"> & { steps: number };

/** Bugs of the service, and the most steps that the shortest sequence has besides the credential and the enrolled merchant. */
const bugs: readonly PlantedBug[] = [
  {
    rule: "a decision needs a claim",
    of: "whyNotStep",
    bug: (original) => (purchase, step) =>
      purchase.status === "active" && step === "decisions" ? null : original(purchase, step),
    steps: 4,
  },
  {
    rule: "a payment is recorded once",
    of: "postPayments",
    bug: (original) => async (observed, posting, services) => {
      await original(observed, posting, services);
      for (const { applied, receipts } of posting.ledgers.values())
        if (applied.length > 0) receipts.push(applied[0]);
    },
    steps: 6,
  },
  {
    rule: "a repeat gets the stored answer",
    of: "lookUpKey",
    bug: (original) => async (store, claim) => {
      const isKnown = (await store.get("idempotency", claim.key)) !== undefined;
      return await original(store, isKnown ? { ...claim, fingerprint: "0x" } : claim);
    },
    steps: 3,
  },
  {
    rule: "a repeat has no second effect",
    of: "lookUpKey",
    bug: (original) => async (store, claim) => {
      const state = await original(store, claim);
      if (!String(state.answer?.body).includes('"typed_data"')) return state;
      const { revision } = await store.get("idempotency", claim.key);
      return { held: { ...claim, revision, subject: null } };
    },
    steps: 3,
  },
  {
    rule: "an event has the time of its change",
    of: "freezeEvent",
    bug: (original) => (written) => original({ ...written, now: written.now + 1 }),
    steps: 1,
  },
  {
    rule: "a relay operation costs what its transaction receipt says",
    of: "asMined",
    bug:
      (original) =>
      (...given) => {
        const mined = original(...given);
        return { ...mined, cost_wei: String(BigInt(mined.cost_wei) + 1n) };
      },
    steps: 3,
  },
];

test.for(bugs)(
  "the planted bug against the rule that $rule is found, shortened, and plays red until it is fixed",
  { timeout: 240_000 },
  async ({ steps, ...bug }) => {
    const planted = plant(bug, readSources(checkout));
    const path = join(checkout, planted.file);
    const source = await readFile(path, "utf8");
    const failing = join(folder, "failing.yaml");
    await writeFile(path, planted.source);
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
