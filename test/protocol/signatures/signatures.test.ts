import { secp256k1 } from "@noble/curves/secp256k1.js";
import { base64, base64urlnopad } from "@scure/base";
import { verifyMessage } from "ethers";
import { CompactSign, compactVerify, importJWK } from "jose";
import { Webhook } from "standardwebhooks";
import { type Hex, hashMessage } from "viem";
import { expect, test } from "vitest";
import { enrollmentMessage } from "../../../protocol/messages/enrollment.ts";
import { recoverSigner } from "../../../protocol/messages/wallet-signature.ts";
import {
  decisionBytes,
  hashDecision,
  signDecision,
  verifyDecision,
} from "../../../protocol/signatures/decision.ts";
import { signDeliveryReceipt, verifyDeliveryReceipt } from "../../../protocol/signatures/delivery-receipt.ts";
import { ed25519Jwk, ed25519Key } from "../../../protocol/signatures/ed25519.ts";
import { deriveKey } from "../../../protocol/signatures/key-derivation.ts";
import { signWebhook, verifyWebhook, webhookSecret } from "../../../protocol/signatures/webhook.ts";
import { decision, merchant, merchantAccount, registrar, word } from "../sample.ts";

const key = await ed25519Key(deriveKey("vectors", "reviewer/prg_demo"));
const other = await ed25519Key(deriveKey("vectors", "reviewer/prg_other"));

test("the bytes of a decision are its domain line and its canonical JSON", () => {
  expect(new TextDecoder().decode(decisionBytes(decision))).toMatchInlineSnapshot(`
    "routing-sandbox/decision/v1
    {"award":"12000000","chain_id":31337,"claim_hash":"0x6666666666666666666666666666666666666666666666666666666666666666","claim_id":"clm_aaaaaaaaaaaaaaaaaaaa","commitment_hash":"0x7777777777777777777777777777777777777777777777777777777777777777","decided_at":"2026-01-08T00:00:00Z","outcome":"approved","program":"prg_demo","purchase":"pur_aaaaaaaaaaaaaaaaaaaa","reviewer_key_id":"reviewer"}"
  `);
  expect(hashDecision(decision)).toMatchInlineSnapshot(
    `"0x7f87520c911ed65f346adeb22fbfd9016ee99ee113c1476d53d0fdd23493ecc8"`,
  );
  expect(signDecision(key.privateKey, decision)).toMatchInlineSnapshot(
    `"tPn8133FFvTYd5TgaEJKkHkg14I8VyfjuA7pmlmSZ9oTpYgjnTxvq3ljC-At3BXAyqEOs8R6EXO2Ua3c3F1uBw"`,
  );
});

test("fields of a decision that are not signed are not in its bytes", () => {
  const more = { ...decision, note: "not signed" };
  expect(decisionBytes(more)).toEqual(decisionBytes(decision));
});

test("an approval holds for exactly one decision and one key", () => {
  const approval = signDecision(key.privateKey, decision);
  expect(verifyDecision(key.publicKey, decision, approval)).toBe(true);
  expect(verifyDecision(other.publicKey, decision, approval)).toBe(false);
  for (const [name, value] of Object.entries(decision)) {
    const changed = { ...decision, [name]: typeof value === "number" ? value + 1 : `${value}0` };
    expect(verifyDecision(key.publicKey, changed, approval), name).toBe(false);
  }
});

test("an approval has only one accepted encoding", () => {
  const approval = signDecision(key.privateKey, decision);
  const last = approval.at(-1) ?? "";
  // The last character of 86 carries four bits that no byte uses.
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const stray = approval.slice(0, -1) + alphabet.charAt(alphabet.indexOf(last) + 1);
  const padded = base64.encode(base64urlnopad.decode(approval));
  for (const spelling of [
    stray,
    padded,
    `${approval}==`,
    ` ${approval}`,
    `${approval}\n`,
    "",
    "A".repeat(86),
  ])
    expect(verifyDecision(key.publicKey, decision, spelling), spelling).toBe(false);
});

const body = '{"id":"evt_1","type":"purchase.paid","text":"é"}';
const secret = webhookSecret(deriveKey("vectors", "notifications/hmac"));

test("a notification's headers are what they were when they were published", () => {
  const headers = signWebhook({ id: "evt_1", timestamp: 1_767_225_600, body }, { secret, key });
  expect(headers).toMatchInlineSnapshot(`
    {
      "webhook-id": "evt_1",
      "webhook-signature": "v1,xLWE2x3Ey7zd0NXLJXZ9cT6FrRgsrUInb3NYY/6d/iY= v1a,+Tbh3JwdpYEDGf6qeAeUgCeWGuqjFzeB9m6WSTV+qc+AhwofkkcolsvSEaaqQlMgrP8MNfrQtDd59XXJBLXrDQ==",
      "webhook-timestamp": "1767225600",
    }
  `);
});

test("the stock Standard Webhooks library verifies the first signature", () => {
  const timestamp = Math.floor(Date.now() / 1000);
  const headers = { ...signWebhook({ id: "evt_1", timestamp, body }, { secret, key }) };
  const webhook = new Webhook(secret);
  expect(webhook.verify(body, headers)).toEqual(JSON.parse(body));
  expect(() => webhook.verify(body.replace("paid", "Paid"), headers)).toThrow("No matching signature");
});

test("the Ed25519 signature covers id, time and the raw body, under one key", () => {
  const bytes = new TextEncoder().encode(body);
  const headers = signWebhook({ id: "evt_1", timestamp: 1_767_225_600, body }, { secret, key });
  const verified = (change: object, raw = bytes, publicKey = key.publicKey) =>
    verifyWebhook({ ...headers, ...change }, raw, publicKey);
  expect(verified({})).toBe(true);
  expect(verified({ "webhook-id": "evt_2" })).toBe(false);
  expect(verified({ "webhook-timestamp": "1767225601" })).toBe(false);
  expect(verified({}, new TextEncoder().encode(body.replace(",", ", ")))).toBe(false);
  expect(verified({}, bytes, other.publicKey)).toBe(false);
  const [hmac = "", ed25519 = ""] = headers["webhook-signature"].split(" ");
  expect(verified({ "webhook-signature": hmac })).toBe(false);
  expect(verified({ "webhook-signature": `${ed25519} ${hmac}` })).toBe(true);
  expect(verified({ "webhook-signature": ed25519.replace("v1a,", "v1,") })).toBe(false);
  expect(verified({ "webhook-signature": ed25519.replace(/=+$/, "") })).toBe(false);
  expect(verified({ "webhook-signature": "" })).toBe(false);
});

const receipt = {
  receipt_id: "rcp_1",
  event_id: "evt_1",
  body_sha256: word("77"),
  receiver: "http://127.0.0.1:4020/v1/routing/notification-receiver",
  received_at: "2026-01-01T00:00:00Z",
};

test("a receipt is a compact JWS that jose verifies", async () => {
  const jws = await signDeliveryReceipt(receipt, key);
  expect(jws).toMatchInlineSnapshot(
    `"eyJhbGciOiJFZERTQSIsImtpZCI6ImlNc1J1aUp4VENaQ05INFRoNTRMdVpvSHZLLWtjT2gyUEdOazhkTFFRLUkiLCJ0eXAiOiJyb3V0aW5nLXJlY2VpcHQrandzIn0.eyJib2R5X3NoYTI1NiI6IjB4Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3NyIsImV2ZW50X2lkIjoiZXZ0XzEiLCJyZWNlaXB0X2lkIjoicmNwXzEiLCJyZWNlaXZlZF9hdCI6IjIwMjYtMDEtMDFUMDA6MDA6MDBaIiwicmVjZWl2ZXIiOiJodHRwOi8vMTI3LjAuMC4xOjQwMjAvdjEvcm91dGluZy9ub3RpZmljYXRpb24tcmVjZWl2ZXIifQ.BaP5tYGve_LCILFHk9eA5zE57Ab8CSaiKVgjcAzxrHyb20t0t87Umbr59DoOzFI6Gy4VjRyFoi-Ef672slMSDw"`,
  );
  const { payload, protectedHeader } = await compactVerify(
    jws,
    await importJWK(ed25519Jwk(key.publicKey), "EdDSA"),
  );
  expect(protectedHeader).toEqual({ alg: "EdDSA", kid: key.keyId, typ: "routing-receipt+jws" });
  expect(JSON.parse(new TextDecoder().decode(payload))).toEqual(receipt);
  expect(await verifyDeliveryReceipt(jws, key.publicKey)).toEqual(receipt);
});

test("a receipt of another key, changed, or of another type is refused", async () => {
  const jws = await signDeliveryReceipt(receipt, key);
  await expect(verifyDeliveryReceipt(jws, other.publicKey)).rejects.toThrow("signature verification failed");
  const [header, payload = "", signature] = jws.split(".");
  const forged = base64urlnopad.encode(
    new TextEncoder().encode(Buffer.from(payload, "base64url").toString().replace("evt_1", "evt_2")),
  );
  await expect(verifyDeliveryReceipt([header, forged, signature].join("."), key.publicKey)).rejects.toThrow(
    "signature verification failed",
  );
  const jwk = { ...ed25519Jwk(key.publicKey), d: base64urlnopad.encode(key.privateKey) };
  for (const type of [{}, { typ: "JWT" }]) {
    const foreign = await new CompactSign(new TextEncoder().encode("{}"))
      .setProtectedHeader({ alg: "EdDSA", ...type })
      .sign(await importJWK(jwk, "EdDSA"));
    await expect(verifyDeliveryReceipt(foreign, key.publicKey)).rejects.toThrow("not a delivery receipt");
  }
});

const text = enrollmentMessage({
  program: "prg_demo",
  merchant: "mer_aaaaaaaaaaaaaaaaaaaa",
  wallet: merchant,
  chainId: 31_337,
  registrar,
  authorization: word("aa"),
});

test("the enrollment message is what it was when it was published", () => {
  expect(text).toMatchInlineSnapshot(`
    "Enroll this wallet as a merchant of the routing sandbox.

    Program: prg_demo
    Merchant: mer_aaaaaaaaaaaaaaaaaaaa
    Wallet: 0x70997970C51812dc3A010C7d01b50e0d17dc79C8
    Chain: 31337
    Registrar: 0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512
    Funding authorization: 0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa

    Test money only."
  `);
});

test("ethers and the sandbox recover the wallet of a personal signature", async () => {
  const signature = await merchantAccount.signMessage({ message: text });
  expect(verifyMessage(text, signature)).toBe(merchant);
  expect(await recoverSigner(hashMessage(text), signature)).toBe(merchant);
  expect(await recoverSigner(hashMessage(`${text} `), signature)).not.toBe(merchant);
});

test("a wallet signature has only one accepted form", async () => {
  const digest = hashMessage(text);
  const signature = await merchantAccount.signMessage({ message: text });
  const r = signature.slice(2, 66);
  const s = BigInt(`0x${signature.slice(66, 130)}`);
  const n = secp256k1.Point.Fn.ORDER;
  const hex = (value: bigint) => value.toString(16).padStart(64, "0");
  const v = signature.slice(130);
  const twin = v === "1b" ? "1c" : "1b";
  const compact = hex(s | (v === "1c" ? 1n << 255n : 0n));
  const refused: { [form: string]: Hex } = {
    "high s": `0x${r}${hex(n - s)}${twin}`,
    "compact (EIP-2098)": `0x${r}${compact}`,
    "v of 0 or 1": `0x${r}${hex(s)}${v === "1b" ? "00" : "01"}`,
    "a byte more": `${signature}00`,
    "a byte less": `0x${signature.slice(4)}`,
    "zero r": `0x${hex(0n)}${hex(s)}${v}`,
    "zero s": `0x${r}${hex(0n)}${v}`,
    "r of the order": `0x${hex(n)}${hex(s)}${v}`,
    "s of the order": `0x${r}${hex(n)}${v}`,
    nothing: "0x",
  };
  for (const [form, bytes] of Object.entries(refused))
    expect(await recoverSigner(digest, bytes), form).toBeNull();
  expect(await recoverSigner(digest, `0x${r}${hex(s)}${twin}`)).not.toBe(merchant);
});
