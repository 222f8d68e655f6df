import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { transactionNotFound } from "../../check-contract/attack.ts";
import { attacks } from "../../check-contract/attacks/all.ts";
import type { AttackResult } from "../../check-contract/fixture/fixture-service.ts";
import { notCheckedPage } from "../../check-contract/render-report.ts";
import { type CheckName, checkNames } from "../../protocol/binding/check-binding.ts";
import { packageRoot } from "../../sandbox/lib/package-root.ts";

const page = await read("docs/check-contract.md");

/** The failed checks of the codes whose attacks all fail the same ones, as the page says once. */
const failedWith: { readonly [code: string]: readonly CheckName[] } = {
  transaction_reverted: ["status", "log"],
  transaction_not_found: transactionNotFound.failed,
};

async function read(file: string): Promise<string> {
  return await readFile(join(packageRoot(), file), "utf8");
}

/** The lines between the two comments of a marker, each item of a list as one line. */
function linesOf(marker: string, text = page): string[] {
  const [, rest = ""] = text.split(`<!-- ${marker} -->\n`);
  const [lines = ""] = rest.split(`<!-- /${marker} -->`);
  return lines
    .replaceAll("\n  ", " ")
    .split("\n")
    .filter((line) => line !== "");
}

/** The answer as the page says it: the status of an acceptance, otherwise the code, unless it is the usual one, and the checks. */
function answerOf({ status, code, failed }: AttackResult): string {
  if (code === null) return `${status}`;
  const { [code]: known } = failedWith;
  if (known !== undefined) expect(failed).toEqual(known);
  const checks = known === undefined ? failed.map((check) => `\`${check}\``).join(", ") : "";
  if (code === "binding_mismatch") return checks;
  return checks === "" ? `\`${code}\`` : `\`${code}\` by ${checks}`;
}

test("the page lists exactly the attacks with their expected answers, in order", () => {
  const expected = [...Map.groupBy(attacks, ({ area }) => area)].flatMap(([area, ofArea]) => [
    `**${area.replace(/^./, (letter) => letter.toUpperCase())}**`,
    ...[...Map.groupBy(ofArea, ({ stopped }) => answerOf(stopped))].map(
      ([answer, names]) => `- ${answer}: ${names.map(({ name }) => name).join("; ")}`,
    ),
  ]);
  expect(linesOf("attacks")).toEqual(expected);
});

test("the page has the part on what is not checked, which each report names", () => {
  const [file, anchor = ""] = notCheckedPage.split("#");
  expect(file).toBe("docs/check-contract.md");
  expect(page).toContain(`\n## ${anchor.replace("-", " ").replace("n", "N")}\n`);
});

test("no two attacks have the same name", () => {
  expect(new Set(attacks.map(({ name }) => name)).size).toBe(attacks.length);
});

test("every test of an attack that check-contract does not run exists", async () => {
  const lines = linesOf("elsewhere", await read("check-contract/attacks/elsewhere.md"));
  expect(lines.length).toBeGreaterThan(10);
  const sources = await Array.fromAsync(glob("contracts/test/**/*.t.sol", { cwd: packageRoot() }), read);
  const titles = sources.join("\n");
  for (const line of lines) {
    const [, named = "", title = ""] = line.match(/: `(.*?)`(?:, (.*))?$/) ?? [];
    if (named.endsWith(".ts")) {
      expect(title, line).not.toBe("");
      expect(await read(named), line).toContain(title);
    } else expect(titles, line).toContain(`function ${named}(`);
  }
});

test("every check is explained, and each one stops an attack", async () => {
  const checks = await read("docs/binding.md");
  for (const name of checkNames) expect(checks, name).toContain(`- \`${name}\`: `);
  const stopping = new Set(attacks.flatMap(({ stopped }) => stopped.failed));
  // A node of another chain is refused before anything is checked.
  expect(attacks.filter(({ stopped }) => stopped.code === "chain_mismatch")).toHaveLength(2);
  expect(checkNames.filter((name) => name !== "chain" && !stopping.has(name))).toEqual([]);
});
