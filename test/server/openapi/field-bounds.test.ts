import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formatsPlugin from "ajv-formats";
import { beforeAll, describe, expect, test } from "vitest";
import { type Answer, problem } from "../../kit/answer.ts";
import { TestKit } from "../../kit/test-kit.ts";
import { escapePart } from "./fuzz/answer-check.ts";
import { parseDescription } from "./fuzz/description.ts";

const hash = `0x${"5c".repeat(32)}`;
const wallet = "0x90f79bf6eb2c4f870365e785982e1f101e93b906";
const letters = (count: number) => "a".repeat(count);
const smileys = (count: number) => "\ud83d\ude00".repeat(count);
const largest = (2n ** 128n - 1n).toString();

/** Writes about objects that do not exist, each with a body that is valid; only a merchant is really created. */
const writes = {
  createMerchant: ["/merchants", { wallet, name: "Corner Books", funding_cap: "1" }],
  confirmEnrollment: ["/merchants/mer_aaaaaaaaaaaaaaaaaaaa/enrollment", {}],
  createPurchase: [
    "/purchases",
    { merchant_id: "mer_aaaaaaaaaaaaaaaaaaaa", buyer: wallet, amount: "1", terms: {} },
  ],
  activatePurchase: ["/purchases/pur_aaaaaaaaaaaaaaaaaaaa/activate", { commitment_hash: hash }],
  reconcilePurchase: ["/purchases/pur_aaaaaaaaaaaaaaaaaaaa/reconcile", {}],
  fileClaim: [
    "/purchases/pur_aaaaaaaaaaaaaaaaaaaa/claims",
    { requested_amount: "1", reason: "Arrived broken.", signature: "0xab" },
  ],
  recordDecision: [
    "/purchases/pur_aaaaaaaaaaaaaaaaaaaa/decisions",
    {
      claim_id: "clm_aaaaaaaaaaaaaaaaaaaa",
      outcome: "approved",
      award: "1",
      decided_at: "2026-01-01T00:00:00Z",
      reviewer_key_id: "reviewer",
      approval: letters(86),
    },
  ],
  executeRefund: ["/purchases/pur_aaaaaaaaaaaaaaaaaaaa/refunds", { decision_id: "dec_aaaaaaaaaaaaaaaaaaaa" }],
  deliverNotification: ["/notifications", { event_id: "evt_aaaaaaaaaaaaaaaaaaaa" }],
} as const;
type Write = keyof typeof writes;

let kit: TestKit;
/** Tells whether the description takes a body of an operation. */
let isDescribed: (operation: string, body: object) => boolean;

beforeAll(async () => {
  kit = await TestKit.shared();
  const description = parseDescription((await kit.raw("/v1/routing/openapi.json")).text);
  const ajv = formatsPlugin.default(new Ajv2020({ strict: false }));
  ajv.addSchema({ ...description, $id: "api" });
  const refs = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => {
      const parts = ["paths", path, method, "requestBody", "content", "application/json", "schema"];
      return [operationId, `api#/${parts.map(escapePart).join("/")}`] as const;
    }),
  );
  const compiled = new Map<string, ValidateFunction>();
  isDescribed = (operation, body) => {
    const validate = compiled.get(operation) ?? ajv.compile({ $ref: new Map(refs).get(operation) });
    compiled.set(operation, validate);
    return validate(body);
  };
});

async function send(write: Write, change: object): Promise<Answer & { isDescribed: boolean }> {
  const [path, usual] = writes[write];
  const body = JSON.parse(JSON.stringify({ ...usual, ...change }));
  return { ...(await kit.post(kit.path(path), body)), isDescribed: isDescribed(write, body) };
}

const isAmount =
  "must be a decimal string of base units with at most 39 digits and without sign or leading zeros";
const isHash = "must be 0x and 64 lower-case hexadecimal characters";
const isAddress = "must be 0x and 40 hexadecimal characters";
const hasChecksum = "must be all lower case or have the right EIP-55 checksum";
const isSignature = "must be 0x and 1 to 4096 bytes in hexadecimal";
const isTimestamp = "must be RFC 3339 in UTC, such as 2026-01-01T00:00:00Z";
const isId = (prefix: string) => `must be ${prefix}_ and 20 lower-case base32 characters`;
const isType = (type: string, received: string) => `must be ${type}, not ${received}`;

const malformedHashes = [
  [hash.slice(0, -1), "invalid_format", isHash],
  [`${hash}0`, "invalid_format", isHash],
  [hash.slice(2), "invalid_format", isHash],
  [`0X${hash.slice(2)}`, "invalid_format", isHash],
  [`0x${"5C".repeat(32)}`, "invalid_format", isHash],
  [`0x${"5g".repeat(32)}`, "invalid_format", isHash],
  [`${hash}\n`, "invalid_format", isHash],
] as const;
const malformedAmounts = [
  ["", "invalid_format", isAmount],
  ["00", "invalid_format", isAmount],
  ["01", "invalid_format", isAmount],
  ["-1", "invalid_format", isAmount],
  ["+1", "invalid_format", isAmount],
  ["1.0000001", "invalid_format", isAmount],
  ["1e6", "invalid_format", isAmount],
  ["0x1", "invalid_format", isAmount],
  [" 1", "invalid_format", `${isAmount} (send "1", without spaces)`],
  ["1\n", "invalid_format", `${isAmount} (send "1", without spaces)`],
  ["\uff11", "invalid_format", isAmount],
  [1, "invalid_type", isType('a decimal string of base units, such as "25000000"', "1")],
  [(2n ** 128n).toString(), "custom", "must be at most 2^128 - 1"],
  ["9".repeat(39), "custom", "must be at most 2^128 - 1"],
  [`1${"0".repeat(39)}`, "invalid_format", isAmount],
] as const;
const isZero = ["0", "custom", "must be above zero"] as const;
const malformedIds = (prefix: string, other: string) =>
  [
    `${prefix}_${letters(19)}`,
    `${prefix}_${letters(21)}`,
    `${prefix}_${letters(19)}A`,
    `${prefix}_${letters(19)}1`,
    `${prefix}_${letters(19)}8`,
    `${prefix}_${letters(20)}\n`,
    ` ${prefix}_${letters(20)}`,
    `${prefix}${letters(20)}`,
    `${other}_${letters(20)}`,
    "",
  ].map((id) => [id, "invalid_format", isId(prefix)] as const);
const malformedAddresses = [
  ["0x", "invalid_format", isAddress],
  [wallet.slice(0, -1), "invalid_format", isAddress],
  [`${wallet}0`, "invalid_format", isAddress],
  [wallet.slice(2), "invalid_format", isAddress],
  [`0X${wallet.slice(2)}`, "invalid_format", isAddress],
  [`${wallet}\n`, "invalid_format", isAddress],
  ["0x90F79bf6EB2c4f870365E785982E1f101E93B906", "custom", hasChecksum],
  [`0x${wallet.slice(2).toUpperCase()}`, "custom", hasChecksum],
] as const;
const malformedTimes = [
  [-1, "too_small", "must be at least 0"],
  [253_402_300_800, "too_big", "must be at most 253402300799"],
  [1.5, "invalid_type", isType("Unix seconds, such as 1767830400", "1.5")],
  ["1767830400", "invalid_type", isType("Unix seconds, such as 1767830400", 'the string "1767830400"')],
] as const;
const malformedSignatures = [
  ["", "invalid_format", isSignature],
  ["0x", "invalid_format", isSignature],
  ["0xa", "invalid_format", isSignature],
  ["0xabc", "invalid_format", isSignature],
  ["0xgg", "invalid_format", isSignature],
  ["ab", "invalid_format", isSignature],
  [`0x${"ab".repeat(4097)}`, "invalid_format", isSignature],
] as const;
const named = (most: number) =>
  [
    ["", "too_small", "must have at least 1 character"],
    [letters(most + 1), "too_big", `must have at most ${most} characters`],
    [smileys(most + 1), "too_big", `must have at most ${most} characters`],
    [5, "invalid_type", isType("a string", "5")],
    [null, "invalid_type", isType("a string", "null")],
  ] as const;

/** Adds the value to what it must be, as an answer does: a long value is cut, and of a text or a list that is too long it is the length. */
function nameValue(wrong: string, value: unknown): string {
  if (!wrong.startsWith("must ") || wrong.includes(", not ")) return wrong;
  if (wrong.startsWith("must have") && (typeof value === "string" || Array.isArray(value)))
    return `${wrong}, not ${[...value].length}`;
  const text = JSON.stringify(value);
  return `${wrong}, not ${text.length > 80 ? `${text.slice(0, 79)}…` : text}`;
}

type Refused = readonly [value: unknown, code: string, detail: string, below?: string];
interface Rule {
  title: string;
  write: Write;
  field: string;
  taken: readonly unknown[];
  refused: readonly Refused[];
}

const rules: readonly Rule[] = [
  {
    title: "a merchant's name has 1 to 100 characters, whatever their bytes",
    write: "createMerchant",
    field: "name",
    taken: ["a", letters(100), smileys(100), " "],
    refused: named(100),
  },
  {
    title: "a merchant's reference has 1 to 100 characters",
    write: "createMerchant",
    field: "reference",
    taken: ["a", letters(100), smileys(100)],
    refused: named(100),
  },
  {
    title: "a funding cap is an amount from 1 to 2^128 - 1",
    write: "createMerchant",
    field: "funding_cap",
    taken: ["1", "9007199254740993", largest],
    refused: [...malformedAmounts, isZero],
  },
  {
    title: "a merchant's wallet is an address with the right checksum or in lower case",
    write: "createMerchant",
    field: "wallet",
    taken: [wallet, "0x90F79bf6EB2c4f870365E785982E1f101E93b906"],
    refused: malformedAddresses,
  },
  {
    title: "the end of a funding is a whole second up to the year 9999",
    write: "createMerchant",
    field: "funding_valid_until",
    taken: [253_402_300_799],
    refused: malformedTimes,
  },
  {
    title: "an enrollment's transaction is a hash",
    write: "confirmEnrollment",
    field: "transaction_hash",
    taken: [hash],
    refused: malformedHashes,
  },
  {
    title: "an enrollment's signature has 1 to 4096 bytes",
    write: "confirmEnrollment",
    field: "signature",
    taken: ["0xab", "0xAB", `0x${"ab".repeat(4096)}`],
    refused: malformedSignatures,
  },
  {
    title: "a purchase's merchant is the id of one",
    write: "createPurchase",
    field: "merchant_id",
    taken: ["mer_abcdefghijklmnopqrst", "mer_uvwxyz234567uvwxyz23"],
    refused: malformedIds("mer", "pur"),
  },
  {
    title: "a purchase's buyer is an address",
    write: "createPurchase",
    field: "buyer",
    taken: [wallet],
    refused: malformedAddresses,
  },
  {
    title: "a purchase's beneficiary is an address",
    write: "createPurchase",
    field: "beneficiary",
    taken: [wallet],
    refused: malformedAddresses,
  },
  {
    title: "a purchase's amount is one from 1 to 2^128 - 1",
    write: "createPurchase",
    field: "amount",
    taken: ["1", largest],
    refused: [...malformedAmounts, isZero],
  },
  {
    title: "a purchase's terms are an object",
    write: "createPurchase",
    field: "terms",
    taken: [{}, { a: [null, { b: 1.5 }] }],
    refused: [
      [null, "invalid_type", isType("an object", "null")],
      ["x", "invalid_type", isType("an object", 'the string "x"')],
      [[], "invalid_type", isType("an object", "an array")],
    ],
  },
  ...["offer_deadline", "pay_deadline", "claim_deadline"].map((field) => ({
    title: `a purchase's ${field} is a whole second up to the year 9999`,
    write: "createPurchase" as const,
    field,
    taken: [0, 253_402_300_799],
    refused: malformedTimes,
  })),
  {
    title: "a purchase's reference has 1 to 100 characters",
    write: "createPurchase",
    field: "reference",
    taken: ["a", letters(100)],
    refused: named(100),
  },
  {
    title: "an activation names a commitment by its hash",
    write: "activatePurchase",
    field: "commitment_hash",
    taken: [hash],
    refused: [...malformedHashes, [undefined, "invalid_type", isHash.replace("must be", "is missing; send")]],
  },
  {
    title: "a reconciliation names 1 to 50 transactions by their hashes",
    write: "reconcilePurchase",
    field: "transaction_hashes",
    taken: [[hash], Array.from({ length: 50 }, () => hash)],
    refused: [
      [[], "too_small", "must have at least 1 item"],
      [Array.from({ length: 51 }, () => hash), "too_big", "must have at most 50 items"],
      [[hash, hash.slice(1)], "invalid_format", isHash, "/1"],
    ],
  },
  {
    title: "a claim's amount is one above zero",
    write: "fileClaim",
    field: "requested_amount",
    taken: ["1", largest],
    refused: [...malformedAmounts, isZero],
  },
  {
    title: "a claim's reason has 1 to 2000 characters, whatever their bytes",
    write: "fileClaim",
    field: "reason",
    taken: [" ", letters(2000), smileys(2000)],
    refused: named(2000),
  },
  {
    title: "a claim's signature has 1 to 4096 bytes",
    write: "fileClaim",
    field: "signature",
    taken: ["0xab", `0x${"ab".repeat(4096)}`],
    refused: malformedSignatures,
  },
  {
    title: "a claim's transaction is a hash",
    write: "fileClaim",
    field: "transaction_hash",
    taken: [hash],
    refused: malformedHashes,
  },
  {
    title: "a decision names a claim by its id",
    write: "recordDecision",
    field: "claim_id",
    taken: ["clm_aaaaaaaaaaaaaaaaaaaa"],
    refused: malformedIds("clm", "dec"),
  },
  {
    title: "a decision approves or denies",
    write: "recordDecision",
    field: "outcome",
    taken: ["approved"],
    refused: ["", "Approved", "approved ", "refused"].map((outcome) => [
      outcome,
      "invalid_value",
      'must be one of "approved", "denied"',
    ]),
  },
  {
    title: "a decision's award is an amount",
    write: "recordDecision",
    field: "award",
    taken: ["1", largest],
    refused: malformedAmounts,
  },
  {
    title: "a decision's time is one of the calendar, in UTC",
    write: "recordDecision",
    field: "decided_at",
    taken: [
      "2026-01-31T00:00:00Z",
      "2026-02-28T23:59:59Z",
      "2024-02-29T00:00:00Z",
      "2000-02-29T00:00:00Z",
      "2026-04-30T23:59:59.999Z",
      "2026-12-31T23:59:59Z",
    ],
    refused: [
      ...[
        "2026-02-29T00:00:00Z",
        "2100-02-29T00:00:00Z",
        "2026-02-30T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "2026-01-32T00:00:00Z",
        "2026-01-00T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2016-12-31T23:59:60Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z",
      ].map((text) => [text, "custom", "must be a date of the calendar"] as const),
      ...[
        "2026-01-01",
        "2026-01-01T00:00Z",
        "2026-01-01T00:00:00",
        "2026-01-01T00:00:00.Z",
        "2026-01-01T00:00:00+00:00",
        "2026-01-01t00:00:00z",
        "2026-01-01T00:00:00Z\n",
        "12026-01-01T00:00:00Z",
      ].map((text) => [text, "invalid_format", isTimestamp] as const),
      [
        1_767_225_600,
        "invalid_type",
        isType('RFC 3339 in UTC, such as "2026-01-01T00:00:00Z"', "1767225600"),
      ] as const,
    ],
  },
  {
    title: "a reviewer's key id has 1 to 100 characters",
    write: "recordDecision",
    field: "reviewer_key_id",
    taken: ["a", letters(100)],
    refused: named(100),
  },
  {
    title: "an approval is 64 bytes in base64url without padding",
    write: "recordDecision",
    field: "approval",
    taken: [letters(86), `${letters(84)}-_`],
    refused: [letters(85), letters(87), `${letters(86)}==`, `${letters(84)}+/`, `${letters(85)} `, ""].map(
      (approval) => [approval, "invalid_format", "must be 64 bytes in base64url without padding"],
    ),
  },
  {
    title: "a refund names a decision by its id",
    write: "executeRefund",
    field: "decision_id",
    taken: ["dec_aaaaaaaaaaaaaaaaaaaa"],
    refused: malformedIds("dec", "clm"),
  },
  {
    title: "a delivery names an event by its id",
    write: "deliverNotification",
    field: "event_id",
    taken: ["evt_aaaaaaaaaaaaaaaaaaaa"],
    refused: [...malformedIds("evt", "ntf"), [null, "invalid_type", isType("a string", "null")]],
  },
];

describe("the form of a field:", () => {
  // Titles that are interpolated by their name are cut.
  const titled = rules.map((rule) => [rule.title, rule] as const);

  test.each(titled)("%s", async (_, { write, field, taken, refused }) => {
    for (const value of taken) {
      const answer = await send(write, { [field]: value });
      expect(answer.status, `${JSON.stringify(value)}: ${answer.text}`).toBe(
        write === "createMerchant" ? 201 : 404,
      );
      expect(answer.isDescribed, JSON.stringify(value)).toBe(true);
    }
    for (const [value, code, wrong, below = ""] of refused) {
      const answer = await send(write, { [field]: value });
      const detail = nameValue(wrong, below === "" ? value : [value].flat()[Number(below.slice(1))]);
      const pointer = `/${field}${below}`;
      expect(answer.status, JSON.stringify(value)).toBe(422);
      // No pattern says what a checksum must be.
      expect(answer.isDescribed, JSON.stringify(value)).toBe(wrong === hasChecksum);
      expect(problem(answer), JSON.stringify(value)).toMatchObject({
        code: "validation_failed",
        detail: `${pointer} ${detail}`,
        errors: [{ pointer, code, detail }],
      });
      expect(problem(answer).errors, JSON.stringify(value)).toHaveLength(1);
    }
  });

  test.each([
    ["approved", "1", 404],
    ["approved", "0", 422],
    ["denied", "0", 404],
    ["denied", "1", 422],
    ["denied", largest, 422],
  ])(
    "a decision that is %s with an award of %s gets %i, before its claim is looked for",
    async (outcome, award, status) => {
      const answer = await send("recordDecision", { outcome, award });
      expect([answer.status, answer.isDescribed]).toEqual([status, status === 404]);
      if (status === 422) expect(problem(answer).errors).toMatchObject([{ pointer: "/award" }]);
    },
  );

  test.each([
    ["merchant", ["enroll", "fund"]],
    ["purchase", ["register", "approve", "pay", "pay_with_permit", "claim"]],
  ] as const)("each action of a %s has the fields that the description says", async (type, actions) => {
    const operation = type === "merchant" ? "submitMerchantWalletAction" : "submitPurchaseWalletAction";
    const id = `${type === "merchant" ? "mer" : "pur"}_aaaaaaaaaaaaaaaaaaaa`;
    const fields = Object.entries({
      transaction_hash: hash,
      signature: "0xab",
      amount: "1",
      reason: "Late.",
    });
    for (const action of actions)
      for (let chosen = 0; chosen < 2 ** fields.length; chosen += 1) {
        const given = fields.filter((_, index) => (chosen >> index) % 2 === 1);
        const body = { action, ...Object.fromEntries(given) };
        const answer = await kit.post(`/wallet/${kit.program}/${type}/${id}`, body);
        expect([404, 422], answer.text).toContain(answer.status);
        expect(isDescribed(operation, body), JSON.stringify(body)).toBe(answer.status === 404);
      }
  });

  test("each wrong entry of a list is named by its place", async () => {
    const answer = await send("reconcilePurchase", { transaction_hashes: [hash, "0x", hash, 5] });
    expect(problem(answer).errors).toEqual([
      { pointer: "/transaction_hashes/1", code: "invalid_format", detail: `${isHash}, not "0x"` },
      { pointer: "/transaction_hashes/3", code: "invalid_type", detail: `${isHash}, not 5` },
    ]);
  });

  test.each(["", "0x".repeat(30)])("a text %j in place of a list is reported once", async (text) => {
    const answer = await send("reconcilePurchase", { transaction_hashes: text });
    expect(problem(answer).errors).toEqual([
      { pointer: "/transaction_hashes", code: "invalid_type", detail: expect.stringContaining("array") },
    ]);
  });

  test("no write accepts a field that the description does not have", async () => {
    for (const write of Object.keys(writes) as Write[]) {
      const answer = await send(write, { "odd/name~": 1 });
      expect(problem(answer), write).toMatchObject({
        code: "validation_failed",
        errors: [
          {
            pointer: "/odd~1name~0",
            code: "unknown_field",
            detail: expect.stringMatching(/^is not a field of this request; use [a-z_]+(, [a-z_]+)*$/),
          },
        ],
      });
    }
  });
});
