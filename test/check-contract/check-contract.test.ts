import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkContract } from "../../check-contract/check-contract.ts";
import { renderReport, toJunit } from "../../check-contract/render-report.ts";
import { rules } from "../../check-contract/rules/all.ts";
import { readArtifact } from "../../sandbox/chain/registrar/artifact.ts";
import { packageRoot } from "../../sandbox/lib/package-root.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { brokenArtifacts } from "./broken-registrars.ts";

const own = join(packageRoot(), "artifacts", "contracts", "PurchaseRegistrar.sol", "PurchaseRegistrar.json");

test("with bail the check ends with the first failure, and with only it runs the checks that are named", async () => {
  const artifact = await readArtifact(own);
  const reference = { gas: {}, calls: new Map() };
  const only = { reference, attacks: [], only: "rules/a second claim" };
  const chosen = await checkContract(artifact, only);
  expect(chosen.results.map(({ name }) => name)).toEqual([
    "takes the place of the sandbox's own registrar contract",
    "a merchant enrolls in two programs, and the operators offer purchases",
    "a second claim is refused",
  ]);
  // The lifecycle and all other rules.
  expect(renderReport(chosen, false)).toContain(
    `\n3 checks ran and passed. The other ${rules.length} checks did not run, so the contract may still break a rule.\n`,
  );
  const [, ...broken] = await brokenArtifacts();
  const pauses = broken.find((file) => file.includes("PauseBlocksRefunds")) ?? "";
  const { results } = await checkContract(await readArtifact(pauses), { reference, attacks: [], bail: true });
  expect(results.filter(({ failure }) => failure !== null)).toEqual([results.at(-1)]);
  await expect(checkContract(artifact, { ...only, only: "rules/no such rule" })).rejects.toThrow(
    'No check has "rules/no such rule" in its name. Use a suite or a name of the report, such as rules/ or "rules/a second claim".',
  );
});

test("JUnit lists each case, and escapes text that would break XML", () => {
  const xml = toJunit([
    {
      contract: 'A<B>&"',
      passed: false,
      results: [
        { suite: "rules", name: "kept", failure: null, duration_ms: 12 },
        { suite: "rules", name: "broken", failure: "1 < 2 & more", duration_ms: 3 },
      ],
      findings: [],
      not_run: 0,
      left_out: 0,
      gas: [],
    },
  ]);
  expect(xml).toBe(
    [
      '<?xml version="1.0" encoding="UTF-8"?>',
      "<testsuites>",
      '  <testsuite name="A&lt;B&gt;&amp;&quot;" tests="2" failures="1">',
      '    <testcase classname="A&lt;B&gt;&amp;&quot;.rules" name="kept" time="0.012"/>',
      '    <testcase classname="A&lt;B&gt;&amp;&quot;.rules" name="broken" time="0.003">',
      '      <failure message="1 &lt; 2 &amp; more"/>',
      "    </testcase>",
      "  </testsuite>",
      "</testsuites>",
      "",
    ].join("\n"),
  );
});

test.each<[string, string | null, RegExp]>([
  [
    "a missing file",
    null,
    /^The artifact .* cannot be read: there is no such file \(ENOENT, .*\)\. Compile the contract and name its JSON file\.$/,
  ],
  ["a file that is not JSON", "{", /is not JSON/],
  ["an interface", '{"contractName":"I","bytecode":"0x"}', /has no complete bytecode/],
  ["unlinked libraries", '{"contractName":"L","bytecode":"0x60__$abc$__"}', /has no complete bytecode/],
])("%s is refused with what to do", async (_name, content, message) => {
  const file = join(await temporaryFolder(), "Artifact.json");
  if (content !== null) await writeFile(file, content);
  await expect(readArtifact(file)).rejects.toThrow(message);
});

test("an artifact of Foundry is also accepted, and named by its file", async () => {
  const file = join(await temporaryFolder(), "MyRegistrar.json");
  await writeFile(file, JSON.stringify({ bytecode: { object: "0x6001" } }));
  expect(await readArtifact(file)).toEqual({ contractName: "MyRegistrar", bytecode: "0x6001" });
});
