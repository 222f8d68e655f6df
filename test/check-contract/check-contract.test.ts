import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { attacks as everyAttack } from "../../check-contract/attacks/all.ts";
import { type Breach, brokenRule } from "../../check-contract/breach.ts";
import type { RecordedCall } from "../../check-contract/calls/call-recorder.ts";
import { findCallBreach } from "../../check-contract/calls/call-sequence.ts";
import { checkContract } from "../../check-contract/check-contract.ts";
import { groupFindings } from "../../check-contract/findings.ts";
import { describeWrongField, ruleOfWrongField } from "../../check-contract/fixture/fixture-service.ts";
import { parseBaseline } from "../../check-contract/gas-baseline.ts";
import { renderReport, toAnnotations, toJunit } from "../../check-contract/render-report.ts";
import type { Json } from "../../protocol/values/json.ts";
import { readArtifact } from "../../sandbox/chain/registrar/artifact.ts";
import { packageRoot } from "../../sandbox/lib/package-root.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { breaks, brokenArtifacts } from "./broken-registrars.ts";

const own = join(packageRoot(), "artifacts", "contracts", "PurchaseRegistrar.sol", "PurchaseRegistrar.json");

/** With nothing to compare. */
const reference = { gas: {}, calls: new Map() };

// The broken contract is compiled once, which takes longer than a test.
const compiled = { timeout: 180_000 };

test(
  "with bail the check ends with the first failure, and with only it runs the checks that are named",
  compiled,
  async () => {
    const artifact = await readArtifact(own);
    const attacks = everyAttack.filter(({ area }) => area === "calldata");
    const only = { reference, attacks, only: "attacks: calldata/truncated" };
    const chosen = await checkContract(artifact, only);
    expect(chosen.results.map(({ name }) => name)).toEqual([
      "takes the place of the sandbox's own registrar contract",
      "a merchant enrolls in two programs, and the operators offer purchases",
      "truncated calldata",
    ]);
    // The lifecycle and all other attacks.
    expect(renderReport(chosen, false)).toContain(
      `\n3 checks ran and passed. The other ${attacks.length} checks did not run, so the contract may still break a rule.\n`,
    );
    const { results: deployment } = await checkContract(artifact, { ...only, only: "deployment" });
    expect(deployment.map(({ suite }) => suite)).toEqual(["deployment", "deployment"]);
    const [broken = ""] = await brokenArtifacts([breaks.acceptsTrailingCalldata]);
    const { results } = await checkContract(await readArtifact(broken), { reference, attacks, bail: true });
    expect(results.filter(({ failure }) => failure !== null)).toEqual([results.at(-1)]);
    await expect(checkContract(artifact, { ...only, only: "rules/no such rule" })).rejects.toThrow(
      'No check has "rules/no such rule" in its name. Use a suite or a name of the report, such as rules/ or "rules/claim by the buyer".',
    );
  },
);

test.each([
  [
    "code of 24,577 bytes",
    "0x6160015ff3",
    "its code has more than the 24,576 bytes of EIP-170, so compile it with the optimizer",
  ],
  ["a constructor that reverts", "0x5f5ffd", "execution reverted"],
] as const)("a contract with %s is refused with that reason", async (_, bytecode, reason) => {
  const { results } = await checkContract({ contractName: "Own", bytecode }, { reference, attacks: [] });
  expect(results.map(({ failure }) => failure)).toEqual([
    `Own does not deploy: ${reason}. Its constructor must take no arguments.`,
  ]);
});

const failed = (name: string, breach: Breach) => ({ suite: "rules", name, breach });

test("checks that fail for one cause are one finding, and each other one is its own", () => {
  const findings = groupFindings([
    failed("attack", { failure: "it was accepted", calls: "pay" }),
    failed("late", { failure: "late", rule: "a payment after the deadline is refused", calls: "pay" }),
    failed("batch", {
      failure: "late too",
      rule: "a payment after the deadline is refused",
      calls: "payBatch",
    }),
    failed("high s", {
      failure: "high",
      rule: "a high s is refused",
      includedIn: "an offer is signed",
      calls: "offer",
    }),
    failed("stranger", { failure: "signed", rule: "an offer is signed", calls: "offer" }),
    failed("elsewhere", { failure: "else", calls: "claim" }),
  ]);
  expect(
    findings.map(({ rule, failure, checks }) => [rule, failure, checks.map(({ name }) => name)]),
  ).toEqual([
    ["a payment after the deadline is refused", "late", ["late", "batch", "attack"]],
    ["an offer is signed", "signed", ["stranger", "high s"]],
    ["elsewhere", "else", ["elsewhere"]],
  ]);
});

test("a check that names no rule is a part of a wrong view, which the service reads for each answer", () => {
  const rule = "the field paid of figures() has the right value";
  const findings = groupFindings([
    failed("attack", { failure: "503", calls: "register" }),
    failed("payment", { failure: "wrong", rule, calls: "pay" }),
  ]);
  expect(findings).toMatchObject([{ rule, checks: [{ name: "payment" }, { name: "attack" }] }]);
});

test("a call that tries a rule breaks it by its outcome, and that of an event by the event", () => {
  const breaks = "two calls in one transaction succeed";
  const call = (effect: RecordedCall["effect"]) => ({ rule: "a call", breaks, hash: null, effect });
  const expected = call({ outcome: "succeeded", events: [{ event: "ProgramOpened", operator: "0x01" }] });
  const refused = call({ outcome: "reverted with X()", events: [] });
  const other = call({ outcome: "succeeded", events: [{ event: "ProgramOpened", operator: "0x02" }] });
  expect(findCallBreach(refused, expected)?.rule).toBe(breaks);
  expect(findCallBreach(other, expected)?.rule).toBe(
    "the field operator of the event ProgramOpened has the right value",
  );
});

test("a finding is named by a call that is refused wrongly, before one that is refused for a wrong reason", () => {
  const rule = "a claim of a purchase that is not open is refused";
  const mustSucceed = "a claim that must succeed is not refused with WrongStatus";
  const findings = groupFindings([
    failed("zero", { failure: "another error", rule, calls: "claim" }),
    failed("valid", { failure: "refused", rule, mustSucceed, calls: "claim" }),
  ]);
  expect(findings).toMatchObject([
    { rule: mustSucceed, failure: "refused", checks: [{ name: "valid" }, { name: "zero" }] },
  ]);
});

test("an attack that shows a wrong field of an event is a part of the finding about this field", () => {
  const rule = "the field buyer of the event PurchasePaid has the right value";
  const includedIn = ruleOfWrongField(
    ". The field buyer (it must be 1, it is 2) of the event PurchasePaid is wrong",
  );
  const findings = groupFindings([
    failed("another", { failure: "late", rule: "a payment after the deadline is refused", calls: "pay" }),
    failed("payment", { failure: "wrong", rule, calls: "pay" }),
    failed("attack", { failure: "another response", includedIn, calls: "pay" }),
  ]);
  expect(findings).toMatchObject([{}, { rule, checks: [{ name: "payment" }, { name: "attack" }] }]);
  expect(ruleOfWrongField(". The event PurchasePaid is missing")).toBe(
    "the event PurchasePaid is emitted when it must be",
  );
  expect(ruleOfWrongField(". The field purchase_.salt (it must be 1, it is 2) of the event X is wrong")).toBe(
    "the field salt of the event X has the right value",
  );
  expect(ruleOfWrongField("")).toBeUndefined();
});

test("a rule that is broken because of what the contract stores is a part of the view that shows it wrong", () => {
  const rule = "the field validUntil of funding() has the right value";
  const findings = groupFindings([
    failed("late", {
      failure: "late",
      rule: "a refund after the deadline is refused",
      calls: "collectRefund",
    }),
    failed("above", {
      failure: "above",
      rule: "a refund above what is left of the cap is refused",
      calls: "collectRefund",
    }),
    failed("event", { failure: "event", rule: "the field validUntil of the event X has the right value" }),
    failed("revocation", { failure: "wrong", rule, calls: "revokeFunding" }),
  ]);
  expect(findings).toMatchObject([
    { rule, failure: "wrong", checks: [{ name: "revocation" }, { name: "late" }, { name: "event" }] },
    { rule: "a refund above what is left of the cap is refused", checks: [{ name: "above" }] },
  ]);
});

const right = "has the right value";

test.each([
  ["the field paid of purchase()", `the field paidTotal of the event PurchasePaid ${right}`],
  ["the field paid of purchase()", `the field released of the event OfferWithdrawn ${right}`],
  ["the field openOffers of programState()", `the field released of the event PurchaseExpired ${right}`],
  ["the field collected of funding()", `the field collectedTotal of the event RefundCollected ${right}`],
  ["the field refunded of purchase()", `the field award of the event RefundCollected ${right}`],
  ["the field admin of programState()", `the field newAdmin of the event AdminTransferred ${right}`],
  ["the field admin of programState()", `the field previousAdmin of the event AdminTransferred ${right}`],
  ["pendingAdmin()", `the field newAdmin of the event AdminTransferStarted ${right}`],
  ["enrolledAs()", `the field merchantRef of the event FundingEnrolled ${right}`],
  ["the field buyer of purchase()", `the field buyer of the event PurchaseRegistered ${right}`],
  ["the field decisionHash of purchase()", `the argument decisionHash of the error AlreadyRefunded ${right}`],
  ["the field status of purchase()", `the argument actual of the error WrongStatus ${right}`],
  ["the field payDeadline of purchase()", "a payment after the deadline is refused"],
  ["the field collected of funding()", "a refund after the deadline is refused"],
  ["the field collected of funding()", "a refund with the error ERC20InsufficientAllowance is refused"],
])("that %s is wrong says why this rule is broken, too: %s", (view, rule) => {
  const viewRule = view.startsWith("the field") ? `${view} ${right}` : `${view} returns the right value`;
  const broken = { failure: "other", rule, calls: "pay" };
  const findings = groupFindings([
    failed("other", broken),
    failed("view", { failure: "wrong", rule: viewRule, calls: "pay" }),
  ]);
  // The report names the joined rule, which may be broken on its own.
  expect(findings).toEqual([
    {
      rule: viewRule,
      failure: "wrong",
      checks: [
        { suite: "rules", name: "view" },
        { suite: "rules", name: "other", rule },
      ],
    },
  ]);
  const elsewhere = { failure: "wrong", rule: `the field salt of funding() ${right}` };
  expect(groupFindings([failed("other", broken), failed("view", elsewhere)])).toHaveLength(2);
});

test("an argument of an error is a part of the rule about the error, which is a part of a wrong view", () => {
  const rule = "a payment after the deadline is refused";
  const argument = `the argument deadline of the error DeadlinePassed ${right}`;
  const view = `the field payDeadline of purchase() ${right}`;
  const checks = [
    failed("argument", { failure: "argument", rule: argument, includedIn: rule, calls: "pay" }),
    failed("late", { failure: "late", rule, calls: "pay" }),
  ];
  expect(groupFindings(checks)).toMatchObject([{ rule, failure: "late", checks: [{}, { rule: argument }] }]);
  expect(groupFindings([...checks, failed("view", { failure: "wrong", rule: view })])).toMatchObject([
    { rule: view, checks: [{ name: "view" }, { rule: argument }, { rule }] },
  ]);
});

test("a rule that is included in one that holds says why others are broken, and so does an event too many", () => {
  const former = "a signature of the former commitment signer is refused";
  const extra = "a call emits no event that it must not emit";
  const findings = groupFindings([
    failed("argument", {
      failure: "wrong",
      rule: "the argument signer of the error InvalidSignature has the right value",
      includedIn: "an offer without a valid signature is refused",
    }),
    failed("former", {
      failure: "accepted",
      rule: former,
      includedIn: "an offer without a valid signature is refused",
    }),
    failed("missing", { failure: "log", rule: "the event PurchaseClaimed is emitted when it must be" }),
    failed("extra", { failure: "extra", rule: extra }),
  ]);
  expect(findings.map(({ rule, checks }) => [rule, checks.length])).toEqual([
    [former, 2],
    [extra, 2],
  ]);
});

test("a step that is refused is a part of an event that shows why, and any other call is not", () => {
  const rule = `the field buyer of the event PurchaseRegistered ${right}`;
  const refused = {
    failure: "refused",
    rule: "a payment by another account is refused",
    mustSucceed: "a payment that must succeed is not refused with WrongCaller",
    calls: "pay",
  };
  const event = failed("event", { failure: "wrong", rule, calls: "register" });
  expect(groupFindings([failed("step", { ...refused, isStep: true }), event])).toMatchObject([
    { rule, failure: "wrong", checks: [{ name: "event" }, { name: "step", rule: refused.mustSucceed }] },
  ]);
  expect(groupFindings([failed("call", refused), event])).toHaveLength(2);
});

test("a call that is refused for another reason is a part of the missing check for the right one", () => {
  const call = (outcome: string) => ({
    rule: "a call",
    function: "register",
    hash: null,
    effect: { outcome },
  });
  const expected = call("reverted with NotEnrolled(program 0x1, wallet 0x2)");
  const missing = findCallBreach(call("succeeded"), expected);
  const another = findCallBreach(call("reverted with FundingInsufficient(amount 2, remaining 1)"), expected);
  const rule =
    "a registration of a merchant without an active enrollment, such as after a revocation, is refused";
  const instead = "a registration above what is left of the cap is refused";
  if (missing === null || another === null) throw new Error("Both calls differ.");
  expect(groupFindings([failed("another", another), failed("missing", missing)])).toMatchObject([
    { rule, checks: [{ name: "missing" }, { name: "another", rule: instead }] },
  ]);
  expect(groupFindings([failed("another", another)])).toMatchObject([{ rule: instead }]);
});

test("a wrong call that is refused as a valid one is, too, is a part of the finding about the valid one", () => {
  const call = (breaks: string | undefined, outcome: string) => ({
    rule: "a call",
    function: "offer",
    breaks,
    hash: null,
    effect: { outcome },
  });
  const late = "reverted with DeadlinePassed(timestamp 2, deadline 1)";
  const checks = [
    ["a high s is refused", "reverted with InvalidSignature(signer 0x1)"],
    [undefined, "succeeded"],
  ].map(([breaks, expected = ""]) => {
    const breach = findCallBreach(call(breaks, late), call(breaks, expected));
    if (breach === null) throw new Error("The calls differ.");
    return failed(breaks ?? "a valid call", breach);
  });
  expect(groupFindings(checks)).toMatchObject([
    {
      rule: "an offer that must succeed is not refused with DeadlinePassed",
      checks: [{ name: "a valid call" }, { name: "a high s is refused" }],
    },
  ]);
  expect(groupFindings(checks.slice(0, 1))).toMatchObject([{ rule: "a high s is refused" }]);
});

test("the report names the other rules that a finding may explain, with their checks", () => {
  const report = {
    contract: "A",
    passed: false,
    results: [],
    findings: [
      {
        rule: "one",
        failure: "wrong",
        checks: [
          { suite: "rules", name: "a" },
          { suite: "rules", name: "b", rule: "two" },
          { suite: "calls: batches", name: "c", rule: "two" },
          { suite: "attacks: calldata", name: "d", rule: "three" },
        ],
      },
    ],
    not_run: 0,
    left_out: 0,
    gas: [],
  };
  expect(renderReport(report, false)).toContain(
    [
      "✗ one",
      "    wrong",
      "    rules  a; also 1 of the rules, 1 of the calls, 1 of the attacks",
      "    also broken, perhaps because of it: two (2 checks); three (1 check)",
      "",
    ].join("\n"),
  );
  expect(renderReport(report, false)).toContain("\nThe contract is not safe to use.\n");
  expect(renderReport({ ...report, left_out: 5 }, false)).toContain(
    "\nThe contract is not safe to use. The other 5 checks did not run.\n",
  );
});

test.each([
  [["an offer"], "an offer"],
  [["an offer", "a registration"], "a new purchase"],
  [["an opening", "a change of the bounds"], "a setting of the bounds"],
  [["a withdrawal", "an offer"], "a call of the operator"],
  [["a withdrawal", "an expiry"], "a closing"],
  [["a pause", "a transfer of the admin's role", "a change of the bounds"], "a call"],
])("a rule that is broken for %j is one finding about %s", (calls, together) => {
  const findings = groupFindings(
    calls.map((call) =>
      failed(call, {
        failure: call,
        rule: `${call} by another account is refused`,
        mustSucceed: `${call} succeeds`,
      }),
    ),
  );
  expect(findings.map(({ rule, checks }) => [rule, checks.length])).toEqual([
    [`${together} succeeds`, calls.length],
  ]);
});

test("a rule that is broken for two functions that share none is two findings", () => {
  const rule = (call: string) => ({ failure: call, rule: `${call} after the deadline is refused` });
  const findings = groupFindings([failed("pay", rule("a payment")), failed("claim", rule("a claim"))]);
  expect(findings).toHaveLength(2);
});

test.each([
  ["payBatch", "DeadlinePassed", undefined, "a payment after the deadline is refused"],
  ["pay", "WrongCaller", "Error", "a payment by another account is refused"],
  ["payWithPermit", "Error", "PermitRefused", "a payment with a permit that the token refuses is refused"],
  ["pay", "AmountOutOfRange", "ProgramPaused", "a payment while the program is paused is refused"],
  ["offer", "BudgetExceeded", undefined, "an offer above the budget of open offers is refused"],
  ["register", "NonCanonicalLength", undefined, "calldata that is not canonical is refused"],
  ["openProgram", "Unheard", undefined, "an opening with the error Unheard is refused"],
])("a %s that must revert with %s, and does with %s, breaks one rule", (name, expected, actual, rule) => {
  expect(brokenRule(name, expected, actual)).toBe(rule);
});

test("in GitHub Actions, each finding is an annotation, and the gas another one", () => {
  const report = {
    contract: "A",
    passed: false,
    results: [],
    findings: [
      {
        rule: "one, two",
        failure: "100 %\nmore",
        checks: [
          { suite: "rules", name: "a" },
          { suite: "rules", name: "b", rule: "three" },
        ],
      },
    ],
    not_run: 0,
    left_out: 0,
    gas: [{ function: "pay", gas: 101, ours: 100, baseline: 100 }],
  };
  expect(toAnnotations(report)).toBe(
    "::error title=A%3A one%2C two::100 %25%0Amore%0Aalso broken, perhaps because of it: three (1 check)\n::notice title=A%3A gas::pay 101, ours 100, baseline 100 (+1.0 %25)\n",
  );
});

test("a file that is no baseline of gas is refused with what to do", () => {
  for (const text of ["{", "[]", '{ "A": { "pay": "1" } }', '{ "A": { "pay": 0 } }'])
    expect(() => parseBaseline(text, "gas.json")).toThrow(
      "gas.json is not a baseline of gas. Delete it, and check-contract writes it again.",
    );
});

test("a refusal by the log names the field that differs", () => {
  const log = (paidTotal: string) => [
    { event: "PurchasePaid", fields: { id: "0x1", purchase_: { paidTotal } } },
  ];
  const check = { name: "log", ok: false, expected: log("5"), actual: log("7") };
  const answer = (actual: Json) => ({
    type: "https://localhost/errors/binding_mismatch",
    title: "Binding mismatch",
    status: 422,
    code: "binding_mismatch",
    detail: "failed: log.",
    instance: "/",
    request_id: "req_1",
    retryable: false,
    binding: { accepted: false, checks: [{ ...check, actual }] },
  });
  expect(describeWrongField(answer(log("7")))).toBe(
    ". The field purchase_.paidTotal (it must be 5, it is 7) of the event PurchasePaid is wrong",
  );
  expect(describeWrongField(answer([]))).toBe(". The event PurchasePaid is missing");
  expect(describeWrongField(answer(log("5")))).toBe("");
  expect(describeWrongField({ status: 503 })).toBe("");
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
