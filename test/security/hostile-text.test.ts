import { concatHex, encodeErrorResult, type Hex, numberToHex, parseAbi, size } from "viem";
import { expect, test } from "vitest";
import { escapeControls, forTerminal } from "../../server/lib/escape-controls.ts";
import { renderJunit } from "../../server/lib/render-junit.ts";
import { hashSchema } from "../../server/schemas/primitives.ts";
import { renderExplanation } from "../../testkit/explanations/render-explanation.ts";
import {
  renderDecisionExplanation,
  renderTypedDataExplanation,
} from "../../testkit/explanations/render-signature.ts";
import { freshSandbox } from "../kit/fresh-sandbox.ts";

/** Code that reverts with these bytes. */
function revertWith(data: Hex): Hex {
  const length = numberToHex(size(data), { size: 1 });
  // codecopy(0, 12, length); revert(0, length)
  return concatHex(["0x60", length, "0x600c60003960", length, "0x6000fd", data]);
}

test("control characters in a token's revert are escaped in answers and on a terminal", async () => {
  const sandbox = await freshSandbox();
  const { buyer } = sandbox.wallets;
  const { purchase } = await sandbox.given.purchase({ state: "active" });
  await buyer.approve(purchase);
  const data = encodeErrorResult({
    abi: parseAbi(["error Error(string)"]),
    errorName: "Error",
    args: ["\u001b[2J\u0007\u009bpaid\r\n"],
  });
  const { token } = sandbox.description.contracts;
  const { client: node } = sandbox.chain;
  const original = (await node.getCode({ address: token })) ?? "0x";
  await node.setCode({ address: token, bytecode: revertWith(data) });

  const { transaction_hash, revert } = await buyer.pay(purchase, 1n);
  const escaped = String.raw`\u001b[2J\u0007\u009bpaid\u000d\u000a`;
  expect(revert).toBe(`Error(message ${escaped})`);
  // The service reads the token, too.
  await node.setCode({ address: token, bytecode: original });
  const explanation = await sandbox.explain(transaction_hash);
  expect(explanation.cause).toContain(escaped);
  expect(renderExplanation(explanation, false).replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
  const { error } = await sandbox.client.POST("/v1/routing/programs/{program}/purchases/{id}/reconcile", {
    params: { path: purchase, header: { "Idempotency-Key": "hostile-text" } },
    body: { transaction_hashes: [transaction_hash] },
  });
  expect(error?.detail).toContain(escaped);
});

test("control characters in typed data and in a decision are escaped on a terminal", async () => {
  const sandbox = await freshSandbox();
  const { purchase, claim } = await sandbox.given.purchase({ state: "claimed" });
  const { typed_data } = purchase.commitment;
  const hostile = "\u001b[2J\u0007\u009b";
  const changed = {
    ...typed_data,
    domain: { ...typed_data.domain, name: hostile },
    message: { ...typed_data.message, [hostile]: hostile },
  };
  const shown = renderTypedDataExplanation(await sandbox.explain({ typed_data: changed }), false);
  expect(shown).toContain(String.raw`\u001b[2J\u0007\u009b, expected PurchaseRegistrar`);
  expect(shown.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);

  const decision = {
    award: hostile,
    chain_id: 31_337,
    claim_hash: hashSchema.parse(claim.claim_hash),
    claim_id: claim.id,
    commitment_hash: hashSchema.parse(purchase.commitment.hash),
    decided_at: hostile,
    outcome: "approved" as const,
    program: purchase.program,
    purchase: purchase.id,
    reviewer_key_id: hostile,
  };
  const decided = renderDecisionExplanation(await sandbox.explain({ decision }), false);
  expect(decided.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
});

test.each([
  ["an escape sequence", "\u001b]0;x\u0007\u001b[2J", String.raw`\u001b]0;x\u0007\u001b[2J`],
  ["a control of the second set", "\u009b2J\u0085", String.raw`\u009b2J\u0085`],
  [
    "a carriage return, and what a terminal deletes",
    "paid\rnot\b\u007f",
    String.raw`paid\u000dnot\u0008\u007f`,
  ],
  ["directions of writing", "\u202egnp.exe\u2066\u200f", String.raw`\u202egnp.exe\u2066\u200f`],
  ["characters without a width", "a\u200b\u200d\ufeff\u00adb", String.raw`a\u200b\u200d\ufeff\u00adb`],
  ["separators of lines", "a\u2028b\u2029", String.raw`a\u2028b\u2029`],
  ["tags beyond the first plane", "\u{e0041}", String.raw`\udb40\udc41`],
  ["half of a pair", "\ud800", String.raw`\ud800`],
  ["a hidden color", "\u001b[8mx\u001b[30m", String.raw`\u001b[8mx\u001b[30m`],
])("%s is escaped on a terminal, and keeps its value in JSON", (_kind, text, escaped) => {
  expect(escapeControls(text)).toBe(escaped);
  expect(forTerminal(`${text}\n`)).toBe(`${escaped}\n`);
  expect(JSON.parse(forTerminal(JSON.stringify({ [text]: text })))).toEqual({ [text]: text });
});

test("text, lines, tabs and own colors stay on a terminal", () => {
  const own = "\u001b[32m✓\u001b[39m \u001b[1mCafé – 書店 😀\u001b[22m\n\tl’été\n";
  expect(forTerminal(own)).toBe(own);
});

test("a JUnit report with control characters is XML", () => {
  const hostile = "\u001b[2J\ufffe\u202e";
  const cases = [{ group: hostile, name: hostile, failure: `${hostile}\nsecond line`, duration_ms: 1 }];
  const xml = renderJunit([{ name: hostile, cases }]);
  expect(xml).toContain("second line");
  expect(xml.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\ufffe]/u);
});
