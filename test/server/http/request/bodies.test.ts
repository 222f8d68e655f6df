import { connect } from "node:net";
import { beforeAll, describe, expect, test } from "vitest";
import { hashJson } from "../../../../protocol/values/canonical-json.ts";
import { operations } from "../../../../server/operations.ts";
import { present, problem } from "../../../kit/answer.ts";
import { TestKit } from "../../../kit/test-kit.ts";

let kit: TestKit;
let merchantId: string;

beforeAll(async () => {
  kit = await TestKit.shared();
  merchantId = (await kit.enrolledMerchant()).id;
});

/** A request written byte by byte; answers what came back when the server has ended the connection. */
async function overSocket(chunks: string[]): Promise<string> {
  const { hostname, port } = new URL(kit.base);
  const socket = connect(Number(port), hostname);
  const received: Buffer[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.on("data", (chunk) => received.push(chunk));
  socket.on("close", () => resolve());
  socket.on("error", () => resolve());
  for (const chunk of chunks) socket.write(chunk);
  await promise;
  return Buffer.concat(received).toString();
}

function head(more: readonly string[]): string {
  return [
    `POST ${kit.path("/purchases")} HTTP/1.1`,
    `Host: ${new URL(kit.base).host}`,
    `Authorization: Bearer ${kit.credential}`,
    `Idempotency-Key: ${kit.key()}`,
    "Content-Type: application/json",
    ...more,
    "",
    "",
  ].join("\r\n");
}

async function createWith(body: string | Buffer, headers: { [name: string]: string | string[] } = {}) {
  return await kit.raw(kit.path("/purchases"), {
    method: "POST",
    headers: {
      Authorization: `Bearer ${kit.credential}`,
      "Idempotency-Key": kit.key(),
      "Content-Type": "application/json",
      ...headers,
    },
    body,
  });
}

function purchase(more: string): string {
  const { address } = kit.wallet("buyer");
  return `{"merchant_id":"${merchantId}","buyer":"${address}","amount":"25000000"${more}}`;
}

describe("32 KiB", () => {
  function sized(bytes: number): string {
    const empty = purchase(',"terms":{"pad":""}');
    return purchase(`,"terms":{"pad":"${"x".repeat(bytes - empty.length)}"}`);
  }

  test("are accepted", async () => {
    expect((await createWith(sized(32 * 1024))).status).toBe(201);
  });

  test("are refused when one byte is added", async () => {
    const answer = await createWith(sized(32 * 1024 + 1));
    expect(answer.status).toBe(413);
    expect(problem(answer)).toMatchObject({ code: "body_too_large", retryable: false });
  });

  test("are counted in bytes and not in characters", async () => {
    const answer = await createWith(purchase(`,"terms":{"pad":"${"€".repeat(11_000)}"}`));
    expect(problem(answer).code).toBe("body_too_large");
  });

  test("are also counted in a chunked body", async () => {
    const body = Buffer.alloc(40_000, "x");
    const answer = await createWith(body, { "Transfer-Encoding": "chunked" });
    expect(problem(answer).code).toBe("body_too_large");
  });

  test("are the limit of every POST", async () => {
    for (const operation of operations.filter(({ method }) => method === "post")) {
      const path = operation.path.replace("{program}", kit.program).replace("{id}", merchantId);
      const bearer = operation.number === 2 ? kit.accountKey : kit.credential;
      const answer = await kit.post(path, "x".repeat(32 * 1024 + 1), { Authorization: `Bearer ${bearer}` });
      expect(problem(answer).code, operation.id).toBe("body_too_large");
    }
  });

  test("are the limit: a client that declares more and then stalls is refused at once", async () => {
    const answer = await overSocket([head(["Content-Length: 1000000000"]), "{"]);
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toContain('"code":"body_too_large"');
    expect(answer).toContain("Connection: close");
  });

  test("are the limit even for a client that keeps sending", async () => {
    const chunk = `8000\r\n${"x".repeat(0x8000)}\r\n`;
    const answer = await overSocket([
      head(["Transfer-Encoding: chunked"]),
      ...Array.from({ length: 20 }, () => chunk),
    ]);
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toContain('"code":"body_too_large"');
  });

  test("are refused without 100 Continue when a client waits to send more", async () => {
    const answer = await overSocket([head(["Content-Length: 40000", "Expect: 100-continue"])]);
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  });
});

test("a client that waits for 100 Continue gets it once its headers are right", async () => {
  const body = purchase(',"terms":{}');
  const answer = await overSocket([
    head([`Content-Length: ${body.length}`, "Expect: 100-continue", "Connection: close"]),
    body,
  ]);
  expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /);
});

test("a refusal before the body is read reaches a client that is still sending", async () => {
  const start = head(["Content-Length: 30000"]).replace(kit.credential, "rsc_unknown");
  const answer = await overSocket([start, "{"]);
  expect(answer).toMatch(/^HTTP\/1\.1 401 /);
});

describe("a body is malformed when", () => {
  test.each([
    ["it is empty", ""],
    ["it is no JSON", "{"],
    ["something follows it", "{} {}"],
    ["it has a trailing comma", '{"a":1,}'],
    ["it has single quotes", "{'a':1}"],
    ["it has a comment", "{/* no */}"],
    ["it begins with a byte order mark", "\uFEFF{}"],
    ["a key is there twice", '{"amount":"1","amount":"2"}'],
    ["a key is there twice with equal values", '{"amount":"1","amount":"1"}'],
    ["a key is there twice, once escaped", '{"amount":"1","\\u0061mount":"1"}'],
    ["a key is there twice deep inside", '{"terms":{"a":[{"b":1,"b":1}]}}'],
    ["a key is __proto__", '{"terms":{"__proto__":{"admin":true}}}'],
    ["a key is __proto__, escaped", '{"terms":{"__\\u0070roto__":1}}'],
    ["a string has an unpaired surrogate", '{"terms":{"a":"\\ud800"}}'],
    ["a key has an unpaired surrogate", '{"terms":{"\\udc00":1}}'],
    ["an integer is above 2^53", '{"terms":{"a":9007199254740993}}'],
    ["an integer is above 2^53, also when a float has it", '{"terms":{"a":9007199254740994}}'],
    ["an integer is 2^53, which a float has for its successor too", '{"terms":{"a":9007199254740992}}'],
    ["an integer is -2^53", '{"terms":{"a":-9007199254740992}}'],
    ["a number is too long", '{"terms":{"a":0.1234567890123456789}}'],
    ["a number overflows", '{"terms":{"a":1e400}}'],
    ["a number underflows", '{"terms":{"a":1e-400}}'],
    ["it has 65 levels", `{"terms":{"a":${"[".repeat(63)}${"]".repeat(63)}}}`],
    ["it is nested as deeply as it has room", "[".repeat(32_000)],
  ])("%s", async (_, body) => {
    const before = await kit.digest();
    const answer = await createWith(body);
    expect(answer.status).toBe(400);
    expect(problem(answer).code).toBe("body_malformed");
    expect(await kit.digest()).toBe(before);
  });

  test.each([
    ['{"amount":"1","amount":"2"}', 'Duplicate key "amount". Send each key of an object once.'],
    ['{"terms":{"a":"\\ud800"}}', "A string contains an unpaired surrogate. Send valid UTF-8."],
  ])("it is %s, and the answer says what is wrong", async (body, detail) => {
    expect(problem(await createWith(body)).detail).toBe(detail);
  });

  test("it is not UTF-8", async () => {
    const answer = await createWith(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]));
    expect(problem(answer).code).toBe("body_malformed");
  });

  test("it is UTF-16", async () => {
    expect(problem(await createWith(Buffer.from("{}", "utf16le"))).code).toBe("body_malformed");
  });
});

describe("a body is accepted when", () => {
  test.each([
    ["its numbers are exact", { a: 1.5, b: -0.25, c: 1e20 / 1e10, d: 9007199254740991 }],
    ["its names look like members of every object", { constructor: "a", toString: "b", hasOwnProperty: "c" }],
    [
      "its texts hold what JSON has to escape",
      { text: 'quote " slash \\ line \n nul \u0000 {"a":1,"a":2} 😀' },
    ],
    ["it is nested to the limit", JSON.parse(`${"[".repeat(62)}${"]".repeat(62)}`)],
  ])("%s", async (_, terms) => {
    const created = present(
      await kit.api.POST("/v1/routing/programs/{program}/purchases", {
        params: kit.write(),
        body: {
          merchant_id: merchantId,
          buyer: kit.wallet("buyer").address,
          amount: "25000000",
          terms: { terms },
        },
      }),
    );
    expect(created.terms).toEqual({ terms });
    expect(created.commitment.typed_data.message["termsHash"]).toBe(hashJson({ terms }));
  });
});

describe("a body", () => {
  test.each([
    "application/json",
    "Application/JSON",
    "application/json; charset=utf-8",
    'application/json;charset="UTF-8"',
  ])("of the content type %s is taken", async (type) => {
    expect((await createWith(purchase(',"terms":{}'), { "Content-Type": type })).status).toBe(201);
  });

  test.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "application/json; charset=utf-16",
    "application/json; charset=utf-8; charset=utf-8",
    "application/problem+json",
    "application/jsonp",
    "",
  ])("of the content type %j is refused", async (type) => {
    const answer = await createWith(purchase(',"terms":{}'), { "Content-Type": type });
    expect(answer.status).toBe(415);
    expect(problem(answer).code).toBe("content_type_unsupported");
  });

  test.each([
    [
      "Content-Type",
      "application/json",
      "content_type_unsupported",
      "The header Content-Type was sent more than once. Send application/json in UTF-8, once.",
    ],
    [
      "Content-Encoding",
      "identity",
      "content_encoding_unsupported",
      "The body has a Content-Encoding. Send it without one.",
    ],
  ])("whose header %s is sent twice is refused", async (name, value, code, detail) => {
    const answer = await createWith(purchase(',"terms":{}'), { [name]: [value, value] });
    expect(answer.status).toBe(415);
    expect(problem(answer)).toMatchObject({ code, detail });
  });

  test.each(["gzip", "br", "identity, gzip", "unknown"])(
    "of the content encoding %s is refused",
    async (encoding) => {
      const answer = await createWith(purchase(',"terms":{}'), { "Content-Encoding": encoding });
      expect(answer.status).toBe(415);
      expect(problem(answer).code).toBe("content_encoding_unsupported");
    },
  );
});

describe("a body is not valid when", () => {
  test.each([
    ["a field is unknown", { extra: 1 }, "/extra", "unknown_field"],
    ["an amount is a number", { amount: 25 }, "/amount", "invalid_type"],
    ["an amount has a leading zero", { amount: "025" }, "/amount", "invalid_format"],
    ["an amount is zero", { amount: "0" }, "/amount", "custom"],
    ["an amount is above 2^128", { amount: (2n ** 128n).toString() }, "/amount", "custom"],
    [
      "an address has a wrong checksum",
      { buyer: "0x70997970c51812dc3A010C7d01b50e0d17dc79C8" },
      "/buyer",
      "custom",
    ],
    ["a deadline is a text", { pay_deadline: "1767830400" }, "/pay_deadline", "invalid_type"],
    ["terms are a list", { terms: [] }, "/terms", "invalid_type"],
  ])("%s", async (_, change, pointer, code) => {
    const body = { ...JSON.parse(purchase(',"terms":{}')), ...change };
    const answer = await createWith(JSON.stringify(body));
    expect(answer.status).toBe(422);
    expect(problem(answer)).toMatchObject({ code: "validation_failed", errors: [{ pointer, code }] });
  });

  test("several things are wrong, and every one is listed", async () => {
    const answer = await createWith('{"merchant_id":"x","amount":1,"odd/name~":2}');
    const pointers = problem(answer).errors?.map(({ pointer }) => pointer);
    expect(pointers).toEqual(["/merchant_id", "/buyer", "/amount", "/terms", "/odd~1name~0"]);
  });
});

test.for<[string, string]>([
  ["\uFEFF{}", "it begins with a byte order mark (BOM). Send UTF-8 without it"],
  ["   ", "it is empty. Send one JSON object"],
  ['{"amount":NaN}', '"NaN" at character 11 was not expected'],
  ['{"amount":-Infinity}', '"-Infinity" at character 11 was not expected'],
  ["{'amount':1}", `"'" at character 2 was not expected`],
  ['{"amount":\u00a01}', '"\u00a0" at character 11 was not expected'],
  ["{amount:1}", '"amount" at character 2 was not expected'],
  ['{"amount":"1",}', "the comma at character 14 has nothing after it"],
  ['{"list":[1, ]}', "the comma at character 11 has nothing after it"],
  ['{"amount":"1" "terms":null}', '"\\"" at character 15 was not expected'],
  ['{"amount":"1}', "the string at character 11 has no end"],
  ['{"amount":"1\\"}', "the string at character 11 has no end"],
  ['{"amount":01}', '"1" at character 12 was not expected'],
  ['{"amount":"1"} // one', '"/" at character 16 was not expected'],
  ['{"amount":"a\nb"}', 'the string at character 11 has "\\n" at character 13, which must be escaped'],
  ['{"amount":"1"', "it ends before it is complete"],
])("the body %j is refused with what is wrong in it, and where", async ([body, mistake]) => {
  expect(problem(await createWith(Buffer.from(body)))).toMatchObject({
    code: "body_malformed",
    detail: `The body is not valid JSON: ${mistake}.`,
  });
});

const refusedAmount =
  "must be a decimal string of base units with at most 39 digits and without sign or leading zeros";

test.for<[amount: string, meant: string]>([
  ...["25.00", "25.0", "25.", "25.000000", "25.0000000", "25,00", "25,0", " 25.00 "].map(
    (amount): [string, string] => [amount, 'send "25000000" for 25.00 USDC'],
  ),
  ...[
    "25 USDC",
    "25USDC",
    "25.00 usdc",
    "25,00 USDC",
    "USDC 25",
    "$25",
    "$ 25.00",
    "25 USD",
    "25\u00a0USDC",
  ].map((amount): [string, string] => [amount, 'send "25000000" for 25.00 USDC']),
  ["0.5", 'send "500000" for 0.50 USDC'],
  [".5", 'send "500000" for 0.50 USDC'],
  ["0,5", 'send "500000" for 0.50 USDC'],
  ["25,000001", 'send "25000001" for 25.000001 USDC'],
  ["1,025.00", 'send "1025000000" for 1025.00 USDC'],
  ["1.025,00 USDC", 'send "1025000000" for 1025.00 USDC'],
  [" 25", 'send "25", without spaces'],
  ["25000000\n", 'send "25000000", without spaces'],
])("the amount %j is refused with what was certainly meant", async ([amount, meant]) => {
  const { errors } = problem(await createWith(JSON.stringify({ amount })));
  const detail = `${refusedAmount} (${meant}), not ${JSON.stringify(amount)}`;
  expect(errors).toContainEqual(expect.objectContaining({ pointer: "/amount", detail }));
});

test.for([
  ...["25,000", "25,000 USDC", "1,025", "25,000,000", "1,025,00", "1.025.00", "1,02.50", "25.0000001", "25,"],
  ...[
    "$",
    "$0",
    "0.00",
    "USDC",
    "25 EUR",
    "25 €",
    "$25 USDC",
    "25 cents",
    "-25",
    "+25",
    "-$25",
    "$-25",
    "025",
    "025.00",
    "2.5e7",
  ],
  ...[
    "25 000",
    "0x19",
    "25..00",
    "٢٥",
    "",
    " ",
    "9".repeat(40),
    `${"9".repeat(39)}.00`,
    `$${"9".repeat(39)}`,
  ],
])("the amount %j, whose meaning is not certain, is refused without a value to send", async (amount) => {
  const { errors } = problem(await createWith(JSON.stringify({ amount })));
  const detail = `${refusedAmount}, not ${JSON.stringify(amount)}`;
  expect(errors).toContainEqual(expect.objectContaining({ pointer: "/amount", detail }));
});

test.for<[object, string, string]>([
  [{ merchantId: "mer_1" }, "/merchantId", "is not a field of this request; did you mean merchant_id?"],
  [
    { pay_deadline: 1_767_830_400_000 },
    "/pay_deadline",
    "must be Unix seconds; these look like milliseconds: send 1767830400, not 1767830400000",
  ],
])("a purchase with %j is refused with what was meant", async ([fields, pointer, detail]) => {
  const refused = problem(await createWith(JSON.stringify(fields)));
  expect(refused.errors).toContainEqual(
    expect.objectContaining({ pointer, detail: expect.stringContaining(detail) }),
  );
});
