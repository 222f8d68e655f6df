import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { faultDefaults, faultLimits } from "../../sandbox/faults/fault-matrix.ts";
import { defaultCap } from "../../sandbox/given/give-merchant.ts";
import { defaultAmount } from "../../sandbox/given/states.ts";
import { defaultStartTimeoutMs } from "../../sandbox/options/defaults.ts";
import { pageLimits } from "../../scripts/generate/page-limits.ts";
import { limitValues } from "../../server/documentation/limit-values.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const texts = Object.values<string>({ ...limitValues(), ...pageLimits });
/** The limits with a unit or a range, which no sentence has by chance. */
const measured = [...new Set(texts.filter((text) => /^[\d,./]+ ([A-Za-z]+|to [\d,./]+)$/.test(text)))];

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

test("no line of a page begins with the mark of a limit, which would end the paragraph as a block of HTML", () => {
  const pages = globSync("docs/*.md", { cwd: root });
  const broken = pages.filter((page) => /^\s*<!-- limit:/m.test(readFileSync(`${root}/${page}`, "utf8")));
  expect(pages.length).toBeGreaterThan(20);
  expect(broken).toEqual([]);
});

test("no message, description or comment has a limit that is not the constant's", () => {
  expect(
    typed(
      "{protocol,relayer,server,sandbox,testkit,check-contract,cli,hardhat-plugin,portal}/**/*.ts",
      (source) => source,
    ),
  ).toEqual([]);
});

test("no comment names a default number that is not the constant's", () => {
  const usdc = (amount: string) => `by default ${(Number(amount) / 1e6).toLocaleString("en-US")} USDC`;
  const { count, depth, delay_ms, status } = faultDefaults;
  const named = (first: number | string) => `${first.toLocaleString("en-US")} by default`;
  const found = globSync(
    "{protocol,relayer,server,sandbox,testkit,check-contract,cli,hardhat-plugin,portal}/**/*.ts",
    {
      cwd: root,
      exclude: (name) => name.endsWith(".generated.ts"),
    },
  ).flatMap((file) => {
    const source = readFileSync(`${root}/${file}`, "utf8").replaceAll(/\s+\* /g, " ");
    const texts = source.match(/\b(\d[\d,]*|once) by default|by default \d[\d,]*( USDC)?/g) ?? [];
    return texts.map((text) => `${file}: ${text}`);
  });
  expect(found.toSorted()).toEqual(
    [
      `sandbox/cluster/join-sandbox.ts: ${named(defaultStartTimeoutMs)}`,
      `sandbox/faults/fault-request.ts: ${named(count === 1 ? "once" : count)}`,
      `sandbox/faults/fault-request.ts: ${named(depth)}`,
      `sandbox/faults/fault-request.ts: ${named(delay_ms)}`,
      `sandbox/faults/fault-request.ts: ${named(status)}`,
      `sandbox/given/options.ts: ${usdc(defaultCap)}`,
      `sandbox/given/options.ts: ${usdc(defaultAmount)}`,
      // No value at all, which is no limit.
      "sandbox/wallets/wallet.ts: by default 0",
    ].toSorted(),
  );
  const { least, most } = faultLimits.status;
  const source = readFileSync(`${root}/sandbox/faults/fault-request.ts`, "utf8");
  expect(source).toContain(`The status of the receiver's response, ${least} to ${most};`);
});
