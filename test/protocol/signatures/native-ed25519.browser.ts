import { ed25519 } from "@noble/curves/ed25519.js";
import { rolldown } from "rolldown";
import { expect, test } from "vitest";
import { signEd25519 } from "../../../protocol/signatures/ed25519.ts";
import { launchChromium } from "../../../scripts/launch-chromium.ts";

test("a browser, which has no native code, signs and verifies the same with the same source", async () => {
  const bundle = await rolldown({ input: "protocol/signatures/ed25519.ts", platform: "browser" });
  const { output } = await bundle.generate({ format: "iife", name: "signatures" });
  await bundle.close();
  expect(output[0].imports).toEqual([]);
  const [secret, message] = [new Uint8Array(32).fill(1), new Uint8Array([1, 2, 3])];
  const given = {
    code: output[0].code,
    secret: [...secret],
    publicKey: [...ed25519.getPublicKey(secret)],
    message: [...message],
  };
  await using chromium = await launchChromium();
  const page = await chromium.browser.newPage();
  await page.addScriptTag({ content: given.code });
  const answered = await page.evaluate(({ secret, publicKey, message }) => {
    const { signEd25519, verifyEd25519 } = Reflect.get(globalThis, "signatures") ?? {};
    const bytes = (values: number[]) => new Uint8Array(values);
    const signature = signEd25519(bytes(secret), bytes(message));
    return {
      signature: [...signature],
      accepted: verifyEd25519(bytes(publicKey), bytes(message), signature),
      refused: verifyEd25519(bytes(publicKey), bytes([]), signature),
      hasNode: "process" in globalThis,
    };
  }, given);
  expect(answered).toEqual({
    signature: [...signEd25519(secret, message)],
    accepted: true,
    refused: false,
    hasNode: false,
  });
});
