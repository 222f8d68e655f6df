import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { attacks, attacksWithPermit } from "../../check-contract/attacks/all.ts";
import { readReference } from "../../check-contract/reference.ts";
import { rules } from "../../check-contract/rules/all.ts";
import { stateChecks } from "../../check-contract/rules/matrix/plan.ts";
import { packageRoot } from "../../sandbox/lib/package-root.ts";

const page = await readFile(join(packageRoot(), "docs", "check-contract.md"), "utf8");

test("the report on the page has as many results as a run", async () => {
  const { calls } = await readReference();
  const compared = [...calls.values()].reduce((sum, { length }) => sum + length, 0);
  const counts = /MissingDeadline: (\d+) passed, (\d+) failed, (\d+) not run/.exec(page)?.slice(1) ?? [];
  const all = counts.reduce((sum, count) => sum + Number(count), 0);
  // A run also has two checks of the deployment, the lifecycle, and the check that every state is reached.
  expect(all).toBe(
    4 + rules.length + stateChecks.length + compared + attacks.length + attacksWithPermit.length,
  );
});
