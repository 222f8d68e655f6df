import {
  type Hex,
  numberToHex,
  parseSignature,
  serializeCompactSignature,
  signatureToCompactSignature,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import { canonicalSignature, recoverSigner } from "../../../protocol/messages/wallet-signature.ts";

const account = privateKeyToAccount(`0x${"11".repeat(32)}`);
const digests = Array.from({ length: 8 }, (_, index): Hex => numberToHex(index + 1, { size: 32 }));
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** The same signature with the other s, which recovers to the same account. */
function twin(signature: Hex): Hex {
  const s = numberToHex(order - BigInt(`0x${signature.slice(66, 130)}`), { size: 32 });
  return `${signature.slice(0, 66) as Hex}${s.slice(2)}${signature.endsWith("1b") ? "1c" : "1b"}`;
}

test.each(digests)(
  "the accepted form of a signature of %s is the same from every other form",
  async (hash) => {
    const signature = await account.sign({ hash });
    expect(canonicalSignature(signature)).toEqual({ signature, forms: [] });
    const short = serializeCompactSignature(signatureToCompactSignature(parseSignature(signature)));
    expect(canonicalSignature(short)).toEqual({ signature, forms: ["compact"] });
    expect(canonicalSignature(twin(signature))).toEqual({ signature, forms: ["high_s"] });
    const parity = signature.endsWith("1b") ? 0 : 1;
    for (const v of [parity, 35 + parity, 37 + parity])
      expect(
        canonicalSignature(`${signature.slice(0, 130) as Hex}${v.toString(16).padStart(2, "0")}`),
      ).toEqual({
        signature,
        forms: ["other_v"],
      });
    for (const other of [short, twin(signature)]) expect(await recoverSigner(hash, other)).toBeNull();
    expect(await recoverSigner(hash, signature)).toBe(account.address);
  },
);

test.each<[what: string, signature: Hex]>([
  ["no bytes", "0x"],
  ["63 bytes", `0x${"11".repeat(63)}`],
  ["66 bytes", `0x${"11".repeat(66)}`],
  ["a v without a parity", `0x${"11".repeat(64)}02`],
  ["an s of zero", `0x${"11".repeat(32)}${"00".repeat(32)}1b`],
  ["an s beyond the order", `0x${"11".repeat(32)}${"ff".repeat(32)}1b`],
])("%s have no accepted form", (_what, signature) => {
  expect(canonicalSignature(signature)).toBeNull();
});
