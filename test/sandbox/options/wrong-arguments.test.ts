import { join } from "node:path";
import { zeroAddress, zeroHash } from "viem";
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { createApiClient, unwrap } from "../../../sandbox/client/api-client.ts";
import { createControlClient } from "../../../sandbox/client/control/control-client.ts";
import { createSandbox, type Sandbox } from "../../../sandbox/create-sandbox.ts";
import type { Part } from "../../../sandbox/lib/part.ts";
import type { SandboxOptions } from "../../../sandbox/options/options.ts";
import { sandboxTest } from "../../../testkit/vitest.ts";
import { freshSandbox } from "../../kit/fresh-sandbox.ts";
import { temporaryFolder } from "../../temporary-folder.ts";

const optionInvalid = { name: "SandboxError", code: "option_invalid" };
const argumentInvalid = { name: "SandboxError", code: "argument_invalid" };

// Values that JavaScript, or a cast, can pass in spite of the declared types.
let sandbox: Sandbox;
let untyped: { [name: string]: { [name: string]: (...values: unknown[]) => Promise<unknown> } };
beforeAll(async () => {
  sandbox = await freshSandbox();
  untyped = JSON.parse("{}");
  const { clock, faults, receiver, reviewer, wallets } = sandbox;
  Object.assign(untyped, { clock, faults, receiver, reviewer, buyer: wallets.buyer, sandbox });
});

describe("clock.travel names a value that is not a duration", () => {
  test.each([
    [{ day: 8 }, '{"day":8}'],
    ["8d", '"8d"'],
    [5n, "5n"],
    [{}, "{}"],
    [null, "null"],
  ])("%o", async (by, shown) => {
    await expect(untyped["clock"]?.["travel"]?.(by)).rejects.toMatchObject({
      name: "ClockError",
      code: "time_invalid",
      message: `${shown} is not a duration. Pass seconds or an object of days, hours, minutes and seconds, such as { days: 8 }.`,
    });
  });
});

test("createSandbox names an option that it does not have", async () => {
  const misspelled = { seed: "x", sed: "y" };
  await expect(createSandbox(misspelled)).rejects.toMatchObject({
    ...optionInvalid,
    message: expect.stringMatching(/^createSandbox has no option sed\. Use seed, mode, ports, .*network\.$/),
  });
});

/** A part as a project may pass it. */
const ownPart: Part<null> = { name: "own", schema: z.null(), capture: () => null, restore() {} };

test.each<[options: object, message: string]>([
  [{ ports: 4020 }, "ports must be an object such as { api: 4020 }, not 4020."],
  [{ ports: { apiPort: 4020 } }, "ports has no apiPort. Use api, docs, control, rpc."],
  [
    { gasBudgetWei: 1 },
    "gasBudgetWei must be a bigint of wei from 0 to 2n ** 256n - 1n, such as 10n ** 18n, not 1.",
  ],
  [
    { gasBudgetWei: "1" },
    'gasBudgetWei must be a bigint of wei from 0 to 2n ** 256n - 1n, such as 10n ** 18n, not "1".',
  ],
  [{ autoDeliver: "yes" }, 'autoDeliver must be true or false, not "yes".'],
  [{ autoDeliver: null }, "autoDeliver must be true or false, not null."],
  [{ confirmations: "3" }, 'confirmations must be a whole number from 1 to 1000, not "3".'],
  [{ programs: "prg_demo" }, 'programs must be an array, not "prg_demo".'],
  [
    { programs: [{ id: "prg_demo", nmae: "Books" }] },
    "The program prg_demo has no field nmae. Pass id, name and account.",
  ],
  [
    { accounts: [{ id: "acct_worker", programm: "prg_demo" }] },
    'The account "acct_worker" has no field programm. Pass id and program.',
  ],
  [{ listen: "fe80::1%lo" }, 'listen must be an IP address, such as "0.0.0.0", not "fe80::1%lo".'],
  [{ programs: [{ name: "Books" }] }, "is no program"],
  [
    { programs: [null] },
    'programs[0] is null. Pass a program\'s id such as "prg_demo", or { id, name, account }.',
  ],
  [
    { programs: ["prg_demo", 5] },
    'programs[1] is 5. Pass a program\'s id such as "prg_demo", or { id, name, account }.',
  ],
  [{ ports: { api: "4020" } }, 'The option ports.api must be a whole number from 0 to 65535, not "4020".'],
  [
    { rateLimit: { requests: "5", seconds: 1 } },
    'rateLimit.requests must be a whole number from 1, not "5".',
  ],
  [{ rateLimit: { requests: 5, seconds: 0 } }, "rateLimit.seconds must be a whole number from 1, not 0."],
  [{ rateLimit: { requests: 5 } }, "rateLimit.seconds must be a whole number from 1, not undefined."],
  [{ rateLimit: null }, "rateLimit must be an object such as { requests: 100, seconds: 60 }, not null."],
  [
    { connectionLimits: { connections: "5" } },
    'connectionLimits.connections must be a whole number from 1, not "5".',
  ],
  [
    { connectionLimits: { headersMs: 0.5 } },
    "connectionLimits.headersMs must be a whole number from 1, not 0.5.",
  ],
  [
    { gasBudgetWei: 2n ** 256n },
    "gasBudgetWei must be a bigint of wei from 0 to 2n ** 256n - 1n, such as 10n ** 18n, not ",
  ],
  [
    { gasBudgetWei: -1n },
    "gasBudgetWei must be a bigint of wei from 0 to 2n ** 256n - 1n, such as 10n ** 18n, not -1n.",
  ],
  [{ confirmations: 0 }, "confirmations must be a whole number from 1 to 1000, not 0."],
  [{ receiptTimeoutMs: -1 }, "receiptTimeoutMs must be"],
  [{ log: {} }, "log must be an object with the functions info and error, not an object."],
  [{ parts: [null] }, "parts[0] is null. Pass an object with name, schema, capture and restore."],
  [{ parts: [{}] }, "parts[0].name must be a string of at least one character, not undefined."],
  [{ parts: [{ ...ownPart, name: "" }] }, "parts[0].name is empty. Pass a value."],
  [{ parts: [{ ...ownPart, name: 5 }] }, "parts[0].name must be a string of at least one character, not 5."],
  [
    { parts: [ownPart, { ...ownPart, name: "other", schema: undefined }] },
    "parts[1].schema must be a schema of zod 4, or null, not undefined.",
  ],
  [
    { parts: [{ ...ownPart, schema: { type: "number" } }] },
    "parts[0].schema must be a schema of zod 4, or null, not an object.",
  ],
  [{ parts: [{ ...ownPart, capture: 5 }] }, "parts[0].capture must be a function, not 5."],
  [{ parts: [{ ...ownPart, restore: undefined }] }, "parts[0].restore must be a function, not undefined."],
  [{ parts: [{ ...ownPart, digest: "0x12" }] }, 'parts[0].digest must be a function, not "0x12".'],
  [{ receiverUrl: 4040 }, "receiverUrl must be a string, not 4040."],
  [{ rateLimit: { request: 5, seconds: 1 } }, "rateLimit has no request. Use requests, seconds."],
  [{ connectionLimits: 5 }, "connectionLimits must be an object such as { connections: 100 }, not 5."],
  [{ log: "info" }, 'log must be an object with the functions info and error, not "info".'],
  [{ parts: {} }, "parts must be an array, not an object."],
])("createSandbox refuses %o", async (options, message) => {
  await expect(createSandbox(options)).rejects.toMatchObject({
    ...optionInvalid,
    message: expect.stringContaining(message),
  });
});

test("createSandbox refuses fresh that is not true or false, and leaves the data directory as it is", {
  tags: "thorough",
}, async () => {
  const dataDirectory = await temporaryFolder();
  const made = await createSandbox({ dataDirectory, seed: "kept" });
  await made.given.merchant({ state: "pending" });
  const { digest } = await made.fingerprint();
  await made.close();
  const options: object = { dataDirectory, fresh: "no" };
  await expect(createSandbox(options)).rejects.toMatchObject({
    ...optionInvalid,
    message: 'The option fresh must be true or false, not "no".',
  });
  await using again = await createSandbox({ dataDirectory });
  expect((await again.fingerprint()).digest).toBe(digest);
});

test("sandboxTest names the valid scopes", () => {
  const options: object = { scope: "tests" };
  expect(() => sandboxTest(options)).toThrow(
    expect.objectContaining({ ...optionInvalid, message: 'scope is "worker" or "test", not "tests".' }),
  );
});

test("rotateKeys names the valid uses, and rotates no key", async () => {
  const { hmac_secret } = sandbox.description.receiver;
  await expect(untyped["sandbox"]?.["rotateKeys"]?.("notifications", "webhook")).rejects.toMatchObject({
    ...argumentInvalid,
    message: 'rotateKeys has no use "webhook". Use notifications, receipts, reviewer.',
  });
  expect(sandbox.description.receiver.hmac_secret).toBe(hmac_secret);
});

test("createSandbox names a wrong port as its option", async () => {
  await expect(createSandbox({ ports: { api: -1 } })).rejects.toMatchObject({
    ...optionInvalid,
    message: "The option ports.api must be a whole number from 0 to 65535, not -1.",
  });
});

describe("an option that cannot be used is refused with the code option_invalid", () => {
  test.each<[string, SandboxOptions]>([
    ["an empty data directory", { dataDirectory: "" }],
    ["an empty seed", { seed: "" }],
    ["no confirmations", { confirmations: 0 }],
    ["no program", { programs: [] }],
    ["a program without its prefix", { programs: ["books"] }],
    ["a program named twice", { programs: ["prg_books", "prg_books"] }],
    ["no time to start", { startTimeoutMs: 0 }],
    ["a part with the name of another", { parts: [{ ...ownPart, name: "store" }] }],
  ])("%s", async (_, options) => {
    await expect(createSandbox(options)).rejects.toMatchObject(optionInvalid);
  });

  test.each<[SandboxOptions, message: string]>([
    [Promise.resolve({}) as never, "The option options is a promise. Await it first."],
    [{ ports: Promise.resolve({ api: 1 }) as never }, "The option ports is a promise. Await it first."],
    [{ accounts: [new Map()] as never }, "The option accounts is a Map. Pass an object with its fields."],
  ])("what only looks like an object without fields: %j", async (options, message) => {
    await expect(createSandbox(options)).rejects.toMatchObject({ ...optionInvalid, message });
  });

  test("a snapshot file together with a database", async () => {
    const from = join(await temporaryFolder(), "state");
    await sandbox.save(from);
    const store = "postgres://127.0.0.1/unused";
    await expect(createSandbox({ from, store })).rejects.toMatchObject({
      ...optionInvalid,
      message:
        "A snapshot file cannot be loaded into a database. Leave out the option store or the option from.",
    });
  });
});

test("a database URL that names no database is refused with its own code, and is not shown", async () => {
  await expect(createSandbox({ store: "mysql://secret@localhost/shop" })).rejects.toMatchObject({
    name: "DatabaseUrlError",
    code: "database_url_invalid",
    message:
      "The option store must be a URL as in postgres://user:password@localhost:5432/database?schema=my_sandbox.",
  });
});

test("a database that refuses the connection is an error with the code that the API has for it", async () => {
  await expect(createSandbox({ store: "postgres://127.0.0.1:1/nowhere" })).rejects.toMatchObject({
    name: "StoreUnavailableError",
    code: "storage_unavailable",
    message:
      "The database refused or did not respond (ECONNREFUSED). Check that it runs, and that the URL of the option store is right.",
  });
});

test("a commit that meets a newer record is refused with a code", async () => {
  const insert = () =>
    sandbox.store.commit([], () => [
      {
        kind: "insert",
        collection: "used_transactions",
        key: "0x01",
        value: { step: "offer", subject: "pur_1" },
      },
    ]);
  await insert();
  await expect(insert()).rejects.toMatchObject({ name: "StoreConflictError", code: "store_conflict" });
});

test("explain names a value that is not a transaction hash", async () => {
  await expect(sandbox.explain("0x12")).rejects.toMatchObject({
    ...argumentInvalid,
    message: '"0x12" is not a transaction hash. Pass 0x and 64 hex digits.',
  });
});

test("openWallet says what a private key is, and does not show the wrong one", () => {
  expect(() => sandbox.openWallet(zeroHash)).toThrow(
    expect.objectContaining({
      ...argumentInvalid,
      message: expect.stringMatching(
        "openWallet takes a private key from 1 to the order of secp256k1 less 1",
      ),
    }),
  );
  expect(() => sandbox.openWallet("0x12")).toThrow(
    expect.objectContaining({
      ...argumentInvalid,
      message: "openWallet takes a private key of 32 bytes. Pass 0x and 64 hex digits.",
    }),
  );
});

test.each([
  [new URL("http://127.0.0.1:9"), "the URL http://127.0.0.1:9/"],
  [undefined, "undefined"],
])("a client takes its base URL as a string, not %s", (baseUrl, shown) => {
  const message = `The base URL must be a string, not ${shown}. Pass the text of one of the sandbox's urls.`;
  for (const create of [createApiClient, createControlClient])
    expect(() => create(baseUrl as never)).toThrow(expect.objectContaining({ ...argumentInvalid, message }));
});

describe("a payment takes nothing but an amount and its options, so no mistake pays the whole amount", () => {
  const shape = (passed: string) =>
    `pay takes an amount as bigint or { amount, permit }, not ${passed}. Pass 10_000_000n.`;
  test.each<[payment: unknown, message: string]>([
    ["1000", shape('"1000"')],
    [1000, shape("1000")],
    [null, shape("null")],
    [true, shape("true")],
    [[5n], shape("[5n]")],
    [
      Promise.resolve(5n),
      "pay takes an amount as bigint or { amount, permit }, not a promise. Await it first.",
    ],
    [{ amonut: 5n }, "There is no option amonut. Use amount or permit."],
    [{ amount: 5n, permti: true }, "There is no option permti. Use amount or permit."],
    [
      { permit: "yes" },
      'pay takes a permit of signPermit() or true, not "yes". Pass { permit: true } to sign one now.',
    ],
    [
      { permit: { deadline: 5n } },
      'pay takes a permit of signPermit() or true, not {"deadline":5n}. Pass { permit: true } to sign one now.',
    ],
    [
      { amount: { amount: 5n } },
      'pay takes an amount in base units, not {"amount":5n}. Pass a bigint from 0, such as 10_000_000n for 10 USDC.',
    ],
  ])("%o", async (payment, message) => {
    const { purchase } = await sandbox.given.purchase({ state: "active" });
    const { buyer } = sandbox.wallets;
    await buyer.approve(purchase);
    const sent = async () => await sandbox.chain.client.getTransactionCount({ address: buyer.address });
    const before = await sent();
    await expect(untyped["buyer"]?.["pay"]?.(purchase, payment)).rejects.toMatchObject({
      ...argumentInvalid,
      message,
    });
    expect(await sent()).toBe(before);
  });
});

const sendRemedy = "Pass the transaction of an action, or { to, data, value }.";

describe("an action names what is passed instead of its argument", () => {
  const purchase = { commitment: {}, figures: { outstanding: "5" }, deadlines: {} };
  const pass = { purchase: "Pass a purchase as the API returns it." };
  test.each<[what: string, action: string, values: unknown[], message: string]>([
    ["nothing", "pay", [], `pay takes a purchase, not undefined. ${pass.purchase}`],
    ["a promise", "pay", [Promise.resolve({})], "pay takes a purchase, not a promise. Await it first."],
    [
      "an answer",
      "pay",
      [{ data: {} }],
      `pay takes a purchase, not an object without commitment, figures and deadlines. ${pass.purchase}`,
    ],
    ["nothing", "approve", [], `approve takes a purchase, not undefined. ${pass.purchase}`],
    ["nothing", "signPermit", [], `signPermit takes a purchase, not undefined. ${pass.purchase}`],
    ["null", "claim", [null], `claim takes a purchase, not null. ${pass.purchase}`],
    ["nothing", "expire", [], `expire takes a purchase, not undefined. ${pass.purchase}`],
    [
      "no terms",
      "claim",
      [purchase],
      'claim needs an amount and a reason. Pass { amount: 10_000_000n, reason: "late" }.',
    ],
    [
      "terms without a reason",
      "claim",
      [purchase, { amount: 5n }],
      'claim needs a reason. Pass { amount: 10_000_000n, reason: "late" }.',
    ],
    [
      "terms without an amount",
      "claim",
      [purchase, { reason: "late" }],
      'claim needs an amount. Pass { amount: 10_000_000n, reason: "late" }.',
    ],
    [
      "an amount alone",
      "claim",
      [purchase, 5n],
      'claim takes an amount and a reason, not 5n. Pass { amount: 10_000_000n, reason: "late" }.',
    ],
    [
      "a reason that is no text",
      "claim",
      [purchase, { amount: 5n, reason: 7 }],
      'claim takes a reason as a text, not 7. Pass one such as "late".',
    ],
    [
      "nothing",
      "enroll",
      [],
      "enroll takes a merchant, not undefined. Pass a merchant as the API returns it.",
    ],
    ["nothing", "fund", [], "fund takes a merchant, not undefined. Pass a merchant as the API returns it."],
    [
      "an amount as a text",
      "pay",
      [purchase, { amount: "5" }],
      'pay takes an amount in base units, not "5". Pass a bigint from 0, such as 10_000_000n for 10 USDC.',
    ],
    [
      "an amount below zero",
      "approve",
      [purchase, -1n],
      "approve takes an amount in base units, not -1n. Pass a bigint from 0, such as 10_000_000n for 10 USDC.",
    ],
    [
      "an amount above all that a contract takes",
      "pay",
      [purchase, 2n ** 256n],
      `pay takes an amount in base units, not ${2n ** 256n}n. Pass a bigint from 0 to 2n ** 256n - 1n, such as 10_000_000n for 10 USDC.`,
    ],
    [
      "a name",
      "faucet",
      [5n, "bob"],
      'faucet takes an address, not "bob". Pass 0x and 40 hex digits, such as wallets.merchant.address.',
    ],
    [
      "an object",
      "faucet",
      [5n, {}],
      "faucet takes an address, not an object. Pass 0x and 40 hex digits, such as wallets.merchant.address.",
    ],
    [
      "no payments",
      "payBatch",
      [[]],
      "payBatch takes a list of payments, with one at least, not []. Pass [{ purchase, amount }].",
    ],
    [
      "null",
      "payBatch",
      [null],
      "payBatch takes a list of payments, with one at least, not null. Pass [{ purchase, amount }].",
    ],
    ["no payment", "payBatch", [[null]], "payBatch takes payments, not null. Pass [{ purchase, amount }]."],
    [
      "a purchase alone",
      "payBatch",
      [[purchase]],
      "payBatch takes a purchase, not undefined. Pass a purchase as the API returns it.",
    ],
    [
      "a promise of payments",
      "payBatch",
      [Promise.resolve([])],
      "payBatch takes a list of payments, with one at least, not a promise. Await it first.",
    ],
    [
      "nothing",
      "revokeFunding",
      [],
      "revokeFunding takes a merchant, not undefined. Pass a merchant as the API returns it.",
    ],
    [
      "no second argument",
      "setPaused",
      ["prg_demo"],
      "setPaused takes true or false, not undefined. Pass one as the second argument.",
    ],
    [
      "nothing",
      "setBounds",
      ["prg_demo"],
      "setBounds needs operator, commitmentSigner and bounds. Pass { operator, commitmentSigner, bounds }.",
    ],
    ...Object.entries({
      "{}": [
        {},
        "bounds needs maxPurchase, openBudget and validUntil. Pass { maxPurchase, openBudget, validUntil }.",
      ],
      "an amount as a number": [
        { maxPurchase: 5, openBudget: 5n, validUntil: 5 },
        "maxPurchase takes an amount in base units, not 5. Pass a bigint from 0, such as 10_000_000n for 10 USDC.",
      ],
      "a time as a text": [
        { maxPurchase: 5n, openBudget: 5n, validUntil: "2026" },
        'validUntil takes a time in Unix seconds, not "2026". Pass a whole number from 0 to 2n ** 64n - 1n.',
      ],
      "a time above all that a contract takes": [
        { maxPurchase: 5n, openBudget: 5n, validUntil: 2n ** 64n },
        `validUntil takes a time in Unix seconds, not ${2n ** 64n}n. Pass a whole number from 0 to 2n ** 64n - 1n.`,
      ],
    } as const).map(([what, [bounds, message]]): [string, string, unknown[], string] => [
      what,
      "setBounds",
      ["prg_demo", { operator: zeroAddress, commitmentSigner: zeroAddress, bounds }],
      `setBounds: ${message}`,
    ]),
    [
      "nothing",
      "signTypedData",
      [],
      "signTypedData takes typed data, not undefined. Pass the typed_data of an action or a commitment.",
    ],
    [
      "an unknown type",
      "signTypedData",
      [{ domain: {}, types: {}, primaryType: "X", message: {} }],
      'signTypedData takes valid typed data: Invalid primary type `X` must be one of `["EIP712Domain"]`.',
    ],
    [
      "bytes that are no hex",
      "signMessage",
      [{ raw: "zz" }],
      'signMessage takes a text, or { raw: bytes }, not {"raw":"zz"}. Pass the message of an action, or { raw: "0x1234" }.',
    ],
    [
      "nothing",
      "sendCall",
      [],
      "sendCall takes a call, not undefined. Pass one such as payCall(registrar, id, 5n).",
    ],
    ["a hash", "send", ["0x12"], `send takes a transaction, not 0x12. ${sendRemedy}`],
    ...Object.entries<[unknown, string]>({
      data: ["0x1", `must be whole bytes in hex with 0x, not "0x1". ${sendRemedy}`],
      "data ": ["1234", `must be whole bytes in hex with 0x, not "1234". ${sendRemedy}`],
      value: [
        true,
        `must be wei from 0 to 2^256 - 1, as a decimal string or hex with 0x, not true. ${sendRemedy}`,
      ],
      "value ": [
        "1.5",
        `must be wei from 0 to 2^256 - 1, as a decimal string or hex with 0x, not "1.5". ${sendRemedy}`,
      ],
      " value ": [
        -1n,
        `must be wei from 0 to 2^256 - 1, as a decimal string or hex with 0x, not -1n. ${sendRemedy}`,
      ],
      "to ": ["bob", `must be 0x and 40 hexadecimal characters, not "bob". ${sendRemedy}`],
    }).map(([name, [given, message]]): [string, string, unknown[], string] => {
      const member = name.trim();
      const sent = [{ to: zeroAddress, [member]: given }];
      return [`${member} ${given}`, "send", sent, `send takes a transaction, and its ${member} ${message}`];
    }),
    ...["input", "gas", "nonce"].map((name): [string, string, unknown[], string] => [
      name,
      "send",
      [{ to: zeroAddress, [name]: "0x1234" }],
      `send takes a transaction without ${name}. Pass calldata as data; the wallet chooses gas, fees and nonce.`,
    ]),
    [
      "a misspelled name",
      "send",
      [{ to: zeroAddress, chainId: 31_337 }],
      "send takes a transaction without chainId. Did you mean chain_id?",
    ],
    [
      "another chain",
      "send",
      [{ to: zeroAddress, chain_id: 1 }],
      "send takes a transaction for chain 31337, not for chain 1. Build the transaction for the wallet's chain.",
    ],
  ])("%s: %s", async (_, action, values, message) => {
    const refused = untyped["buyer"]?.[action]?.(...values);
    await expect(refused).rejects.toMatchObject({ ...argumentInvalid, message });
  });

  const claim = { id: "clm_1", claim_hash: "0x" };
  const decided = { id: "pur_1", program: "prg_demo", commitment: {} };
  const kinds = "Pass a purchase as the API returns it.";
  describe.each(["sign", "decide"])("reviewer.%s", (method) => {
    test.each<[values: unknown[], message: string]>([
      [[], `takes a purchase, not undefined. ${kinds}`],
      [
        [{ purchase: decided }],
        `takes a purchase, not an object without id, program and commitment. ${kinds}`,
      ],
      [
        [{ ...decided, program: undefined }, claim],
        `takes a purchase, not an object without program. ${kinds}`,
      ],
      [[decided], "takes a claim, not undefined. Pass a claim as the API returns it."],
      [[decided, claim], 'needs an award. Pass { award: "10000000" }.'],
      [[decided, claim, { outcome: "denied" }], 'needs an award. Pass { award: "10000000" }.'],
      [
        [decided, claim, { award: 1n }],
        'award is a decimal string such as "10000000", not 1n. Pass it in quotes.',
      ],
      [
        [decided, claim, { award: "1", decidedAt: new Date(0) }],
        'decidedAt is a text, not the Date 1970-01-01T00:00:00.000Z. Pass an RFC 3339 time such as "2026-01-01T00:00:00Z".',
      ],
      [
        [decided, claim, { award: "1", outcome: 1 }],
        'outcome is a text, not 1. Pass "approved" or "denied".',
      ],
    ])("%o", async (values, message) => {
      await expect(untyped["reviewer"]?.[method]?.(...values)).rejects.toMatchObject({
        ...argumentInvalid,
        message: message.replace(/^(?=takes|needs)/, `reviewer.${method} `),
      });
    });
  });
});

describe("a write of client.retrying names what is passed instead of its object, and sends nothing", () => {
  const answer = { data: {} };
  const decision = "Pass a decision as the API returns it.";
  const merchant = "Pass a merchant as the API returns it.";
  const purchase = "Pass a purchase as the API returns it.";
  const object = { program: "prg_demo", id: "pur_1" };
  test.each<[write: string, values: unknown[], message: string]>([
    ["enroll", [null], `enroll takes a merchant, not null. ${merchant}`],
    ["createPurchase", [undefined, {}], `createPurchase takes a merchant, not undefined. ${merchant}`],
    [
      "activate",
      [answer],
      `activate takes a purchase, not an object without id, program and commitment. ${purchase}`,
    ],
    ["register", [Promise.resolve()], "register takes a purchase, not a promise. Await it first."],
    ["reconcile", [answer], `reconcile takes a purchase, not an object without program and id. ${purchase}`],
    ["claim", [null], `claim takes a purchase, not null. ${purchase}`],
    ["decide", [null], `decide takes a purchase, not null. ${purchase}`],
    ["refund", [null], `refund takes a purchase, not null. ${purchase}`],
    ["refund", [object], `refund takes a decision, not undefined. ${decision}`],
    [
      "createMerchant",
      [{ name: "Shop" }],
      'createMerchant takes a program\'s id, not {"name":"Shop"}. Pass one such as "prg_demo".',
    ],
    [
      "createMerchant",
      ["prg_demo"],
      "createMerchant takes a request body, not undefined. Pass an object of its fields.",
    ],
    ["decide", [object, Promise.resolve({})], "decide takes a request body, not a promise. Await it first."],
    ["deliver", [], 'deliver takes a program\'s id, not undefined. Pass one such as "prg_demo".'],
  ])("%s", async (write, values, message) => {
    Object.assign(untyped, { retrying: sandbox.client.retrying });
    const before = await sandbox.fingerprint();
    await expect(untyped["retrying"]?.[write]?.(...values)).rejects.toMatchObject({
      ...argumentInvalid,
      message,
    });
    expect(await sandbox.fingerprint()).toEqual(before);
  });
});

test("receiver.next and client.retrying.deliver name an invalid argument", async () => {
  await expect(untyped["receiver"]?.["next"]?.({ timeout: 100 })).rejects.toMatchObject({
    ...argumentInvalid,
    message:
      'receiver.next takes a function and a time in milliseconds, not {"timeout":100}. Pass them as in next(({ status }) => status === 200, 1_000).',
  });
  await expect(untyped["receiver"]?.["next"]?.(() => true, 5n)).rejects.toMatchObject({
    ...argumentInvalid,
    message: "receiver.next takes a time in milliseconds, not 5n. Pass a number from 0, such as 1_000.",
  });
  Object.assign(untyped, { retrying: sandbox.client.retrying });
  await expect(untyped["retrying"]?.["deliver"]?.("prg_demo", "evt_1")).rejects.toMatchObject({
    ...argumentInvalid,
    message: "deliver takes an event, not evt_1. Pass an event of the outbox, or { id }.",
  });
});

test.each([3_000, 20_000])("an object of %i levels is refused as too deep", async (levels) => {
  let deep: object = {};
  for (let level = 0; level < levels; level += 1) deep = { deep };
  const terms = JSON.parse("{}");
  Object.assign(terms, { deep });
  await expect(sandbox.given.purchase({ state: "created", terms })).rejects.toMatchObject({
    code: "given_invalid",
    message: expect.stringMatching(/must have at most 64 levels|without a JSON form/),
  });
  Object.assign(untyped, { retrying: sandbox.client.retrying });
  await expect(untyped["retrying"]?.["createMerchant"]?.("prg_demo", deep)).rejects.toThrow("64 levels");
});

test("explain shows the beginning of an object that is not a hash", async () => {
  const { purchase } = await sandbox.given.purchase({ state: "created" });
  await expect(untyped["sandbox"]?.["explain"]?.(purchase)).rejects.toMatchObject({
    ...argumentInvalid,
    message: expect.stringMatching(
      /^\{"id":"pur_.{180,200}… is not a transaction hash\. Pass 0x and 64 hex digits\.$/,
    ),
  });
});

describe("resend, save and unwrap say what they take", () => {
  const answer = "unwrap takes the awaited response to a request. Pass it as in unwrap(await client.GET(…)).";
  test.each<[what: string, call: () => unknown, message: string]>([
    [
      "resend of nothing",
      async () => await untyped["receiver"]?.["resend"]?.(undefined),
      "resend takes a notification, the id of an event, or a delivery of deliveries(), not undefined. Pass one, as in receiver.resend(notification).",
    ],
    [
      "resend of a promise",
      async () => await untyped["receiver"]?.["resend"]?.(Promise.resolve({})),
      "resend takes a notification, the id of an event, or a delivery of deliveries(), not a promise. Await it first.",
    ],
    [
      "save without a name",
      async () => await untyped["sandbox"]?.["save"]?.(),
      'save takes a file name. Pass one such as "snapshot.gz".',
    ],
    ["unwrap of nothing", async () => unwrap(JSON.parse("null")), answer],
    ["unwrap of a promise", async () => unwrap(Object.assign(Promise.resolve(), { data: 1 })), answer],
  ])("%s", async (_, call, message) => {
    await expect(call()).rejects.toMatchObject({ message });
  });
});

test("a path with an unfilled parameter is refused before it is sent", async () => {
  const path = "/v1/routing/programs/{program}/purchases/{id}";
  const given: { program: string; id: string } = JSON.parse('{ "program": "prg_demo" }');
  for (const client of [sandbox.client, sandbox.client.retrying]) {
    await expect(client.GET(path, { params: { path: given } })).rejects.toThrow(
      "The path has an unfilled {id}. Pass id in params.path.",
    );
    await expect(client.GET(path, JSON.parse("{}"))).rejects.toThrow("The path has an unfilled {program}.");
    const object = JSON.parse('{ "program": { "id": "prg_demo" }, "id": "pur_1" }');
    await expect(client.GET(path, { params: { path: object } })).rejects.toMatchObject({
      ...argumentInvalid,
      message:
        'The path has an unfilled {program} for {"id":"prg_demo"}, which is no text. Pass program in params.path.',
    });
  }
});

test("a body that JSON cannot write is refused with the member that it cannot write", async () => {
  const remedy = 'Pass amounts as decimal strings such as "10000000", and no object inside itself.';
  const circular: { lines: unknown[] } = { lines: [] };
  circular.lines.push(circular);
  const merchant = { program: "prg_demo", id: "mer_1" };
  const path = "/v1/routing/programs/{program}/merchants";
  for (const [body, wrong] of [
    [{ funding_cap: 5n }, "body.funding_cap is 5n"],
    [{ terms: circular }, "body.terms.lines.0 contains itself"],
  ] as const) {
    const refused = { ...argumentInvalid, message: `The body has no JSON form: ${wrong}. ${remedy}` };
    Object.assign(untyped, { client: sandbox.client, retrying: sandbox.client.retrying });
    const params = { path: { program: "prg_demo" } };
    await expect(untyped["client"]?.["POST"]?.(path, { params, body })).rejects.toMatchObject(refused);
    await expect(untyped["retrying"]?.["createPurchase"]?.(merchant, body)).rejects.toMatchObject(refused);
  }
});

test("an action that the contract refuses says which error it was", async () => {
  const { purchase } = await sandbox.given.purchase({ state: "paid" });
  const { buyer, merchant } = sandbox.wallets;
  const { receipt, revert } = await merchant.pay(purchase, 1n);
  expect([receipt.status, revert]).toEqual([
    "reverted",
    `WrongCaller(actual ${merchant.address}, expected ${buyer.address})`,
  ]);
  expect((await buyer.faucet(1n)).revert).toBe(null);
});

test("an action of a wallet without ether says what it has, what it needs and where it gets it", async () => {
  const { purchase } = await sandbox.given.purchase({ state: "active" });
  const wallet = sandbox.openWallet(`0x${"11".repeat(32)}`);
  const { address } = wallet;
  await expect(wallet.pay(purchase)).rejects.toMatchObject({
    name: "SandboxError",
    code: "wallet_unfunded",
    message:
      `${address} has 0 ether, and its transaction may cost 0.002. ` +
      "Send it ether, or set its balance with chain.client.setBalance({ address, value }).",
  });
  await sandbox.chain.client.setBalance({ address, value: 10n ** 18n });
  expect((await wallet.pay(purchase, 0n)).receipt.status).toBe("reverted");
});

describe("faults.set names a value that is not a fault", () => {
  const intents = "answer-lost, node-down, reorg, crash or slow";
  test.each<[args: unknown[], message: string]>([
    [
      [undefined],
      `A fault is a name or an object with layer and action, not undefined. Use ${intents}, or { layer, action }.`,
    ],
    [
      [503],
      `A fault is a name or an object with layer and action, not 503. Use ${intents}, or { layer, action }.`,
    ],
    [["lost"], `There is no fault "lost". Use ${intents}.`],
    [["slow", { delayMs: 5 }], "The fault slow has no option delayMs; did you mean delay_ms?"],
    [
      [{ layer: "delivery", action: "reset", operation: "executeRefund" }],
      "A fault has no option operation; use layer, point, action, match, count, delay_ms, status, headers, body.",
    ],
    [["slow", { delay_ms: "5" }], 'The option delay_ms must be a whole number, not the string "5".'],
    [
      [{ layer: "delivery", action: "answer", status: 200 }],
      "The option status must be at least 300, not 200.",
    ],
    [
      [{ layer: "delivery", action: "reset", count: 0.5 }],
      "The option count must be a whole number, or null to act until it is cleared, not 0.5.",
    ],
    [
      [{ layer: "delivery", action: "reset", count: "always" }],
      'The option count must be a whole number, or null to act until it is cleared, not the string "always".',
    ],
    [
      [{ layer: "relayer", action: "replace" }],
      "The option point is missing, and replace can act at several. Use after_signed or after_broadcast.",
    ],
    [
      ["slow", { program: "prg_x" }],
      'The option program is "prg_x", which is not a program of this sandbox. Use prg_demo or prg_other.',
    ],
  ])("%j", async (args, message) => {
    const set = async () => await untyped["faults"]?.["set"]?.(...args);
    await expect(set()).rejects.toMatchObject({ name: "FaultInvalidError", code: "fault_invalid", message });
  });
});
