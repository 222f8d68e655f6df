import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { pageLimits } from "../../scripts/page-limits.ts";
import { limitValues } from "../../server/documentation/limit-values.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const texts = Object.values<string>({ ...limitValues(), ...pageLimits });
/** The limits with a unit, which no sentence has by chance. */
const measured = [...new Set(texts.filter((text) => /^[\d,./]+ [A-Za-z]+$/.test(text)))];

function typed(pattern: string, strip: (text: string) => string): string[] {
  return globSync(pattern, { cwd: root, exclude: (name) => name.endsWith(".generated.ts") }).flatMap(
    (file) => {
      const text = strip(readFileSync(`${root}/${file}`, "utf8"));
      return measured
        .filter((limit) => new RegExp(`(?<![\\d,.])${limit.replaceAll(/[.]/g, "\\.")}\\b`).test(text))
        .map((limit) => `${file}: ${limit}`);
    },
  );
}

test("no page of the documentation has a limit that is not generated", () => {
  const strip = (page: string) =>
    page
      .replaceAll(/^```.*?^```$/gms, "")
      .replaceAll(/<!-- (generated|limit|measured|attacks|claims|elsewhere)\b.*?<!-- \/\1 -->/gs, "");
  expect(measured.length).toBeGreaterThan(20);
  expect(typed("{README.md,docs/!(cli|performance).md,portal/docs.md}", strip)).toEqual([]);
});

test("no message, description or comment has a limit that is not the constant's", () => {
  expect(
    typed("{protocol,relayer,server,sandbox,testkit,check-contract,cli,portal}/**/*.ts", (source) => source),
  ).toEqual([]);
});
