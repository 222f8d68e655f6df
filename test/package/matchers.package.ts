import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { type Consumer, installInto } from "./consumer.ts";

const { devDependencies, peerDependencies } = manifest;
const oldest = `${peerDependencies.vitest.replace(">=", "")}.0`;
const typed = (["typescript", "@types/node"] as const).map((name) => `${name}@${devDependencies[name]}`);

/** Compiles one file of a project strictly, with the declarations of all packages. */
async function compile({ folder, run }: Consumer, text: string): Promise<string> {
  const compilerOptions = {
    strict: true,
    skipLibCheck: false,
    module: "nodenext",
    target: "es2024",
    lib: ["es2024", "dom", "esnext.disposable"],
    types: ["node"],
    noEmit: true,
  };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["use.ts"] }));
  await writeFile(join(folder, "use.ts"), text);
  return await run("npx", "tsc");
}

const useInVitest = `import { expect } from "vitest";
import { unwrap } from "routing-sandbox/client";
import { sandboxTest } from "routing-sandbox/vitest";

sandboxTest({ seed: "typed" })("typed", async ({ sandbox }) => {
  const accepted: Promise<void> = expect("0x").toBeAcceptedAs("refund", { id: "pur_1" });
  const problem: void = expect({}).toBeProblem("not_found");
  await expect("0x").not.toBeRefusedBy("wallet");
  await expect(sandbox).toHaveFingerprint("0x");
  await expect(Promise.resolve({})).resolves.toBeProblem("not_found");
  expect(() => unwrap({} as never)).toThrow(expect.toBeProblem("not_found"));
  expect([1]).toEqual([expect.not.toBeProblem("not_found")]);
  // @ts-expect-error there is no such step
  await expect("0x").toBeAcceptedAs("paiment");
  // @ts-expect-error there is no such check
  await expect("0x").toBeRefusedBy("walet");
  // @ts-expect-error there is no such code
  expect({}).toBeProblem("nope");
  console.log(await accepted, problem);
});
`;

const useInTest = `import { expect } from "vitest";
import { sandboxTest } from "routing-sandbox/vitest";

sandboxTest({ seed: "vitest" })("pays", { timeout: 120_000 }, async ({ sandbox }) => {
  const { purchase, payments } = await sandbox.given.purchase({ state: "paid" });
  const { transaction_hash } = await sandbox.wallets.stranger.faucet(1n);
  await expect(transaction_hash).not.toBeAcceptedAs("payment", purchase);
  expect(payments).toHaveLength(1);
});
`;

test("the matchers and the fixture are typed and work with the oldest vitest that the package accepts", async () => {
  await using project = await installInto(`vitest@${oldest}`, ...typed);
  expect(await compile(project, useInVitest)).toBe("");
  await writeFile(join(project.folder, "pays.test.ts"), useInTest);
  expect(await project.run("npx", "vitest", "run", "--no-color")).toMatch(/Tests +1 passed \(1\)/);
});

test("the matchers are typed with jest, declared as docs/tests.md shows", async () => {
  await using project = await installInto("@jest/globals@30", ...typed);
  const page = await readFile(new URL("../../docs/tests.md", import.meta.url), "utf8");
  const [shown = ""] = /import \{ expect \} from "@jest\/globals";\n[\s\S]*?(?=```)/.exec(page) ?? [];
  const text = `import { sandboxFixture } from "routing-sandbox/fixture";
${shown}
const fixture = sandboxFixture();
export const accepted: () => Promise<void> = async () => await expect("0x").toBeAcceptedAs("refund");
export const refused = async () => await expect("0x").not.toBeRefusedBy("wallet");
// @ts-expect-error there is no such step
export const misspelt = async () => await expect("0x").toBeAcceptedAs("paiment");
`;
  expect(await compile(project, text)).toBe("");
});
