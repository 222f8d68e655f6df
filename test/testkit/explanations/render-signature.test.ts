import { expect, test } from "vitest";
import { renderTypedDataExplanation } from "../../../testkit/explanations/render-signature.ts";
import { freshSandbox } from "../../kit/fresh-sandbox.ts";

test("typed data without a signature shows who signs it, and a terminal colors the members that differ", async () => {
  const sandbox = await freshSandbox();
  const { purchase } = await sandbox.given.purchase({ state: "created" });
  const { typed_data, hash } = purchase.commitment;
  const explanation = await sandbox.explain({ typed_data });
  const lines = renderTypedDataExplanation(explanation, false).split("\n");
  expect(lines[0]).toMatch(
    /^It is the commitment of pur_[a-z2-7]{20}; the commitment signer of prg_demo \(0x\w{40}\) signs it\.$/,
  );
  expect(lines).toContain(`  digest            ${hash}`);
  expect(lines).toContainEqual(
    expect.stringMatching(/^ {2}to be signed by {2}the commitment signer of prg_demo \(0x\w{40}\)$/),
  );
  expect(lines).toContain("  message.amount            25000000");
  expect(lines).not.toContain("Mistakes");

  const changed = { ...typed_data, message: { ...typed_data.message, amount: "1", note: "gift" } };
  const red = renderTypedDataExplanation(await sandbox.explain({ typed_data: changed }), true);
  expect(red).toContain("\u001b[31mmessage.amount          \u001b[39m  1, expected 25000000");
  expect(red).toContain("\u001b[31mmessage.note            \u001b[39m  gift, expected no such member");
});
