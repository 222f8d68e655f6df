import { type Hex, hashDomain, hashStruct, keccak256, recoverAddress } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Sandbox } from "../../../../sandbox/create-sandbox.ts";
import {
  type TypedDataExplanation,
  typedDataExplanationSchema,
} from "../../../../sandbox/explain/signatures/signature-explanation.ts";
import type { GivenPurchase } from "../../../../sandbox/given/given.ts";
import { startInFolder } from "../../../cli/program.ts";
import {
  accountOf,
  compact,
  digestOf,
  highS,
  parityOf,
  runExplain,
  signTyped,
  type TypedDataView,
  typedDataToSign,
  writeJson,
} from "./signing.ts";

let sandbox: Sandbox;
let folder: string;
let end: () => Promise<void>;
let given: GivenPurchase;
let claim: TypedDataView;

beforeAll(async () => {
  ({ sandbox, folder, end } = await startInFolder());
  given = await sandbox.given.purchase({ state: "reconciled" });
  claim = await typedDataToSign(sandbox, given.purchase, "claim");
});
afterAll(async () => await end());

/** Returns r, s and v of a signature, in hex without 0x. */
function partsOf(signature: Hex): [r: string, s: string, v: string] {
  return [signature.slice(2, 66), signature.slice(66, 130), signature.slice(130)];
}

/** Asks on the command line, over HTTP and in code, which all answer the same. */
async function explain(typed_data: object, signature?: Hex, id?: string): Promise<TypedDataExplanation> {
  const file = await writeJson(folder, "typed-data.json", typed_data);
  const flags = [
    "--typed-data",
    file,
    ...(signature === undefined ? [] : ["--signature", signature]),
    ...(id === undefined ? [] : ["--for", id]),
  ];
  const printed = await runExplain(folder, [...flags, "--json"]);
  expect(printed.stderr).toBe("");
  const explanation = typedDataExplanationSchema.parse(JSON.parse(printed.stdout));
  expect(printed.code).toBe(explanation.accepted ? 0 : 1);
  const body = {
    typed_data,
    ...(signature === undefined ? {} : { signature }),
    ...(id === undefined ? {} : { for: id }),
  };
  const response = await post(body);
  expect([response.status, await response.json()]).toEqual([200, explanation]);
  const request = { typed_data: typed_data as TypedDataView, signature, for: id };
  expect(await sandbox.explain(request)).toEqual(explanation);
  return explanation;
}

async function post(body: unknown): Promise<Response> {
  return await fetch(`${sandbox.description.urls.control}/explain`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
}

/** Has the sandbox restored at the end of a test. */
async function restored({ chain, snapshot }: Sandbox) {
  const before = await snapshot();
  return { client: chain.client, [Symbol.asyncDispose]: async () => await before.restore() };
}

const beneficiary = () => accountOf(sandbox, "beneficiary");

function withDomain(typedData: TypedDataView, domain: object) {
  return { ...typedData, domain: { ...typedData.domain, ...domain } };
}

function withMember(typedData: TypedDataView, message: TypedDataView["message"]): TypedDataView {
  return { ...typedData, message: { ...typedData.message, ...message } };
}

test("a signed claim shows its hashes and its signer, is accepted as what it is, and changes nothing", async () => {
  const before = await sandbox.fingerprint();
  const signature = await signTyped(beneficiary(), claim);
  const explanation = await explain(claim, signature);
  const { domain, types, message } = JSON.parse(JSON.stringify(claim));
  expect(explanation).toMatchObject({
    cause: `It would be accepted as the claim of ${given.purchase.id}.`,
    accepted: true,
    primary_type: "Claim",
    subject: given.purchase.id,
    domain_separator: hashDomain({ domain, types }),
    struct_hash: hashStruct({ data: message, primaryType: "Claim", types }),
    digest: digestOf(claim),
    signer: { address: beneficiary().address, name: "beneficiary" },
    expected_signer: { address: beneficiary().address, name: `the beneficiary of ${given.purchase.id}` },
    signature: { given: signature, canonical: signature, over: "given" },
    mistakes: [],
    answer: { request: "POST /wallet/{program}/purchase/{id}", status: 200, code: null, detail: null },
    call: { accepted: true, step: "claim", call: { function: "claim" } },
  });
  expect(await recoverAddress({ hash: explanation.digest, signature })).toBe(beneficiary().address);
  expect(explanation.fields.every(({ equal }) => equal)).toBe(true);
  expect(explanation.fields.map(({ name }) => name)).toEqual([
    "domain.name",
    "domain.version",
    "domain.chainId",
    "domain.verifyingContract",
    "message.commitment",
    "message.beneficiary",
    "message.requestedAmount",
    "message.reasonHash",
  ]);
  expect((await sandbox.fingerprint()).digest).toBe(before.digest);
});

test("typed data that is not signed yet says who has to sign it", async () => {
  const explanation = await explain(claim);
  const { address } = beneficiary();
  expect(explanation).toMatchObject({
    cause: `It is the claim of ${given.purchase.id}; the beneficiary of ${given.purchase.id} (${address}) signs it.`,
    accepted: true,
    signer: null,
    signature: null,
  });
});

/** A mistake that is made in the data or in the signature, and what names it. */
type Seed = [
  mistake: string,
  make: () => Promise<{ typedData: object; signature: Hex }>,
  named: () => { name: string; field: string; expected?: unknown; actual?: unknown },
];

/** Signs wrong data, as a page does that builds it wrongly. */
const signedAs = (change: () => object) => async () => {
  const typedData = change();
  return { typedData, signature: await signTyped(beneficiary(), typedData) };
};

/** Shows the right data with a signature that was made in another way. */
const signedBy = (sign: () => Promise<Hex>) => async () => ({ typedData: claim, signature: await sign() });

const right = async () => await signTyped(beneficiary(), claim);
const registrar = () => sandbox.description.contracts.registrar;
const token = () => sandbox.description.contracts.token;

const seeds: Seed[] = [
  [
    "a wrong chain id",
    signedAs(() => withDomain(claim, { chainId: 1 })),
    () => ({ name: "wrong_chain_id", field: "domain.chainId", expected: "31337", actual: "1" }),
  ],
  [
    "a signature for another chain",
    signedBy(async () => await signTyped(beneficiary(), withDomain(claim, { chainId: 11155111 }))),
    () => ({ name: "wrong_chain_id", field: "domain.chainId", expected: 31337, actual: 11155111 }),
  ],
  [
    "a wrong verifying contract",
    signedAs(() => withDomain(claim, { verifyingContract: token() })),
    () => ({
      name: "wrong_verifying_contract",
      field: "domain.verifyingContract",
      expected: registrar(),
      actual: token(),
    }),
  ],
  [
    "a signature for another contract",
    signedBy(async () => await signTyped(beneficiary(), withDomain(claim, { verifyingContract: token() }))),
    () => ({ name: "wrong_verifying_contract", field: "domain.verifyingContract", actual: token() }),
  ],
  [
    "a wrong domain version",
    signedAs(() => withDomain(claim, { version: "2" })),
    () => ({ name: "wrong_domain_version", field: "domain.version", expected: "1", actual: "2" }),
  ],
  [
    "a signature for another version",
    signedBy(async () => await signTyped(beneficiary(), withDomain(claim, { version: "2" }))),
    () => ({ name: "wrong_domain_version", field: "domain.version", actual: "2" }),
  ],
  [
    "a wrong domain name",
    signedAs(() => withDomain(claim, { name: "Registrar" })),
    () => ({ name: "wrong_domain_name", field: "domain.name", actual: "Registrar" }),
  ],
  [
    "a changed field",
    signedAs(() => withMember(claim, { beneficiary: accountOf(sandbox, "stranger").address })),
    () => ({
      name: "changed_field",
      field: "message.beneficiary",
      expected: beneficiary().address,
      actual: accountOf(sandbox, "stranger").address,
    }),
  ],
  [
    "a type with another order of its members",
    signedAs(() => ({
      ...claim,
      types: { ...claim.types, Claim: [...(claim.types["Claim"] ?? [])].reverse() },
    })),
    () => ({ name: "wrong_types", field: "types.Claim" }),
  ],
  [
    "types without EIP712Domain, which the wallet hashed as an empty domain",
    async () => {
      const { EIP712Domain: _, ...types } = claim.types;
      const hashed = { ...claim, domain: {}, types: { ...types, EIP712Domain: [] } };
      return { typedData: { ...claim, types }, signature: await signTyped(beneficiary(), hashed) };
    },
    () => ({ name: "missing_domain_type", field: "types.EIP712Domain" }),
  ],
  [
    "personal_sign of the JSON",
    signedBy(async () => await beneficiary().signMessage({ message: JSON.stringify(claim) })),
    () => ({ name: "personal_sign", field: "signature", expected: "eth_signTypedData_v4" }),
  ],
  [
    "personal_sign of the digest as a text",
    signedBy(async () => await beneficiary().signMessage({ message: digestOf(claim) })),
    () => ({ name: "personal_sign", field: "signature" }),
  ],
  [
    "eth_sign of the digest, with its prefix",
    signedBy(async () => await beneficiary().signMessage({ message: { raw: digestOf(claim) } })),
    () => ({ name: "eth_sign", field: "signature" }),
  ],
  [
    "a signature of the struct hash, without the prefix and the domain",
    signedBy(async () => {
      const { types, message } = JSON.parse(JSON.stringify(claim));
      return await beneficiary().sign({ hash: hashStruct({ data: message, primaryType: "Claim", types }) });
    }),
    () => ({ name: "unprefixed_hash", field: "signature" }),
  ],
  [
    "a signature of the digest's hash",
    signedBy(async () => await beneficiary().sign({ hash: keccak256(digestOf(claim)) })),
    () => ({ name: "unprefixed_hash", field: "signature" }),
  ],
  [
    "a compact signature",
    signedBy(async () => compact(await right())),
    () => ({ name: "compact_signature", field: "signature", expected: "65 bytes", actual: "64 bytes" }),
  ],
  [
    "a signature with a high s",
    signedBy(async () => highS(await right())),
    () => ({ name: "high_s", field: "signature", expected: "low s", actual: "high s" }),
  ],
  [
    "a signature that ends with its parity",
    signedBy(async () => {
      const signature = await right();
      return `${signature.slice(0, 130)}0${parityOf(signature)}` as Hex;
    }),
    () => ({ name: "wrong_v", field: "signature", expected: [27, 28] }),
  ],
  [
    "a signature with the other v",
    signedBy(async () => {
      const signature = await right();
      return `${signature.slice(0, 130)}${parityOf(signature) === 0 ? "1c" : "1b"}` as Hex;
    }),
    () => ({ name: "wrong_v", field: "signature" }),
  ],
  [
    "a signature with s before r",
    signedBy(async () => {
      const [r, s, v] = partsOf(await right());
      return `0x${s}${r}${v}`;
    }),
    () => ({ name: "wrong_order", field: "signature", expected: "r, s, v", actual: "s, r, v" }),
  ],
  [
    "a signature that begins with its v",
    signedBy(async () => {
      const [r, s, v] = partsOf(await right());
      return `0x${v}${r}${s}`;
    }),
    () => ({ name: "wrong_order", field: "signature", expected: "r, s, v", actual: "v, r, s" }),
  ],
  [
    "a signature of the purchase's commitment",
    signedBy(async () => await signTyped(beneficiary(), given.purchase.commitment.typed_data)),
    () => ({ name: "other_message", field: "signature", expected: given.purchase.id }),
  ],
  [
    "a signature of another account",
    signedBy(async () => await signTyped(accountOf(sandbox, "stranger"), claim)),
    () => ({
      name: "wrong_signer",
      field: "signature",
      expected: beneficiary().address,
      actual: accountOf(sandbox, "stranger").address,
    }),
  ],
  [
    "a signature of another purchase's claim",
    async () => {
      const { purchase } = await sandbox.given.purchase({ state: "reconciled" });
      const other = await typedDataToSign(sandbox, purchase, "claim");
      return { typedData: claim, signature: await signTyped(beneficiary(), other) };
    },
    () => ({ name: "other_message", field: "signature", expected: given.purchase.id }),
  ],
];

describe("explain names", { tags: "thorough" }, () => {
  test.each(seeds)("%s", async (_mistake, make, named) => {
    const { typedData, signature } = await make();
    const explanation = await explain(typedData, signature);
    expect(explanation.mistakes).toEqual([expect.objectContaining(named())]);
    expect(explanation).toMatchObject({
      accepted: false,
      cause: explanation.mistakes[0]?.detail,
      subject: given.purchase.id,
    });
  });
});

test("a claim for another chain fails the binding checks of its transaction, which carries another hash", async () => {
  const other = withDomain(claim, { chainId: 1 });
  const { call } = await explain(other, await signTyped(beneficiary(), other));
  expect(call?.accepted).toBe(false);
  expect(call?.checks.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual(["calldata", "log"]);
  expect(call?.cause).toBe(`In claim, claimHash is "${digestOf(other)}"; "${digestOf(claim)}" was expected.`);
});

test("a signature of the digest itself, without a prefix, is the signature of the typed data", async () => {
  const signature = await beneficiary().sign({ hash: digestOf(claim) });
  expect(signature).toBe(await beneficiary().signTypedData(JSON.parse(JSON.stringify(claim))));
  expect(await explain(claim, signature)).toMatchObject({ accepted: true, mistakes: [] });
});

test("types without EIP712Domain are named, even if the program has derived the type and the signature is accepted", async () => {
  const { EIP712Domain: _, ...types } = claim.types;
  const explanation = await explain({ ...claim, types }, await signTyped(beneficiary(), claim));
  expect(explanation).toMatchObject({
    accepted: true,
    cause: `It would be accepted as the claim of ${given.purchase.id}.`,
    digest: digestOf(claim),
    mistakes: [{ name: "missing_domain_type", field: "types.EIP712Domain", actual: null }],
  });
});

test.each<[what: string, change: (r: string, s: string, v: string) => string]>([
  ["the other v", (r, s, v) => `${r}${s}${v === "1b" ? "1c" : "1b"}`],
  ["the other parity as v", (r, s, v) => `${r}${s}${v === "1b" ? "01" : "00"}`],
  ["a high s and the v of the low one", (r, s, v) => `${highS(`0x${r}${s}${v}`).slice(2, 130)}${v}`],
  ["s before r", (r, s, v) => `${s}${r}${v}`],
  ["its v first", (r, s, v) => `${v}${r}${s}`],
  ["its v first, and s before r", (r, s, v) => `${v}${s}${r}`],
  ["its v in the middle", (r, s, v) => `${r}${v}${s}`],
  ["its v in the middle, and s before r", (r, s, v) => `${s}${v}${r}`],
])("of a signature with %s, the one to send is that of the signer", async (_, change) => {
  const { cause, mistakes, signature } = await explain(claim, `0x${change(...partsOf(await right()))}`);
  expect(mistakes.map(({ name }) => name)).not.toContain("wrong_signer");
  expect(cause).toContain(` Send ${await right()}.`);
  expect(signature).toMatchObject({ canonical: await right(), over: "given" });
});

test("of another account's signature in another form, none is named to be sent", async () => {
  const signature = compact(await signTyped(accountOf(sandbox, "stranger"), claim));
  const { mistakes } = await explain(claim, signature);
  expect(mistakes.map(({ name }) => name)).toEqual(["compact_signature", "wrong_signer"]);
  expect(JSON.stringify(mistakes)).not.toContain("Send");
});

test("of a signature in another form over other data, none is named to be sent", async () => {
  const other = withDomain(claim, { chainId: 1 });
  const [r, s, v] = partsOf(await signTyped(beneficiary(), other));
  const { mistakes } = await explain(other, `0x${s}${r}${v}`);
  expect(mistakes.map(({ name }) => name)).toEqual(["wrong_chain_id", "wrong_order"]);
  expect(JSON.stringify(mistakes)).not.toContain("Send");
});

test.each(["00", "ff"])("a signature whose r or s has only bytes 0x%s is explained", async (byte) => {
  const [r, s] = partsOf(await right());
  const part = byte.repeat(32);
  for (const signature of [`0x${part}${s}1b`, `0x${r}${part}1c`, `0x${part}${part}00`] as const) {
    const { accepted, answer, mistakes } = await explain(claim, signature);
    expect([accepted, answer?.status]).toEqual([false, 422]);
    expect(mistakes.map(({ name }) => name)).toEqual([
      ...(signature.endsWith("00") ? ["wrong_v"] : []),
      "wrong_signer",
    ]);
  }
});

test("typed data of a type that no step takes is named, whatever it is compared with", async () => {
  const { Claim, ...others } = claim.types;
  const renamed = { ...claim, types: { ...others, Foo: Claim }, primaryType: "Foo" };
  for (const id of [undefined, given.purchase.id])
    expect((await explain(renamed, undefined, id)).mistakes).toMatchObject([
      { name: "unknown_primary_type", actual: "Foo" },
    ]);
});

test("several mistakes are all named, in the order in which they are corrected", async () => {
  const changed = withDomain(claim, { chainId: 5, version: "3" });
  const { mistakes, cause } = await explain(changed, compact(await signTyped(beneficiary(), changed)));
  expect(mistakes.map(({ name, field }) => [name, field])).toEqual([
    ["wrong_domain_version", "domain.version"],
    ["wrong_chain_id", "domain.chainId"],
    ["compact_signature", "signature"],
  ]);
  expect(cause).toBe('domain.version is "3"; "1" was expected.');
});

test("typed data is compared with the purchase that is named", async () => {
  const { purchase } = await sandbox.given.purchase({ state: "reconciled" });
  const explanation = await explain(claim, undefined, purchase.id);
  expect(explanation).toMatchObject({
    subject: purchase.id,
    mistakes: [{ name: "changed_field", field: "message.commitment", expected: purchase.commitment.hash }],
  });
});

/** Bytes in hex whose last one is another. */
function withOneByteWrong(bytes: string): string {
  return bytes.slice(0, -2).toLowerCase() + (bytes.endsWith("00") ? "01" : "00");
}

test("typed data with one wrong byte in any member is compared with the message that it is closest to", async () => {
  const older = await sandbox.given.merchant({ state: "pending", wallet: "other_merchant" });
  const { merchant, purchase } = await sandbox.given.purchase({ state: "active" });
  const messages: [typedData: unknown, id: string][] = [
    [claim, given.purchase.id],
    ...[given.purchase, purchase].map(({ commitment, id }): [unknown, string] => [commitment.typed_data, id]),
    ...[older.merchant, merchant].map((one): [unknown, string] => [
      one.funding_authorization.typed_data,
      one.id,
    ]),
    [await typedDataToSign(sandbox, purchase, "pay_with_permit"), purchase.id],
  ];
  for (const [typedData, subject] of messages) {
    const { message } = typedData as TypedDataView;
    for (const [name, value] of Object.entries(message)) {
      // A claim that is not filed can have any reason.
      if (!String(value).startsWith("0x") || name === "reasonHash") continue;
      const changed = withMember(typedData as TypedDataView, { [name]: withOneByteWrong(String(value)) });
      const explanation = await sandbox.explain({ typed_data: changed });
      expect([explanation.subject, explanation.mistakes.map(({ field }) => field)]).toEqual([
        subject,
        [`message.${name}`],
      ]);
    }
  }
});

test("the one byte that is wrong is marked on the terminal", async () => {
  const commitment = withOneByteWrong(given.purchase.commitment.hash);
  const file = await writeJson(folder, "one-byte.json", withMember(claim, { commitment }));
  const { stdout } = await runExplain(folder, ["--typed-data", file]);
  expect(stdout).toContain(
    [
      "  byte 31 (in message.commitment)",
      `    expected ${given.purchase.commitment.hash.slice(2)}`,
      `    actual   ${commitment.slice(2)}`,
      `             ${" ".repeat(62)}^^`,
    ].join("\n"),
  );
});

test("a claim that the service would refuse now says with which answer", async () => {
  const { purchase } = await sandbox.given.purchase({ state: "paid" });
  const early = withMember(claim, { commitment: purchase.commitment.hash });
  const explanation = await explain(early, await signTyped(beneficiary(), early));
  const answer = {
    request: "POST /wallet/{program}/purchase/{id}",
    status: 409,
    code: "state_conflict",
    detail: "A claim needs a reconciled payment. Reconcile it with POST …/reconcile.",
  };
  expect(explanation).toMatchObject({
    cause: `${answer.request} would respond with 409 state_conflict: ${answer.detail}`,
    accepted: false,
    mistakes: [],
    answer,
  });
});

test("a claim that was filed is compared with it, and the filed one is answered as before", async () => {
  const { purchase } = await sandbox.given.purchase({ state: "reconciled" });
  const filed = await typedDataToSign(sandbox, purchase, "claim");
  const { body } = await sandbox.wallets.beneficiary.claim(purchase, { amount: 25_000_000n, reason: "Late" });
  const submitted = await fetch(
    `${sandbox.description.urls.api}/wallet/${purchase.program}/purchase/${purchase.id}`,
    {
      method: "POST",
      headers: { "Content-Type": "application/json", "Idempotency-Key": "explain-filed-claim" },
      body: JSON.stringify({
        action: "claim",
        signature: body.signature,
        amount: "25000000",
        reason: "Late",
      }),
    },
  );
  expect(submitted.status).toBe(200);
  expect(await explain(filed, body.signature)).toMatchObject({ mistakes: [], answer: { status: 200 } });
});

describe("the messages that the service signs", { tags: "thorough" }, () => {
  test("a commitment is accepted with its own signature, and refused by the contract once a member differs", async () => {
    const { purchase } = await sandbox.given.purchase({ state: "created" });
    const { typed_data, signature } = purchase.commitment;
    expect(await explain(typed_data as TypedDataView, signature as Hex)).toMatchObject({
      accepted: true,
      cause: `It would be accepted as the commitment of ${purchase.id}.`,
      digest: purchase.commitment.hash,
      signature: { over: "given" },
      answer: null,
      call: { accepted: true, step: "registration", checks: expect.any(Array) },
    });
    const higher = withMember(typed_data as TypedDataView, { amount: "26000000" });
    const explanation = await explain(higher, signature as Hex);
    expect(explanation).toMatchObject({
      accepted: false,
      subject: purchase.id,
      cause: 'message.amount is "26000000"; "25000000" was expected.',
      mistakes: [
        { name: "changed_field", field: "message.amount", expected: "25000000", actual: "26000000" },
      ],
      signature: { over: "known" },
      call: { accepted: false, revert: { name: "InvalidSignature" } },
    });
    const failed = explanation.call?.checks.filter(({ ok }) => !ok).map(({ name }) => name);
    expect(failed).toEqual(["status", "calldata", "log"]);
  });

  test("a funding authorization is not what the merchant's wallet signs", async () => {
    const { merchant } = await sandbox.given.merchant({ state: "pending", wallet: "other_merchant" });
    const { typed_data, signature } = merchant.funding_authorization;
    const authorization = typed_data as TypedDataView;
    expect(await explain(authorization, signature as Hex)).toMatchObject({
      accepted: true,
      cause: `It would be accepted as the funding authorization of ${merchant.id}.`,
      call: { accepted: true, step: "enrollment" },
    });
    const wallet = accountOf(sandbox, "other_merchant");
    expect(await explain(authorization, await signTyped(wallet, authorization))).toMatchObject({
      mistakes: [{ name: "typed_data_for_enrollment", field: "signature", actual: wallet.address }],
    });
    const enrollment = await wallet.signMessage({ message: merchant.enrollment.message });
    expect(await explain(authorization, enrollment)).toMatchObject({
      mistakes: [{ name: "other_message", field: "signature" }],
    });
  });
});

test("a permit is accepted while its nonce is the next one, and names the nonce of another", {
  tags: "thorough",
}, async () => {
  const { purchase } = await sandbox.given.purchase({ state: "active" });
  const buyer = accountOf(sandbox, "buyer");
  const permit = await typedDataToSign(sandbox, purchase, "pay_with_permit");
  expect(await explain(permit, undefined, purchase.id)).toMatchObject({ accepted: true, call: null });
  expect(await explain(permit, await signTyped(buyer, permit), purchase.id)).toMatchObject({
    accepted: true,
    mistakes: [],
    answer: { status: 200 },
    call: { accepted: true, step: "payment" },
  });
  const nonce = String(Number(permit.message["nonce"]) + 1);
  const later = withMember(permit, { nonce });
  const named = [{ name: "changed_field", field: "message.nonce", actual: nonce }];
  expect(await explain(later, await signTyped(buyer, later), purchase.id)).toMatchObject({ mistakes: named });
  expect(await explain(permit, await signTyped(buyer, later), purchase.id)).toMatchObject({
    mistakes: named,
  });
});

test("a message of a type that no step takes shows its hashes and its signer", async () => {
  const order = {
    ...claim,
    primaryType: "Order",
    types: { ...claim.types, Order: claim.types["Claim"] ?? [] },
  };
  expect(await explain(order, await signTyped(beneficiary(), order))).toMatchObject({
    accepted: false,
    subject: null,
    cause: 'primaryType is "Order"; Purchase, FundingAuthorization, Claim, or Permit was expected.',
    digest: digestOf(order),
    signer: { address: beneficiary().address },
    expected_signer: null,
    answer: null,
    call: null,
  });
});

test("a contract wallet's signature can have any length, and its contract judges it", {
  tags: "thorough",
}, async () => {
  await using start = await restored(sandbox);
  const { address } = beneficiary();
  // Answers isValidSignature with the value that means yes, whatever it is asked.
  const yes = `1626ba7e${"00".repeat(28)}`;
  await start.client.setCode({ address, bytecode: `0x7f${yes}60005260206000f3` });
  expect(await explain(claim, "0x01")).toMatchObject({
    mistakes: [],
    signer: { address },
    signature: { given: "0x01", canonical: null, over: "given" },
    accepted: false,
    answer: { code: "binding_mismatch" },
    call: { accepted: false },
  });
  const no = "00".repeat(32);
  await start.client.setCode({ address, bytecode: `0x7f${no}60005260206000f3` });
  const { mistakes } = await explain(claim, "0x01");
  expect(mistakes).toMatchObject([{ name: "wrong_signer", expected: address, actual: null }]);
  expect(mistakes[0]?.detail).toBe(
    `The contract at ${address} refuses the signature over this typed data (isValidSignature, ERC-1271). Sign it again, or sign the data that was meant.`,
  );
});

test("standard input is read for -, and a terminal shows cause, mistakes, hashes, signer and the answer", async () => {
  const changed = withDomain(claim, { chainId: 1 });
  const signature = await signTyped(beneficiary(), changed);
  const flags = ["--typed-data", "-", "--signature", signature];
  const { stdout, code } = await runExplain(folder, flags, JSON.stringify(changed));
  expect(code).toBe(1);
  const lines = stdout.split("\n");
  expect(lines[0]).toBe('domain.chainId is "1"; "31337" was expected.');
  expect(lines[1]).toMatch(/^Simulated on block \d+ at 20.*Z, compared with the Claim of pur_[a-z2-7]{20}$/);
  for (const shown of [
    "Mistakes",
    '  wrong_chain_id (domain.chainId): domain.chainId is "1"; "31337" was expected.',
    `  digest            ${digestOf(changed)}`,
    `  recovered signer  ${beneficiary().address} (beneficiary)`,
    `  expected signer   the beneficiary of ${given.purchase.id} (${beneficiary().address})`,
    "  domain.chainId            1, expected 31337",
  ])
    expect(lines).toContain(shown);
  expect(stdout).toContain("  POST /wallet/{program}/purchase/{id}: 422 signer_mismatch, ");
  expect(stdout).toContain("  claim on the registrar contract: In claim, claimHash is ");
  expect(stdout).toContain("Failed checks: calldata, log.");
});

describe("bad input is refused in the words of the option:", () => {
  const remedy = "Pass the JSON of eth_signTypedData_v4: types, primaryType, domain and message.";
  const wrongChecksum = "0x90F79bf6EB2d4f870365E785982E1f101E93b906";
  const ofSignature = "Pass the signature of a wallet: 65 bytes (r, s and v) in hex with 0x.";
  test.each<[what: string, input: () => unknown, flags: string[], message: string]>([
    ["no object", () => 5, [], `--typed-data is 5. ${remedy}`],
    ["no types", () => without("types"), [], `--typed-data is wrong: types is missing. ${remedy}`],
    ["no message", () => without("message"), [], `--typed-data is wrong: message is missing. ${remedy}`],
    [
      "an unknown primary type",
      () => ({ ...claim, primaryType: "Order" }),
      [],
      `--typed-data has the primaryType "Order", and its types have Claim. ${remedy}`,
    ],
    [
      "a message without a member of its type",
      () => ({ ...claim, message: { beneficiary: claim.message["beneficiary"] } }),
      [],
      `--typed-data has no message.commitment, which is a member of Claim. ${remedy}`,
    ],
    [
      "an address that is none",
      () => withMember(claim, { beneficiary: "0x12" }),
      [],
      `--typed-data is wrong: message.beneficiary must be an address, not "0x12". ${remedy}`,
    ],
    [
      "an address with one wrong digit",
      () => withMember(claim, { beneficiary: wrongChecksum }),
      [],
      `--typed-data is wrong: message.beneficiary must be all lower case or have the right EIP-55 checksum, not "${wrongChecksum}". ${remedy}`,
    ],
    [
      "an address with a semicolon",
      () => withMember(claim, { beneficiary: "0x12; 0x34" }),
      [],
      `--typed-data is wrong: message.beneficiary must be an address, not "0x12; 0x34". ${remedy}`,
    ],
    [
      "a domain with an address that is none",
      () => ({ ...claim, domain: { ...claim.domain, verifyingContract: 5 } }),
      [],
      `--typed-data is wrong: domain.verifyingContract must be an address, not 5. ${remedy}`,
    ],
    [
      "a short signature",
      () => claim,
      ["--signature", `0x${"11".repeat(63)}`],
      `--signature has 63 bytes. ${ofSignature}`,
    ],
    ["an empty signature", () => claim, ["--signature", "0x"], `--signature has 0 bytes. ${ofSignature}`],
    [
      "a signature that is no hex",
      () => claim,
      ["--signature", "abc"],
      `--signature is "abc". ${ofSignature}`,
    ],
    [
      "an unknown purchase",
      () => claim,
      ["--for", "pur_x"],
      'for is "pur_x", and the sandbox knows no Claim of such a purchase. Pass the id of a purchase.',
    ],
  ])("%s", async (_what, input, flags, message) => {
    const json = JSON.stringify(input());
    const { stderr, code, stdout } = await runExplain(folder, ["--typed-data", "-", ...flags], json);
    expect([stderr, code, stdout]).toEqual([`${message}\n`, 1, ""]);
  });

  test.each<[type: string, value: unknown, wrong: string]>([
    ["bytes32", "0x12", 'message.a must be 32 bytes in hex with 0x, not "0x12"'],
    ["bytes32", 5, "message.a must be 32 bytes in hex with 0x, not 5"],
    ["bytes", "0x123", 'message.a must be whole bytes in hex with 0x, not "0x123"'],
    ["uint256", "abc", 'message.a must be a whole number from 0 to 2^256 - 1 (uint256), not "abc"'],
    ["uint256", null, "message.a must be a whole number from 0 to 2^256 - 1 (uint256), not null"],
    ["uint8", 256, "message.a must be a whole number from 0 to 2^8 - 1 (uint8), not 256"],
    ["int8", 200, "message.a must be a whole number from -2^7 to 2^7 - 1 (int8), not 200"],
    ["bool", "true", 'message.a must be true or false (bool), not "true"'],
    ["string", null, "message.a must be a text (string), not null"],
    ["uint8[]", 5, "message.a must be an array (uint8[]), not 5"],
    ["uint8[2]", [1], "message.a must be an array of 2 entries (uint8[2]), not [1]"],
    ["Inner", 5, "message.a must be an object with the members of Inner, not 5"],
    [
      "Inner[]",
      [{ b: 1 }, { b: -1 }],
      "message.a[1].b must be a whole number from 0 to 2^8 - 1 (uint8), not -1",
    ],
    ["Other", 5, 'types has no type "Other", which is that of message.a'],
  ])("a member of the type %s with the value %j", async (type, value, wrong) => {
    const types = { Outer: [{ name: "a", type }], Inner: [{ name: "b", type: "uint8" }] };
    const response = await post({
      typed_data: { types, primaryType: "Outer", domain: {}, message: { a: value } },
    });
    expect([response.status, await response.json()]).toEqual([
      422,
      expect.objectContaining({ detail: `The option typed_data is wrong: ${wrong}. ${remedy}` }),
    ]);
  });

  function without(member: keyof TypedDataView) {
    const { [member]: _, ...others } = claim;
    return others;
  }

  test("a file that is missing, one that is too long, and one that is not JSON", async () => {
    const { stderr } = await runExplain(folder, ["--typed-data", "missing.json"]);
    expect(stderr).toMatch(
      /^--typed-data missing\.json cannot be read: there is no such file \(ENOENT.*\)\. Name a file, or - for standard input\.\n$/,
    );
    expect((await runExplain(folder, ["--typed-data", "-"], " ".repeat(2 ** 20 + 1))).stderr).toBe(
      "--typed-data - cannot be read: it has more than 1 MiB. Name a file, or - for standard input.\n",
    );
    expect((await runExplain(folder, ["--typed-data", "-"], "{types}")).stderr).toBe(
      "--typed-data -: standard input is not JSON. Write the JSON object there that is signed.\n",
    );
  });

  test("a signature without typed data, and two things at once", async () => {
    expect((await runExplain(folder, [given.purchase.commitment.hash, "--signature", "0x12"])).stderr).toBe(
      "--signature is of typed data or of a decision. Pass --typed-data or --decision too.\n",
    );
    expect((await runExplain(folder, [given.purchase.commitment.hash, "--typed-data", "-"])).stderr).toBe(
      "explain needs one of a transaction hash, --call, --typed-data and --decision, and 2 are given. Pass one of them.\n",
    );
  });

  test("the control API names its own field", async () => {
    const response = await post({ typed_data: 5 });
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({
      code: "argument_invalid",
      detail: `The option typed_data is 5. ${remedy}`,
    });
  });
});
