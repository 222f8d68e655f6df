import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { faultDefaults, faultLimits } from "../../sandbox/faults/fault-matrix.ts";
import { defaultCap } from "../../sandbox/given/give-merchant.ts";
import { defaultAmount } from "../../sandbox/given/states.ts";
import { defaultStartTimeoutMs } from "../../sandbox/options/defaults.ts";
import { limitsInWords, limitsOfPages } from "./page-limits.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** The limits with a unit or a range, which no sentence has by chance. */
const measured = [
  ...new Set(Object.values(limitsInWords).filter((text) => /^[\d,./]+ ([A-Za-z]+|to [\d,./]+)$/.test(text))),
];

function says(text: string, limit: string): boolean {
  return new RegExp(`(?<![\\d,.])${limit.replaceAll(/[.()|]/g, "\\$&")}(?!\\w)`).test(text);
}

function typed(pattern: string, strip: (text: string) => string): string[] {
  return globSync(pattern, { cwd: root, exclude: (name) => name.endsWith(".generated.ts") }).flatMap(
    (file) => {
      const text = strip(readFileSync(`${root}/${file}`, "utf8"));
      return measured.filter((limit) => says(text, limit)).map((limit) => `${file}: ${limit}`);
    },
  );
}

test.each(Object.entries(limitsOfPages))("%s names its limits as the code has them", (page, names) => {
  const text = readFileSync(`${root}/${page}`, "utf8").replaceAll(/\s+/g, " ");
  const limits = names.map((name) => limitsInWords[name] ?? `no limit ${name}`);
  expect(limits.filter((limit) => !says(text, limit))).toEqual([]);
});

test("no page of the documentation has a limit that is not checked", () => {
  const strip = (page: string) =>
    page
      .replaceAll(/^```.*?^```$/gms, "")
      .replaceAll(/<!-- (generated|measured|attacks|claims|elsewhere)\b.*?<!-- \/\1 -->/gs, "");
  expect(measured.length).toBeGreaterThan(20);
  const checked = Object.entries(limitsOfPages).flatMap(([page, names]) =>
    names.map((name) => `${page}: ${limitsInWords[name]}`),
  );
  const found = typed("{README.md,docs/!(cli|performance).md,portal/docs.md}", strip);
  expect(found.filter((limit) => !checked.includes(limit))).toEqual([]);
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
