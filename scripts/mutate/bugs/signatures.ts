import type { Bug } from "../bug.ts";

export const signatures: readonly Bug[] = [
  {
    rule: "A wallet signature has a low s (EIP-2).",
    of: "recoverSigner",
    bug: (original) => (digest, signature) => {
      const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
      const s = BigInt(`0x${signature.slice(66, 130)}`);
      if (s <= order / 2n) return original(digest, signature);
      const low = (order - s).toString(16).padStart(64, "0");
      return original(digest, `${signature.slice(0, 66)}${low}${signature.endsWith("1b") ? "1c" : "1b"}`);
    },
    tests: "/signatures.",
    only: /a wallet signature has only one accepted form/,
  },
  {
    rule: "A wallet signature has v of 27 or 28.",
    of: "recoverSigner",
    bug: (original) => (digest, signature) =>
      original(digest, signature.replace(/00$/, "1b").replace(/01$/, "1c")),
    tests: "/signatures.",
    only: /a wallet signature has only one accepted form/,
  },
  {
    rule: "A signature is checked before its claim is recorded.",
    of: "requireSignature",
    bug: () => async () => {},
    tests: "/attacks.",
    only: /a claim signed by another account/,
  },
  {
    rule: "A contract that is asked for its signature has to answer the magic value (ERC-1271).",
    of: "verifyWalletSignature",
    bug:
      (original) =>
      async (...given) => {
        const verdict = await original(...given);
        return verdict === "refused_by_contract" ? "valid" : verdict;
      },
    tests: "/contract-signatures.",
    only: /refuses every signature/,
  },
  {
    rule: "The fields of a purchase are signed in the order that the contract has.",
    of: "purchaseTypes",
    bug: (original) => ({ Purchase: original.Purchase.toReversed() }),
    tests: "/typed-data.",
    only: /published|ethers/,
  },
  {
    rule: "A claim is signed with its reason.",
    of: "claimTypes",
    bug: (original) => ({
      Claim: original.Claim.filter(({ name }: { name: string }) => name !== "reasonHash"),
    }),
    tests: "/typed-data.",
    only: /published|ethers/,
  },
  {
    rule: "A signature for one chain counts on no other.",
    of: "registrarDomain",
    bug: (original) => (_chainId, registrar) => original(1, registrar),
    tests: "/typed-data.",
    only: /another chain/,
  },
  {
    rule: "The enrollment message names the funding authorization.",
    of: "enrollmentMessage",
    bug: (original) => (enrollment) => original(enrollment).replace(/\nFunding authorization: .*/, ""),
    tests: "/signatures.",
    only: /the enrollment message/,
  },
  {
    rule: "The signed bytes of a decision begin with its domain line.",
    of: "decisionBytes",
    bug: (original) => (decision) => {
      const bytes = original(decision);
      return bytes.slice(bytes.indexOf(0x0a) + 1);
    },
    tests: "/signatures.",
    only: /the bytes of a decision/,
  },
  {
    rule: "A decision is approved by the reviewer's key alone.",
    of: "verifyDecision",
    bug: () => () => true,
    tests: "/attacks.",
    only: /a decision signed with a rotated reviewer key under the new key's id/,
  },
  {
    rule: "An approval has one accepted encoding.",
    of: "decodeExact",
    bug: () => (encoding, text) => {
      try {
        return encoding.decode(text.trim());
      } catch {
        return null;
      }
    },
    tests: "/signatures.",
    only: /an approval has only one accepted encoding/,
  },
  {
    rule: "An Ed25519 signature has 64 bytes.",
    of: "verifyEd25519",
    bug: (original) => (key, message, signature) => original(key, message, signature.slice(0, 64)),
    tests: "/ed25519.",
  },
  {
    rule: "An Ed25519 key of small order is refused.",
    of: "verifyNatively",
    bug: (original) => (key, message, signature) =>
      original(key, message, signature) ||
      key.every((byte: number, place: number) => byte === (place === 0 ? 1 : 0)),
    tests: "/ed25519.",
    only: /small order/,
  },
  {
    rule: "The signature of a notification covers its time.",
    of: "signWebhook",
    bug:
      (original) =>
      (message, ...keys) => ({
        ...original({ ...message, timestamp: 0 }, ...keys),
        "webhook-timestamp": String(message.timestamp),
      }),
    tests: "/signatures.",
    only: /a notification's headers/,
  },
  {
    rule: "A notification with another signature is refused.",
    of: "verifyWebhook",
    bug: () => () => true,
    tests: "/receive.",
    only: /another sandbox's signature/,
  },
  {
    rule: "A delivery receipt is verified before it is read.",
    of: "verifyDeliveryReceipt",
    bug: () => async (jws) => JSON.parse(atob(jws.split(".")[1].replaceAll("-", "+").replaceAll("_", "/"))),
    tests: "/signatures.",
    only: /a receipt of another key/,
  },
];
