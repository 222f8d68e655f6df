import { createHash } from "node:crypto";
import { ed25519ph } from "@noble/curves/ed25519.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { hexToBytes, keccak256, stringToBytes } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Decision, decisionBytes, signDecision } from "../../../../protocol/signatures/decision.ts";
import { signEd25519 } from "../../../../protocol/signatures/ed25519.ts";
import { toTimestamp } from "../../../../protocol/values/time.ts";
import type { Sandbox } from "../../../../sandbox/create-sandbox.ts";
import {
  type DecisionExplanation,
  decisionExplanationSchema,
} from "../../../../sandbox/explain/signatures/signature-explanation.ts";
import type { GivenClaim } from "../../../../sandbox/given/given.ts";
import { startInFolder } from "../../../cli/program.ts";
import { accountOf, runExplain, writeJson } from "../signatures/signing.ts";

let sandbox: Sandbox;
let folder: string;
let end: () => Promise<void>;
let given: GivenClaim;
let decision: Decision;

beforeAll(async () => {
  ({ sandbox, folder, end } = await startInFolder());
  given = await sandbox.given.purchase({ state: "claimed" });
  const { purchase, claim } = given;
  decision = {
    award: "10000000",
    chain_id: sandbox.description.chain.chain_id,
    claim_hash: claim.claim_hash as Decision["claim_hash"],
    claim_id: claim.id,
    commitment_hash: purchase.commitment.hash as Decision["commitment_hash"],
    decided_at: toTimestamp(await sandbox.clock.now()),
    outcome: "approved",
    program: purchase.program,
    purchase: purchase.id,
    reviewer_key_id: sandbox.description.reviewer.key_id,
  };
});
afterAll(async () => await end());

const key = () => hexToBytes(`0x${sandbox.description.reviewer.private_key}`);
const encode = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64url");
const sign = (bytes: Uint8Array) => encode(signEd25519(key(), bytes));
const signText = (text: string) => sign(stringToBytes(text));

/** Asks on the command line, over HTTP and in code, which all answer the same. */
async function explain(about: Decision, signature?: string): Promise<DecisionExplanation> {
  const file = await writeJson(folder, "decision.json", about);
  const flags = signature === undefined ? [] : ["--signature", signature];
  const printed = await runExplain(folder, ["--decision", file, ...flags, "--json"]);
  expect(printed.stderr).toBe("");
  const explanation = decisionExplanationSchema.parse(JSON.parse(printed.stdout));
  expect(printed.code).toBe(explanation.accepted ? 0 : 1);
  const response = await fetch(`${sandbox.description.urls.control}/explain`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ decision: about, ...(signature === undefined ? {} : { signature }) }),
  });
  expect([response.status, await response.json()]).toEqual([200, explanation]);
  expect(await sandbox.explain({ decision: about, signature })).toEqual(explanation);
  return explanation;
}

test("a signed decision shows its bytes and its key, is accepted as what it is, and changes nothing", async () => {
  const before = await sandbox.fingerprint();
  const signature = signDecision(key(), decision);
  const explanation = await explain(decision, signature);
  const bytes = decisionBytes(decision);
  expect(explanation).toMatchObject({
    cause: `It would be accepted as the decision on ${given.claim.id} of ${given.purchase.id}.`,
    accepted: true,
    subject: given.purchase.id,
    decision_hash: `0x${createHash("sha256").update(bytes).digest("hex")}`,
    decision_bytes: `0x${Buffer.from(bytes).toString("hex")}`,
    expected_key_id: decision.reviewer_key_id,
    signature: { given: signature, canonical: signature, over: "given" },
    mistakes: [],
    answer: {
      request: "POST /v1/routing/programs/{program}/purchases/{id}/decisions",
      status: 201,
      code: null,
      detail: null,
    },
  });
  expect((await sandbox.fingerprint()).digest).toBe(before.digest);
});

test("a decision that is not signed yet says which key has to sign it", async () => {
  const explanation = await explain(decision);
  expect(explanation).toMatchObject({ accepted: true, signature: null, mistakes: [] });
  expect(explanation.cause).toBe(
    `It is the decision on ${given.claim.id} of ${given.purchase.id}; the reviewer's key ${decision.reviewer_key_id} signs it.`,
  );
});

const other = `0x${"5c".repeat(32)}` as const;
const shuffled = () => JSON.stringify(Object.fromEntries(Object.entries(decision).toReversed()));
const line = "routing-sandbox/decision/v1\n";
const hashOf = () => createHash("sha256").update(decisionBytes(decision)).digest();

/** A mistake that is made in the decision or in its signature, and the name that it has. */
const seeds: [
  mistake: string,
  make: () => { about: Decision; signature: string },
  named: () => { name: string; field: string; expected?: unknown; actual?: unknown },
][] = [
  [
    "a wrong claim hash",
    () => signed({ claim_hash: other }),
    () => ({
      name: "wrong_claim_hash",
      field: "decision.claim_hash",
      expected: decision.claim_hash,
      actual: other,
    }),
  ],
  [
    "a signature over the commitment hash as the claim hash",
    () => ({
      about: decision,
      signature: signDecision(key(), { ...decision, claim_hash: decision.commitment_hash }),
    }),
    () => ({
      name: "wrong_claim_hash",
      field: "decision.claim_hash",
      expected: decision.claim_hash,
      actual: decision.commitment_hash,
    }),
  ],
  [
    "a wrong chain id",
    () => signed({ chain_id: 1 }),
    () => ({ name: "wrong_chain_id", field: "decision.chain_id", expected: 31337, actual: 1 }),
  ],
  [
    "another commitment hash",
    () => signed({ commitment_hash: other }),
    () => ({
      name: "changed_field",
      field: "decision.commitment_hash",
      expected: decision.commitment_hash,
      actual: other,
    }),
  ],
  [
    "a key that is not the designated reviewer's",
    () => signed({ reviewer_key_id: "other" }),
    () => ({ name: "wrong_reviewer", field: "decision.reviewer_key_id", actual: "other" }),
  ],
  ["the bytes in hex as a text", () => signedAs(signText(hex())), () => scheme("hex_text_signed")],
  [
    "the bytes in hex with 0x as a text",
    () => signedAs(signText(`0x${hex()}`)),
    () => scheme("hex_text_signed"),
  ],
  [
    "the decision hash in hex as a text",
    () => signedAs(signText(`0x${hashOf().toString("hex")}`)),
    () => scheme("hex_text_signed"),
  ],
  ["the SHA-256 of the bytes", () => signedAs(sign(hashOf())), () => scheme("prehashed")],
  [
    "the SHA-512 of the bytes",
    () => signedAs(sign(sha512(decisionBytes(decision)))),
    () => scheme("prehashed"),
  ],
  [
    "the Keccak-256 of the bytes",
    () => signedAs(sign(hexToBytes(keccak256(decisionBytes(decision))))),
    () => scheme("prehashed"),
  ],
  [
    "Ed25519ph over the bytes",
    () => signedAs(encode(ed25519ph.sign(decisionBytes(decision), key()))),
    () => scheme("prehashed"),
  ],
  [
    "the JSON without its line",
    () => signedAs(sign(decisionBytes(decision).slice(line.length))),
    () => scheme("missing_domain_line"),
  ],
  [
    "the bytes with a line feed after them",
    () => signedAs(signText(`${Buffer.from(decisionBytes(decision))}\n`)),
    () => scheme("not_canonical_json"),
  ],
  [
    "a carriage return after the line",
    () => signedAs(signText(`${Buffer.from(decisionBytes(decision))}`.replace("\n", "\r\n"))),
    () => scheme("not_canonical_json"),
  ],
  [
    "JSON in the order of the program",
    () => ({ about: JSON.parse(shuffled()), signature: signText(line + shuffled()) }),
    () => scheme("not_canonical_json"),
  ],
  [
    "a signature in hex",
    () => signedAs(Buffer.from(signDecision(key(), decision), "base64url").toString("hex")),
    () => ({
      name: "wrong_encoding",
      field: "signature",
      expected: "base64url without padding",
      actual: "hex",
    }),
  ],
  [
    "a signature in base64 with padding",
    () => signedAs(Buffer.from(signDecision(key(), decision), "base64url").toString("base64")),
    () => ({ name: "wrong_encoding", field: "signature" }),
  ],
  [
    "another key",
    () => signedAs(signDecision(new Uint8Array(32).fill(7), decision)),
    () => ({ name: "wrong_key", field: "signature", expected: decision.reviewer_key_id, actual: null }),
  ],
];

function signed(change: Partial<Decision>) {
  const about = { ...decision, ...change };
  return { about, signature: signDecision(key(), about) };
}

const signedAs = (signature: string) => ({ about: decision, signature });
const hex = () => Buffer.from(decisionBytes(decision)).toString("hex");
const scheme = (name: string) => ({ name, field: "signature", expected: "Ed25519 over the decision bytes" });

describe("explain names in a decision", () => {
  test.each(seeds)("%s", async (_mistake, make, named) => {
    const { about, signature } = make();
    const explanation = await explain(about, signature);
    expect(explanation.mistakes).toEqual([expect.objectContaining(named())]);
    expect(explanation).toMatchObject({
      accepted: false,
      cause: explanation.mistakes[0]?.detail,
      subject: given.purchase.id,
    });
    expect(explanation.answer?.code).toMatch(
      /^(signature_invalid|reviewer_not_designated|validation_failed)$/,
    );
  });

  test("a wallet's signature", async () => {
    const signature = await accountOf(sandbox, "buyer").signMessage({ message: "decision" });
    expect((await explain(decision, signature)).mistakes).toMatchObject([
      { name: "ecdsa_signature", field: "signature" },
    ]);
  });

  test("the key that signed before a rotation", async () => {
    const before = await sandbox.snapshot();
    const signature = signDecision(key(), decision);
    await sandbox.rotateKeys("reviewer");
    const renamed = { ...decision, reviewer_key_id: sandbox.description.reviewer.key_id };
    const old = decision.reviewer_key_id;
    const { mistakes } = await explain(decision, signature);
    expect(mistakes).toMatchObject([
      { name: "wrong_reviewer", field: "decision.reviewer_key_id", actual: old },
      { name: "wrong_key", field: "signature", expected: renamed.reviewer_key_id, actual: old },
    ]);
    await before.restore();
  });
});

test("an award above the claim, and a decided claim, are refused by the service", {
  tags: "thorough",
}, async () => {
  const { about, signature } = signed({ award: "25000001" });
  expect(await explain(about, signature)).toMatchObject({
    accepted: false,
    mistakes: [],
    answer: { status: 422, code: "validation_failed" },
  });
  const { purchase, claim } = await sandbox.given.purchase({ state: "denied" });
  const decided = signed({
    purchase: purchase.id,
    claim_id: claim.id,
    claim_hash: claim.claim_hash as Decision["claim_hash"],
    commitment_hash: purchase.commitment.hash as Decision["commitment_hash"],
  });
  const explanation = await explain(decided.about, decided.signature);
  expect(explanation).toMatchObject({ mistakes: [], answer: { status: 409, code: "state_conflict" } });
  expect(explanation.cause).toMatch(
    / would respond with 409 state_conflict: A purchase that is denied does not allow decisions;/,
  );
});

test("a decision on no purchase of the sandbox shows its bytes", async () => {
  const strange = { ...decision, purchase: "pur_x", claim_id: "clm_x", commitment_hash: other };
  expect(await explain(strange, signDecision(key(), strange))).toMatchObject({
    accepted: false,
    cause: "The sandbox knows no purchase of this decision.",
    subject: null,
    fields: [],
    answer: { status: 422, code: "validation_failed" },
  });
});

test("a terminal shows cause, mistakes, the signed bytes and the answer", async () => {
  const { about, signature } = signed({ claim_hash: other });
  const flags = ["--decision", "-", "--signature", signature];
  const { stdout } = await runExplain(folder, flags, JSON.stringify(about));
  const lines = stdout.split("\n");
  expect(lines[0]).toBe(`decision.claim_hash is "${other}"; "${decision.claim_hash}" was expected.`);
  expect(lines[1]).toMatch(
    /^Simulated on block \d+ at 20.*Z, compared with the decision of pur_[a-z2-7]{20}$/,
  );
  expect(stdout).toContain("\nMistakes\n  wrong_claim_hash (decision.claim_hash): decision.claim_hash is ");
  expect(stdout).toContain(`\n  reviewer's key  ${decision.reviewer_key_id}\n`);
  expect(stdout).toContain(
    "decisions: 422 signature_invalid, The approval is not a signature of the reviewer's key over this decision",
  );
});

describe("bad input is refused in the words of the option:", () => {
  const ofSignature = "Pass the reviewer's Ed25519 signature: 64 bytes in base64url without padding.";
  const remedy =
    "Pass the decision that the reviewer signs: award, chain_id, claim_hash, claim_id, commitment_hash, decided_at, outcome, program, purchase, reviewer_key_id.";
  test.each<[what: string, flag: string, input: () => unknown, flags: string[], message: string]>([
    ["no object", "--decision", () => 5, [], `--decision is 5. ${remedy}`],
    [
      "a missing member",
      "--decision",
      () => ({ ...decision, award: undefined }),
      [],
      `--decision is wrong: award is missing. ${remedy}`,
    ],
    [
      "a short signature",
      "--decision",
      () => decision,
      ["--signature", "AAAA"],
      `--signature has 3 bytes. ${ofSignature}`,
    ],
    ["a text", "--decision", () => decision, ["--signature", "a b"], `--signature is "a b". ${ofSignature}`],
    [
      "a decision as typed data",
      "--typed-data",
      () => decision,
      [],
      "--typed-data is a decision. Pass it with --decision.",
    ],
    [
      "an unknown purchase",
      "--decision",
      () => decision,
      ["--for", "mer_x"],
      'for is "mer_x", which is no purchase of this sandbox. Pass the id of a purchase.',
    ],
  ])("%s", async (_what, flag, input, flags, message) => {
    const printed = await runExplain(folder, [flag, "-", ...flags], JSON.stringify(input()));
    expect(printed).toEqual({ stderr: `${message}\n`, code: 1, stdout: "" });
  });
});
