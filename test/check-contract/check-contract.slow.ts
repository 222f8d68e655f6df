import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Hex } from "viem";
import { beforeAll, expect, test } from "vitest";
import { attacks, attacksWithPermit } from "../../check-contract/attacks/all.ts";
import { type ContractReport, checkContract } from "../../check-contract/check-contract.ts";
import { type ReferenceEffects, readReference } from "../../check-contract/reference.ts";
import { stateChecks } from "../../check-contract/rules/plan.ts";
import { readArtifact } from "../../sandbox/chain/registrar/artifact.ts";
import { packageRoot } from "../../sandbox/lib/package-root.ts";
import { tryCli } from "../cli/run-cli.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { brokenArtifacts, type RareBreak, rareArtifact, reorderedArtifact } from "./broken-registrars.ts";

const own = join(packageRoot(), "artifacts", "contracts", "PurchaseRegistrar.sol", "PurchaseRegistrar.json");
const adversary = join(
  packageRoot(),
  "artifacts/contracts/adversaries/LookalikeRegistrar.sol/LookalikeRegistrar.json",
);
/** One area for all contracts; every attack on the sandbox's own registrar is a test of its own. */
const tried = [...attacks, ...attacksWithPermit].filter(({ area }) => area === "calldata");
let reports: ContractReport[];
let reference: ReferenceEffects;
/** The number of calls that are compared with those of the sandbox's own contract. */
let compared: number;
/** The calls in every state, and the check that each state is reached. */
const inStates = stateChecks.length + 1;

beforeAll(async () => {
  const artifacts = [own, ...(await brokenArtifacts())];
  reference = { ...(await readReference()), gas: { pay: 80_000 } };
  compared = [...reference.calls.values()].reduce((sum, calls) => sum + calls.length, 0);
  reports = await Promise.all(
    artifacts.map(
      async (file) => await checkContract(await readArtifact(file), { reference, attacks: tried }),
    ),
  );
  // Seven sandboxes at once take as long as seven tests.
}, 420_000);

function reportOf(contract: string): ContractReport {
  const report = reports.find((one) => one.contract === contract);
  if (report === undefined) throw new Error(`There is no report of ${contract}.`);
  return report;
}

/** The failures of the calls in every state, of the sequences of calls, or of the attacks. */
function failuresOf(contract: string, of: "rules" | "calls" | "attacks"): [string, string | null][] {
  return reportOf(contract)
    .results.filter(({ suite, failure }) => failure !== null && suite.startsWith(of))
    .map(({ name, failure }) => [name, failure?.replaceAll(/0x[0-9a-f]{64}/g, "HASH") ?? null]);
}

test("the sandbox's own registrar contract passes everything", () => {
  const { passed, results } = reportOf("PurchaseRegistrar");
  expect(results.filter(({ failure }) => failure !== null)).toEqual([]);
  expect(passed).toBe(true);
  expect(results).toHaveLength(4 + inStates + compared + tried.length);
});

test("gas is compared with the sandbox's own", () => {
  const { gas } = reportOf("PurchaseRegistrar");
  expect(gas.map((one) => one.function).toSorted()).toEqual(
    [
      "claim",
      "collectRefund",
      "enroll",
      "offer",
      "pay",
      "payBatch of 2",
      "payWithPermit",
      "register",
      "revokeFunding",
    ].toSorted(),
  );
  expect(gas.find((one) => one.function === "pay")).toMatchObject({ ours: 80_000 });
  expect(gas.every((one) => one.gas > 21_000)).toBe(true);
});

test("of a registrar that accepts trailing calldata, an attack says that the service still refuses it", () => {
  expect(reportOf("AcceptsTrailingCalldata").passed).toBe(false);
  expect(failuresOf("AcceptsTrailingCalldata", "attacks")).toMatchInlineSnapshot(`
    [
      [
        "a payment with a trailing byte",
        "expected 422 binding_mismatch by status, calldata, log, got 422 binding_mismatch by calldata. The service says: The call of pay has the right arguments, but 1 byte too many: 00 at byte 68.",
      ],
    ]
  `);
});

test("each contract with one defect has one finding, which names the rule", () => {
  const found = reports.map(({ contract, findings }) => [contract, findings.map(({ rule }) => rule)]);
  expect(Object.fromEntries(found)).toEqual({
    PurchaseRegistrar: [],
    MissingBuyerCheck: ["a payment by another account is refused"],
    MissingDeadline: ["a payment after the deadline is refused"],
    AcceptsTrailingCalldata: ["calldata that is not canonical is refused"],
    PaysAfterTheRefund: ["a payment after the refund is refused"],
    PauseBlocksRefunds: ["a refund that must succeed is not refused with ProgramPaused"],
    RevocationEndsCover: ["a refund that must succeed is not refused with DeadlinePassed"],
  });
});

const refused = "is not refused with";

test.each<[RareBreak, only: string, rule: string, failure: RegExp]>([
  [
    "WithdrawalWaitsForNewAdmin",
    "while another admin is named",
    `a withdrawal that must succeed ${refused} ProgramPaused`,
    /^offer, open: the call should have succeeded; it reverted with ProgramPaused/,
  ],
  [
    "TransferOfAdminEnds",
    "calls: years later/",
    `an acceptance of the admin's role that must succeed ${refused} DeadlinePassed`,
    /^the call should have succeeded; it reverted with DeadlinePassed/,
  ],
  [
    "ContractsOpenNoProgram",
    "openProgram of a new program",
    `an opening that must succeed ${refused} ZeroValue`,
    /^offer, wallets with code: the call should have succeeded; it reverted with ZeroValue\(\)$/,
  ],
  [
    "GuardedFigures",
    "calls: reentrancy/",
    "figures() during the transfer returns the right value",
    /^figures\(\) during the transfer must be \{"status":"1",.*\}; it reverts \(0x\w+\)$/,
  ],
  [
    "OtherAllowance",
    "rules/the view functions",
    "the field allowance of funding() has the right value",
    /^offer, funding revoked: funding\(0x\w+, 0x\w+\)\.allowance must be 1000; it is 0$/,
  ],
  [
    "ExtraEvent",
    "rules/claim by the beneficiary",
    "a call emits no event that it must not emit",
    /^offer, paid in part: the call must not emit \{"emitter":"registrar","topics":\["0x\w+"\],"data":"0x\w+"\}$/,
  ],
  [
    "DeadlinesMustDiffer",
    "one deadline for all",
    `a new purchase that must succeed ${refused} DeadlinesOutOfOrder`,
    /^offer, open: the call should have succeeded; it reverted with DeadlinesOutOfOrder/,
  ],
  [
    "EnrollmentWaitsAfterRevocation",
    "rules/",
    `an enrollment that must succeed ${refused} AlreadyEnrolled`,
    /^offer, open: a valid enroll by the merchant reverted with AlreadyEnrolled/,
  ],
  [
    "PaymentsLeaveABalance",
    "whole balance",
    `a payment that must succeed ${refused} InexactTransfer`,
    /^offer, open: the call should have succeeded; it reverted with InexactTransfer/,
  ],
  [
    "BatchesTakeSwappedArrays",
    "payBatch with the second array first",
    "calldata that is not canonical is refused",
    /^offer, open: the call should have reverted with NonCanonicalEncoding or NonCanonicalLength; it succeeded$/,
  ],
  [
    "BatchesMoveInexactly",
    "calls: reentrancy/",
    "a payment by which another amount moves is refused",
    /^the call should have reverted with InexactTransfer\(.*\); it succeeded/,
  ],
  [
    "AsksSignersWithLittleGas",
    "rules/offer with 65 zero bytes for a commitment signer that uses",
    "a commitment signer with code is asked by its code, and only its magic value is accepted",
    /^offer, open: the call should have succeeded; it reverted with InvalidSignature/,
  ],
  [
    "OpensTheGuardBeforeTheDraw",
    "calls: reentrancy/",
    "a call from inside a transfer is refused",
    /^the call from inside the transfer should have reverted with an error of a guard; it succeeded/,
  ],
  [
    "CutsFundingNumbers",
    "calls: many calls/",
    "the field merchantRef of purchase() has the right value",
    /^purchase\(0x\w+\)\.merchantRef must be 0x\w+; it is 0x\w+$/,
  ],
  [
    "OriginIsAdmin",
    "calls: calls by contracts/",
    "a change of the bounds by another account is refused",
    /^the call should have reverted with WrongCaller\(.*\); it succeeded$/,
  ],
  [
    "HoldsNothing",
    "calls: tokens and ETH of the contracts/",
    "tokens and ETH that anyone sends to the contracts block no call",
    /^the call should have succeeded; it reverted with no reason$/,
  ],
  [
    "CollectsPerWallet",
    "rules/register up to the cap of a new enrollment",
    `a registration that must succeed ${refused} FundingInsufficient`,
    /^offer, merchant re-enrolled: the call should have succeeded; it reverted with FundingInsufficient\(.*\)$/,
  ],
  [
    "RemembersSignatures",
    "rules/offer with the signature of an offer",
    "an offer without a valid signature is refused",
    /^offer, open: the call should have reverted with InvalidSignature\(.*\); it succeeded$/,
  ],
  [
    "LetsLookalikesDraw",
    "calls: draws/",
    "only the registrar contract draws from the funding source",
    /^the call should have reverted with NotRegistrar\(.*\); it succeeded$/,
  ],
  [
    "KeepsTheGuard",
    "calls: calls by contracts/",
    "several calls in one transaction succeed",
    /^the call should have succeeded; it reverted with ReentrancyGuardReentrantCall/,
  ],
  [
    "CutsSalts",
    "deployment",
    "takes the place of the sandbox's own registrar contract",
    /^CutsSalts returns other EIP-712 digests than the API from hashFunding\. /,
  ],
  [
    "EmitsAfterTheDraw",
    "rules/collectRefund by the operator",
    "a call emits its events in the right order",
    /^offer, paid in part, claimed: the call must emit RefundCollected, Transfer in this order; it emits Transfer, RefundCollected$/,
  ],
  [
    "KeepsFormerSigner",
    "with a signature of the former commitment signer",
    "a signature of the former commitment signer is refused",
    /^offer, open: the call should have reverted with InvalidSignature\(.*\); it succeeded$/,
  ],
  [
    "SignerOfTheEnrollment",
    "with a signature of the former commitment signer",
    "a signature of the former commitment signer is refused",
    /^offer, open: the call should have reverted with InvalidSignature\(.*\); it succeeded$/,
  ],
  [
    "DeadlinesNeedASecondMore",
    "calls: without an end/",
    "an enrollment that must succeed is not refused with Panic",
    /^the call should have succeeded; it reverted with Panic\(reason 17\)$/,
  ],
  [
    "AcceptanceReplacesOperator",
    "rules/acceptAdmin",
    "the field operator of programState() has the right value",
    /^offer, open: programState\(0x\w+\)\.operator must be 0x\w+; it is 0x\w+$/,
  ],
  [
    "NamedAdminNamesAnother",
    "by the named admin",
    "a transfer of the admin's role by another account is refused",
    /^offer, open: the call should have reverted with WrongCaller\(.*\); it succeeded$/,
  ],
  [
    "OperatorPauses",
    "rules/setPaused",
    "a pause by another account is refused",
    /^offer, open: the call should have reverted with WrongCaller\(.*\); it succeeded$/,
  ],
  [
    "DecisionIsNoClaim",
    "as the decision hash",
    `a refund that must succeed ${refused} ZeroValue`,
    /^offer, open: the call should have succeeded; it reverted with ZeroValue\(\)$/,
  ],
  [
    "FullRefundNeedsNoDecision",
    "rules/collectRefund",
    "a refund with a zero value is refused",
    /^offer, paid in part, claimed: the call should have reverted with ZeroValue\(\); it succeeded$/,
  ],
  [
    "OpensTheGuardInBatches",
    "calls: reentrancy/",
    "a call from inside a transfer is refused",
    /^the call from inside the transfer should have reverted with an error of a guard; it succeeded/,
  ],
  [
    "SignerRegisters",
    "rules/register",
    "a registration by another account is refused",
    /^offer, open: the call should have reverted with WrongCaller\(.*\); it succeeded$/,
  ],
  [
    "EnrollsWithinTheBounds",
    "rules/",
    `an enrollment that must succeed ${refused} FundingTooShort`,
    /^a valid enroll by the other_buyer reverted with FundingTooShort\(.*\) \(0x\w+\)$/,
  ],
  [
    "RevocationForgetsTheFunding",
    "funding revoked",
    "the field wallet of funding() has the right value",
    /^offer, funding revoked: funding\(0x\w+, 0x\w+\)\.wallet must be 0x\w+; it is 0x0{40}$/,
  ],
  [
    "DelegatedSignersKeySigns",
    "that delegates to code",
    "a commitment signer with code is asked by its code, and only its magic value is accepted",
    /^offer, open: the call should have reverted with InvalidSignature\(.*\); it succeeded$/,
  ],
  [
    "AdminSignsWithoutSigner",
    "without a commitment signer",
    "every signature is refused without a commitment signer",
    /^offer, open: the call should have reverted with InvalidSignature\(signer 0x0{40}, .*\); it succeeded$/,
  ],
  [
    "NamesAdminOfAllPrograms",
    "acceptAdmin of another program",
    "an acceptance of the admin's role by another account is refused",
    /^offer, open: the call should have reverted with WrongCaller\(.*\); it succeeded$/,
  ],
  [
    "FirstOfferHasNoBudget",
    "calls: first offer/",
    "an offer above the budget of open offers is refused",
    /^the call should have reverted with BudgetExceeded\(.*\); it succeeded/,
  ],
  [
    "RefundNeedsSigner",
    "after the end of the commitment signer",
    `a refund that must succeed ${refused} ZeroValue`,
    /^offer, open: the call should have succeeded; it reverted with ZeroValue\(\)$/,
  ],
  [
    "PermitWithLowV",
    "rules/payWithPermit",
    "a payment with a permit that the token refuses is refused",
    /^offer, open: the call should have reverted with PermitRefused\(.*\); it succeeded$/,
  ],
  [
    "HashesNoClaimTwice",
    "rules/the view functions",
    "hashClaim() returns the right value",
    /^offer, paid in part, claimed: hashClaim\(…\) must be 0x\w{64}; it reverts$/,
  ],
  [
    "AdminCollectsLate",
    "rules/collectRefund",
    "a refund by another account is refused",
    /^offer, open: the call should have reverted with WrongCaller\(.*\); it succeeded$/,
  ],
  [
    "MerchantRefundsAll",
    "rules/collectRefund",
    "a refund by another account is refused",
    /^offer, open: the call should have reverted with WrongCaller\(.*\); it succeeded$/,
  ],
  [
    "NamedAdminDeclines",
    "rules/transferAdmin",
    "a transfer of the admin's role by another account is refused",
    /^offer, open: the call should have reverted with WrongCaller\(.*\); it succeeded$/,
  ],
  [
    "PaysInTheFirstToken",
    "calls: reentrancy/",
    "a call moves the token of its purchase",
    /^emitter of the event Transfer must be 0x\w+; it is token \(0x\w+\)$/,
  ],
  [
    "PaysLastFirst",
    "rules/payBatch",
    "a call emits its events in the right order",
    /the call must emit PurchasePaid of 0x\w+, PurchasePaid of 0x\w+.* in this order; it emits PurchasePaid of /,
  ],
  [
    "PaysTwentyPurchases",
    "calls: many calls/",
    `a payment that must succeed ${refused} BatchLengths`,
    /^the call should have succeeded; it reverted with BatchLengths/,
  ],
  [
    "NoWalletOfUnknownPrograms",
    "rules/enrolledAs()",
    "enrolledAs() returns the right value",
    /^offer, open: the call should have succeeded; it reverted with ProgramNotOpen/,
  ],
  [
    "BuyerSigns",
    "a signature of the buyer",
    "a new purchase without a valid signature is refused",
    /^offer, open: the call should have reverted with InvalidSignature\(.*\); it succeeded$/,
  ],
  [
    "SignsWithoutDomain",
    "rules/register",
    "a signature of the message without its domain is refused",
    /^offer, open: the call should have reverted with InvalidSignature\(.*\); it succeeded$/,
  ],
  [
    "TakesRefInAnotherToken",
    "walks/",
    "an enrollment under a merchantRef that is taken is refused",
    /; revokeFunding [^;]*; enroll [^;]* another token[^;]*: the call should have reverted with MerchantRefTaken\(.*\); it succeeded$/,
  ],
  [
    "ForgetsOffersOfOneTransaction",
    "walks/",
    "the field openOffers of programState() has the right value",
    /; offer [^;]* together with offer [^;]*: programState\(0x\w+\)\.openOffers must be \d+; it is \d+$/,
  ],
  [
    "DrawsWithAnyCalldata",
    "calls: draws/",
    "calldata that is not canonical is refused",
    /^the call should have reverted with NonCanonicalLength or NonCanonicalEncoding; it succeeded$/,
  ],
])(
  "a bug that shows in few calls is one finding, which names it: %s",
  async (name, only, rule, failure) => {
    const artifact = await readArtifact(await rareArtifact(name));
    const { findings } = await checkContract(artifact, {
      reference,
      only,
    });
    expect(findings).toMatchObject([{ rule, failure: expect.stringMatching(failure) }]);
  },
  120_000,
);

test.each([
  ["RegistersOtherBuyer", "the field buyer of the event PurchaseRegistered has the right value"],
  ["RevocationKeepsTheEnrollment", "enrolledAs() returns the right value"],
  ["FundingPerWallet", "the field program of purchase() has the right value"],
  ["CollectsOneMore", "the field collected of funding() has the right value"],
] as const)(
  "a wrong value is one finding, whatever events, errors and later calls show it: %s",
  async (name, rule) => {
    const artifact = await readArtifact(await rareArtifact(name));
    const { findings } = await checkContract(artifact, {
      reference,
      attacks: [],
    });
    expect(findings).toMatchObject([{ rule }]);
  },
  120_000,
);

test("a contract that accepts ETH with every call is one finding", async () => {
  const artifact = await readArtifact(own);
  // Zero in place of the value, which the compiler's code compares with zero before it looks at the function.
  const bytecode = artifact.bytecode.replaceAll("348015", "5f8015") as Hex;
  expect(bytecode).not.toBe(artifact.bytecode);
  const { findings } = await checkContract({ ...artifact, bytecode }, { reference, only: "with ETH" });
  expect(findings).toMatchObject([
    {
      rule: "a call with ETH is refused",
      failure: "offer, open: the call should have reverted with no reason; it succeeded",
    },
  ]);
  // One of each function.
  expect(findings[0]?.checks).toHaveLength(16);
});

test("a call whose effect differs from the sandbox's own contract is named, with both effects", () => {
  expect(failuresOf("MissingBuyerCheck", "calls")).toMatchInlineSnapshot(`
    [
      [
        "pay through a contract that the buyer calls is refused",
        "the call should have reverted with WrongCaller(actual 0xbdEd0D2bf404bdcBa897a74E6657f1f12e5C6fb6, expected 0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC); it reverted with Error(message ERC20: transfer amount exceeds allowance)",
      ],
    ]
  `);
  expect(failuresOf("RevocationEndsCover", "calls")).toMatchInlineSnapshot(`
    [
      [
        "a large refund long after a revocation is accepted",
        "the call should have succeeded; it reverted with DeadlinePassed(timestamp 2251799813685253, deadline 1125899906842629)",
      ],
    ]
  `);
});

// Long: lists of the names of checks.
test("a call that differs in some states is named once, with the plainest of these states", () => {
  expect(failuresOf("RevocationEndsCover", "rules")).toMatchInlineSnapshot(`
    [
      [
        "collectRefund in the last second of the funding: offer, funding revoked",
        "offer, paid in part, claimed, funding revoked: the call should have succeeded; it reverted with DeadlinePassed(timestamp 1767234722, deadline 1767228722)",
      ],
      [
        "collectRefund one second after the funding: offer, funding revoked",
        "offer, paid in part, claimed, funding revoked: the call should have reverted with DeadlinePassed(timestamp 1767234723, deadline 1767234722); it reverted with DeadlinePassed(timestamp 1767234723, deadline 1767228722)",
      ],
      [
        "collectRefund after an enrollment in another token after the claim deadline: offer, claimed",
        "offer, paid, claimed: the call should have succeeded; it reverted with DeadlinePassed(timestamp 1767228723, deadline 1767228722)",
      ],
      [
        "collectRefund after an enrollment in another token after the end of the bounds: offer, claimed",
        "offer, paid, claimed: the call should have succeeded; it reverted with DeadlinePassed(timestamp 1767229723, deadline 1767228722)",
      ],
    ]
  `);
  expect(failuresOf("PauseBlocksRefunds", "rules").map(([name]) => name)).toMatchInlineSnapshot(`
    [
      "every state is reached",
      "collectRefund by the operator: offer, program paused",
      "collectRefund of a part: offer, program paused",
      "collectRefund of more than a part: offer, program paused",
      "collectRefund of more than the amount: offer, program paused",
      "collectRefund above the allowance: offer, program paused",
      "collectRefund from a blocked merchant: offer, program paused",
      "collectRefund of zero: offer, program paused",
      "collectRefund with a zero decision hash: offer, program paused",
      "collectRefund of a part with a zero decision hash: offer, program paused",
      "collectRefund of all with a zero decision hash: offer, program paused",
      "collectRefund of all: offer, program paused",
      "collectRefund in the last second of the funding: offer, program paused",
      "collectRefund one second after the funding: offer, program paused",
    ]
  `);
  expect(failuresOf("MissingBuyerCheck", "rules").map(([name]) => name)).toMatchInlineSnapshot(`
    [
      "pay by the admin: offer, open",
      "pay by the operator: offer, open",
      "pay by the merchant: offer, open",
      "pay by the beneficiary: offer, open",
      "pay by the other operator: offer, open",
      "pay by the commitment signer: offer, open",
      "pay by the stranger: offer, open",
      "payBatch of one purchase by the admin: offer, open",
      "payBatch of one purchase by the operator: offer, open",
      "payBatch of one purchase by the merchant: offer, open",
      "payBatch of one purchase by the beneficiary: offer, open",
      "payBatch of one purchase by the other operator: offer, open",
      "payBatch of one purchase by the commitment signer: offer, open",
      "payBatch of one purchase by the stranger: offer, open",
      "payWithPermit by the admin: offer, open",
      "payWithPermit by the operator: offer, open",
      "payWithPermit by the merchant: offer, open",
      "payWithPermit by the beneficiary: offer, open",
      "payWithPermit by the other operator: offer, open",
      "payWithPermit by the commitment signer: offer, open",
      "payWithPermit by the stranger: offer, open",
      "payBatch by another buyer with the purchase first: offer, open",
      "payBatch by the beneficiary with the purchase first: offer, open",
      "payBatch by another buyer with the purchase in the middle: offer, open",
      "payBatch by the beneficiary with the purchase in the middle: offer, open",
      "payBatch by another buyer with the purchase last: offer, open",
      "payBatch by the beneficiary with the purchase last: offer, open",
      "payBatch by another buyer with the purchase third of four: offer, open",
      "pay by the named admin: offer, open",
      "payBatch by the named admin: offer, open",
      "payWithPermit by the named admin: offer, open",
      "pay after the offer deadline by the admin: offer, open",
      "pay after the offer deadline by the operator: offer, open",
      "pay after the offer deadline by the merchant: offer, open",
      "pay after the offer deadline by the beneficiary: offer, open",
      "pay after the offer deadline by the other operator: offer, open",
      "pay after the offer deadline by the commitment signer: offer, open",
      "pay after the offer deadline by the stranger: offer, open",
      "payBatch after the offer deadline by the admin: offer, open",
      "payBatch after the offer deadline by the operator: offer, open",
      "payBatch after the offer deadline by the merchant: offer, open",
      "payBatch after the offer deadline by the beneficiary: offer, open",
      "payBatch after the offer deadline by the other operator: offer, open",
      "payBatch after the offer deadline by the commitment signer: offer, open",
      "payBatch after the offer deadline by the stranger: offer, open",
      "payWithPermit after the offer deadline by the admin: offer, open",
      "payWithPermit after the offer deadline by the operator: offer, open",
      "payWithPermit after the offer deadline by the merchant: offer, open",
      "payWithPermit after the offer deadline by the beneficiary: offer, open",
      "payWithPermit after the offer deadline by the other operator: offer, open",
      "payWithPermit after the offer deadline by the commitment signer: offer, open",
      "payWithPermit after the offer deadline by the stranger: offer, open",
      "pay of all by the admin: offer, open",
      "pay of all by the operator: offer, open",
      "pay of all by the merchant: offer, open",
      "pay of all by the beneficiary: offer, open",
      "pay of all by the other operator: offer, open",
      "pay of all by the commitment signer: offer, open",
      "pay of all by the stranger: offer, open",
      "payBatch of all by the admin: offer, open",
      "payBatch of all by the operator: offer, open",
      "payBatch of all by the merchant: offer, open",
      "payBatch of all by the beneficiary: offer, open",
      "payBatch of all by the other operator: offer, open",
      "payBatch of all by the commitment signer: offer, open",
      "payBatch of all by the stranger: offer, open",
    ]
  `);
});

test("the calls after one that differs do not run, since they start from another state", () => {
  const { results, not_run } = reportOf("MissingDeadline");
  expect(results.length + not_run).toBe(4 + inStates + compared + tried.length);
  expect(compared - results.filter(({ suite }) => suite.startsWith("calls:")).length).toBe(5);
});

test("a contract that makes its checks in another order passes: each refused call breaks one rule", async () => {
  const { results } = await checkContract(await readArtifact(await reorderedArtifact()), { attacks: [] });
  expect(results.filter(({ failure }) => failure !== null)).toEqual([]);
}, 60_000);

test("a baseline of gas is written, then compared, and a step that costs over 1 % more fails", async () => {
  const folder = await temporaryFolder();
  const [baseline, junit] = [join(folder, "gas.json"), join(folder, "report.xml")];
  const check = ["check-contract", "--artifact", own, "--only", "lifecycle/", "--gas-baseline", baseline];
  expect(await tryCli(check)).toMatchObject({ code: 0 });
  const written = JSON.parse(await readFile(baseline, "utf8"));
  expect(Object.keys(written.PurchaseRegistrar)).toHaveLength(9);
  written.PurchaseRegistrar.pay = Math.floor(written.PurchaseRegistrar.pay / 1.02);
  written.PurchaseRegistrar.claim = Math.floor(written.PurchaseRegistrar.claim / 1.009);
  await writeFile(baseline, JSON.stringify(written));
  const { code, stdout, stderr } = await tryCli([...check, "--junit", junit]);
  expect(code).toBe(1);
  expect(stdout).toMatch(/✗ pay costs at most 1 % more\n {4}pay costs \d+ gas; the baseline is \d+\n/);
  expect(stdout).toContain("1 broken rule\n");
  expect(stdout).toMatch(
    /\nThe contract costs more gas than the baseline\. The other \d+ checks did not run\.\n/,
  );
  expect(stdout).toMatch(/ {2}pay +\d+ {2}ours +\d+ {2}\+0\.0 % {2}baseline +\d+ {2}\+2\.0 %/);
  expect(stderr).toContain("Checking PurchaseRegistrar: lifecycle\n");
  expect(await readFile(junit, "utf8")).toContain(
    'classname="PurchaseRegistrar.gas" name="pay costs at most 1 % more"',
  );
}, 120_000);

test("the command answers a script by its exit code, as JSON and in a JUnit file", async () => {
  const junit = join(await temporaryFolder(), "report.xml");
  const check = ["check-contract", "--artifact", adversary, "--json", "--junit", junit];
  const { code, stdout } = await tryCli(check);
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject([
    {
      contract: "LookalikeRegistrar",
      passed: false,
      results: [{ failure: "LookalikeRegistrar does not return an address from fundingSource()." }],
    },
  ]);
  expect(await readFile(junit, "utf8")).toContain('tests="1" failures="1"');
});
