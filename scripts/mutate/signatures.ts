import type { MutantGroup } from "./mutant.ts";

const signed = "test/protocol/signatures/signatures.test.ts";
const values = "test/protocol/values/values.test.ts";

export const signatures: readonly MutantGroup[] = [
  {
    file: "protocol/messages/wallet-signature.ts",
    tests: [signed],
    mutants: [
      {
        rule: "A wallet signature has a low s (EIP-2).",
        find: "s === 0n || s > halfOrder",
        replace: "s === 0n",
      },
      {
        rule: "A wallet signature has v of 27 or 28.",
        find: "if (v !== 27 && v !== 28) return null;",
        replace: "if (v === null || (v > 1 && v !== 27 && v !== 28)) return null;",
      },
    ],
  },
  {
    file: "server/domain/wallets/require-signature.ts",
    tests: [
      "test/server/api/operations/wallets/wallet-permits.test.ts",
      "test/server/api/operations/merchants/enrollments.test.ts",
    ],
    mutants: [
      {
        rule: "A signature with another v than 27 or 28 is refused with its v.",
        find: "v !== null && v !== 27 && v !== 28",
        replace: "v === 255",
      },
    ],
  },
  {
    file: "protocol/signatures/ed25519.ts",
    tests: ["test/protocol/signatures/ed25519.test.ts"],
    mutants: [
      {
        rule: "An Ed25519 key of small order is refused.",
        find: "zip215: false",
        replace: "zip215: true",
      },
    ],
  },
  {
    file: "protocol/signatures/native-ed25519.ts",
    tests: ["test/protocol/signatures/native-ed25519.test.ts"],
    mutants: [
      {
        rule: "Native code gets no Ed25519 key of small order.",
        find: "!smallOrder.has(y) && ",
        replace: "",
      },
      {
        rule: "Native code gets no Ed25519 key with a coordinate above the prime.",
        find: "(?:e[d-f]|f[0-9a-f])",
        replace: "(?:f[0-9a-f])",
      },
      {
        rule: "Native code signs with no key that is longer than 32 bytes.",
        find: "privateKey.length !== 32) return null",
        replace: "privateKey.length < 32) return null",
      },
      {
        rule: "Native code accepts what it can, so that it is the faster one.",
        find: "key !== null && crypto.verify",
        replace: "key === null && crypto.verify",
      },
    ],
  },
  {
    file: "protocol/signatures/exact-encoding.ts",
    tests: [signed],
    mutants: [
      {
        rule: "An approval has one spelling only.",
        find: "} catch {\n    return null;",
        replace: "} catch (error) {\n    throw error;",
      },
    ],
  },
  {
    file: "protocol/signatures/decision.ts",
    tests: [signed],
    mutants: [
      {
        rule: "The signed bytes of a decision begin with its domain line.",
        find: "return concatBytes(prefix, utf8ToBytes(canonicalJson(signed)));",
        replace: "return utf8ToBytes(canonicalJson(signed));",
      },
    ],
  },
  {
    file: "protocol/messages/claim.ts",
    tests: ["test/protocol/messages/typed-data.test.ts"],
    mutants: [
      {
        rule: "A reason that has no UTF-8 form has no hash.",
        find: "if (!reason.isWellFormed())",
        replace: "if (reason.length > 100_000)",
      },
      {
        rule: "A reason is hashed as it is, outer spaces included.",
        find: "keccak256(stringToHex(reason))",
        replace: "keccak256(stringToHex(reason.trim()))",
        tests: ["test/protocol/vectors.test.ts"],
      },
    ],
  },
  {
    file: "protocol/signatures/delivery-receipt.ts",
    tests: [signed],
    mutants: [
      {
        rule: "A JWS of another type is no receipt.",
        find: "if (protectedHeader.typ !== receiptType)",
        replace: "if (protectedHeader.typ === undefined)",
      },
    ],
  },
  {
    file: "protocol/signatures/webhook.ts",
    tests: [signed],
    mutants: [
      {
        rule: "The HMAC signature comes first, where stock libraries look for it.",
        find: "[...symmetric, ...asymmetric]",
        replace: "[...asymmetric, ...symmetric]",
      },
      {
        rule: "A header with very many signatures is not searched to its end.",
        find: "const mostSignatures = 16;",
        replace: "const mostSignatures = 1_600;",
        tests: ["test/server/api/operations/notifications/receive.test.ts"],
      },
      {
        rule: "The signature of a notification covers its time.",
        find: "`${id}.${timestamp}.`",
        replace: "`${id}.`",
      },
      {
        rule: "A notification is signed with the keys before a rotation, too.",
        find: "const asymmetric = keys.map(",
        replace: "const asymmetric = keys.slice(0, 1).map(",
        tests: ["test/server/keys/key-rotation.test.ts"],
      },
    ],
  },
  {
    file: "protocol/values/amount.ts",
    tests: [values],
    mutants: [
      {
        rule: "The largest amount is one that the contracts can store.",
        find: "2n ** 128n - 1n",
        replace: "2n ** 128n",
      },
      {
        rule: "The largest amount itself is an amount.",
        find: "BigInt(text) <= maxAmount",
        replace: "BigInt(text) < maxAmount",
      },
      {
        rule: "An amount has no leading zero.",
        find: "(0|[1-9][0-9]{0,${amountDigits - 1}})",
        replace: "([0-9]{1,${amountDigits}})",
      },
    ],
  },
  {
    file: "protocol/values/time.ts",
    tests: [values],
    mutants: [
      {
        rule: "A time before the year 0 has no timestamp.",
        find: " || seconds < earliest",
        replace: "",
      },
      {
        rule: "The first second that RFC 3339 knows has a timestamp.",
        find: "seconds < earliest",
        replace: "seconds <= earliest",
      },
      {
        rule: "A day that the calendar does not have is no time.",
        find: " || new Date(milliseconds).toISOString() !== whole",
        replace: "",
      },
      {
        rule: "A fraction of a second stays one.",
        find: 'milliseconds / 1000 + Number(`0${parts[2] ?? ""}`)',
        replace: "milliseconds / 1000",
      },
      {
        rule: "A text with something behind its time is no time.",
        find: "?Z$/",
        replace: "?Z/",
      },
      {
        rule: "A text with something before its time is no time.",
        find: "/^(\\d{4}",
        replace: "/(\\d{4}",
      },
    ],
  },
  {
    file: "protocol/values/id.ts",
    tests: [values],
    mutants: [
      {
        rule: "Equal parts give other identifiers under another prefix.",
        find: "JSON.stringify([prefix, ...parts])",
        replace: "JSON.stringify(parts)",
      },
    ],
  },
  {
    file: "protocol/signatures/key-derivation.ts",
    tests: ["test/protocol/vectors.test.ts"],
    mutants: [
      {
        rule: "A key is derived from its seed as it is, outer spaces included.",
        find: "utf8ToBytes(seed),",
        replace: "utf8ToBytes(seed.trim()),",
      },
    ],
  },
];
