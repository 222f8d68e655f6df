import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { causesOf, codeOf, messageOf } from "../../protocol/coded-error.ts";
import { sha256Hex } from "../../protocol/values/canonical-json.ts";
import { toJson } from "../../protocol/values/json.ts";
import { createApiClient, type SendRequest, unwrap } from "../../sandbox/client/api-client.ts";
import { showValue } from "../../sandbox/lib/errors/show-value.ts";
import { describeFileError } from "../../server/lib/describe-file-error.ts";
import { sandboxMatchers } from "../../testkit/matchers.ts";
import { freshSandbox } from "../kit/fresh-sandbox.ts";

/** Makes a value of the classes that another realm has, as a test of jest or of a pool of vitest that uses node:vm has others than Node. */
function foreign<T>(code: string): T {
  return runInNewContext(code);
}

test("a client repeats a request whose connection was lost with an error of another realm", async () => {
  const { description } = await freshSandbox();
  let sent = 0;
  const send: SendRequest = async (request) => {
    sent += 1;
    if (sent === 1) throw foreign('new TypeError("fetch failed")');
    return await fetch(request);
  };
  const { retrying } = createApiClient(description.urls.api, undefined, { fetch: send });
  expect(unwrap(await retrying.GET("/v1/routing/capabilities")).version).toBeDefined();
  expect(sent).toBe(2);
});

test("an error of another kind is not repeated, of whichever realm it is", async () => {
  const send: SendRequest = async () => {
    throw foreign('new RangeError("no connection")');
  };
  const { retrying } = createApiClient("http://127.0.0.1:9", undefined, { fetch: send });
  await expect(retrying.GET("/v1/routing/capabilities")).rejects.toThrow("no connection");
});

test("typed data of another realm is explained, and equals its copy", async () => {
  const sandbox = await freshSandbox();
  const { purchase } = await sandbox.given.purchase({ state: "active" });
  const { typed_data } = purchase.commitment;
  const copy = foreign<typeof typed_data>(`JSON.parse(${JSON.stringify(JSON.stringify(typed_data))})`);
  expect(Object.getPrototypeOf(copy)).not.toBe(Object.prototype);
  expect(await sandbox.explain({ typed_data: copy })).toEqual(await sandbox.explain({ typed_data }));
});

test("plain objects of another realm have a JSON form, and instances of classes have none", () => {
  expect(toJson(foreign("({ amount: 5n, list: [{ a: null }] })"))).toEqual({
    amount: "5",
    list: [{ a: null }],
  });
  expect(toJson(foreign("Object.create(null, { a: { value: 1, enumerable: true } })"))).toEqual({ a: 1 });
  for (const code of ["new Date(0)", "new Map()", "new (class Own {})()", "/x/"])
    expect(() => toJson(foreign(code)), code).toThrow("has no JSON form");
});

test("errors of another realm keep their texts, causes and codes", () => {
  const error = foreign(
    'new Error("outer", { cause: Object.assign(new Error("inner"), { code: "ENOENT", path: "x" }) })',
  );
  expect(causesOf(error).map(messageOf)).toEqual(["outer", "inner"]);
  const [, cause] = causesOf(error);
  expect(codeOf(cause)).toBe("ENOENT");
  expect(describeFileError(cause)).toBe("there is no such file (ENOENT, x)");
});

test("a promise of another realm, too, is refused with the advice to await it", () => {
  const promise = foreign<never>("Promise.resolve({})");
  expect(showValue(promise)).toBe("a promise");
  expect(() => unwrap(promise)).toThrow("unwrap takes the awaited response");
  const { toBeProblem } = sandboxMatchers(() => undefined);
  expect(() => toBeProblem.call({}, promise, "binding_mismatch")).toThrow("Await it first");
});

test("the matcher takes the ProblemError of another copy of the package", () => {
  const { toBeProblem } = sandboxMatchers(() => undefined);
  const problem = { code: "merchant_not_enrolled", status: 409, detail: "It is not enrolled." };
  const error = Object.assign(foreign<Error>('new Error("refused")'), { ...problem, problem });
  expect(toBeProblem.call({}, error, "merchant_not_enrolled").pass).toBe(true);
});

test("bytes of another realm's Buffer, as a request body has in a DOM environment, are hashed as any other", () => {
  const bytes = foreign<Uint8Array>("new (class Buffer extends Uint8Array {})([1, 2, 3])");
  expect(bytes).not.toBeInstanceOf(Uint8Array);
  expect(sha256Hex(bytes)).toBe(sha256Hex(new Uint8Array([1, 2, 3])));
});
