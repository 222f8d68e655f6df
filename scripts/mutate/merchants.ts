import type { MutantGroup } from "./mutant.ts";

const attacks = "test/check-contract/attacks/attacks.test.ts";
const enrollments = "test/server/api/operations/merchants/enrollments.test.ts";
const terms = "test/server/api/operations/purchases/purchase-terms.test.ts";

export const merchants: readonly MutantGroup[] = [
  {
    file: "server/api/operations/purchases/create-purchase.ts",
    tests: [terms],
    mutants: [
      {
        rule: "The offer deadline is after now.",
        find: "if (offer <= now)",
        replace: "if (offer < now)",
      },
      {
        rule: "The pay deadline is not before the offer deadline.",
        find: "if (pay < offer)",
        replace: "if (pay < offer - 60)",
      },
      {
        rule: "The pay deadline may be the offer deadline.",
        find: "if (pay < offer)",
        replace: "if (pay <= offer)",
      },
      {
        rule: "The claim deadline is not before the pay deadline.",
        find: "if (claim < pay)",
        replace: "if (claim < offer)",
      },
      {
        rule: "The claim deadline may be the pay deadline.",
        find: "if (claim < pay)",
        replace: "if (claim <= pay)",
      },
      {
        rule: "The claim deadline may be the last second of the merchant's funding.",
        find: "if (claim > end)",
        replace: "if (claim >= end)",
      },
      {
        rule: "An amount may be as large as the merchant's funding cap.",
        find: "if (terms.amount > cap)",
        replace: "if (terms.amount >= cap)",
      },
      {
        rule: "A purchase under a funding that has ended is refused for that.",
        find: "if (end <= now)",
        replace: "if (end < now)",
        tests: [enrollments],
      },
      {
        rule: "An amount is not above what refunds have left of the merchant's funding cap.",
        find: "const remaining = cap - collected;",
        replace: "const remaining = cap - collected * 0n;",
        tests: [enrollments],
      },
      {
        rule: "An amount may be all that refunds have left of the merchant's funding cap.",
        find: "terms.amount > remaining",
        replace: "terms.amount >= remaining",
        tests: [enrollments],
      },
      {
        rule: "The beneficiary is not the merchant.",
        find: '{ pointer: "/beneficiary", address: given.beneficiary }',
        replace: '{ pointer: "/beneficiary", address: given.buyer }',
      },
      {
        rule: "A purchase without deadlines is to be offered within a day.",
        find: "body.offer_deadline ?? now + defaultPeriods.offer_deadline",
        replace: "body.offer_deadline ?? now + 2 * defaultPeriods.offer_deadline",
      },
      {
        rule: "A purchase without a pay deadline is to be paid within seven days.",
        find: "Math.max(now + defaultPeriods.pay_deadline",
        replace: "Math.max(now - 86_400 + defaultPeriods.pay_deadline",
      },
      {
        rule: "Without a pay deadline, a late offer deadline moves it.",
        find: "Math.max(now + defaultPeriods.pay_deadline, body.offer_deadline ?? 0)",
        replace: "now + defaultPeriods.pay_deadline",
      },
      {
        rule: "A purchase without a claim deadline is to be claimed within 30 days.",
        find: "Math.max(now + defaultPeriods.claim_deadline",
        replace: "Math.max(now + 86_400 + defaultPeriods.claim_deadline",
      },
      {
        rule: "Without a claim deadline, a late pay deadline moves it.",
        find: "Math.max(now + defaultPeriods.claim_deadline, body.pay_deadline ?? 0, body.offer_deadline ?? 0)",
        replace: "now + defaultPeriods.claim_deadline",
      },
      {
        rule: "The buyer is the beneficiary when none is named.",
        find: "asked.beneficiary ?? asked.buyer",
        replace: "asked.beneficiary ?? deployment.registrar.address",
      },
      {
        rule: "The event of a new purchase names its merchant.",
        find: "data: { purchase_id: id, merchant_id: merchant.id,",
        replace: "data: { purchase_id: id, merchant_id: id,",
        tests: ["test/server/outbox/events.test.ts"],
      },
    ],
  },
  {
    file: "server/api/operations/merchants/create-merchant.ts",
    tests: [terms],
    mutants: [
      {
        rule: "A funding ends after now.",
        find: "validUntil > now",
        replace: "validUntil >= now",
      },
      {
        rule: "A funding without an end is valid for 365 days.",
        find: "now + defaultPeriods.funding_valid_until",
        replace: "now + 86_400 + defaultPeriods.funding_valid_until",
      },
    ],
  },
  {
    file: "server/api/operations/merchants/confirm-enrollment.ts",
    tests: [attacks],
    mutants: [
      {
        rule: "An enrollment needs the personal signature of the merchant's wallet.",
        find: "await requireSignature({ wallet: merchant.wallet, digest, signature }, services);",
        replace: "",
        only: "a signature of another merchant",
      },
      {
        rule: "A merchant is enrolled once.",
        find: "    assertPending(merchant, funding);\n",
        replace: "",
        tests: ["test/server/api/operations/purchases/states.test.ts"],
      },
      {
        rule: "The transaction of an enrollment is used by it.",
        find: "markTransactionUsed(use)",
        replace: "markTransactionUsed({ ...use, key: `0x00${use.key.slice(4)}` })",
        tests: ["test/server/domain/binding/used-transactions.test.ts"],
      },
    ],
  },
  {
    file: "server/domain/merchants/merchant-steps.ts",
    tests: [enrollments],
    mutants: [
      {
        rule: "A purchase needs a merchant that is enrolled.",
        find: '  if (status === "pending") throw',
        replace: 'if (status === "pending" && id === "") throw',
        tests: ["test/server/api/errors/errors.test.ts", enrollments],
        only: "merchant_not_enrolled|is not confirmed is refused",
      },
      {
        rule: "A purchase of a merchant whose enrollment is not confirmed is refused with what is left to do.",
        find: 'if (status === "pending" && funding.authorization !== null)',
        replace: 'if (status === "pending" && funding.authorization === "0x")',
      },
      {
        rule: "A purchase needs a merchant that has not revoked its enrollment.",
        find: "  if (revokedAt !== null) {\n",
        replace: "  if (revokedAt === 0) {\n",
      },
      {
        rule: "A purchase needs a merchant whose enrollment the chain still has.",
        find: 'if (currentStatus(merchant, funding) === "pending")',
        replace: 'if (status === "pending")',
      },
      {
        rule: "A purchase of a merchant that has revoked its enrollment is not to be asked for again.",
        find: "throw refuse(`${revoked} ${await nameInstead(merchant, services)}`, false);",
        replace: "throw refuse(`${revoked} ${await nameInstead(merchant, services)}`, true);",
      },
      {
        rule: "An enrollment that was revoked is not confirmed.",
        find: "if (funding.revokedAt !== null)",
        replace: "if (funding.revokedAt === 0)",
      },
      {
        rule: "An enrollment that a reorg has removed can be made again.",
        find: 'return authorization === null ? "pending" : status;',
        replace: 'return authorization === "0x" ? "pending" : status;',
      },
      {
        rule: "Of a wallet that is enrolled as another merchant, that one is named.",
        find: "return other === null",
        replace: "return other !== merchantRef",
      },
      {
        rule: "A registration that reverted for want of an enrollment is sent again once there is one.",
        find: "if (merchantRef !== null)\n    return {",
        replace: "if (merchantRef === null && wallet.length === 0)\n    return {",
        tests: ["test/server/api/operations/wallets/reverted-wallets.test.ts"],
      },
      {
        rule: "The offer of a purchase whose merchant has revoked its enrollment may be asked for again.",
        find: 'new Problem("merchant_not_enrolled", detail, { members, retryable: true })',
        replace: 'new Problem("merchant_not_enrolled", detail, { members, retryable: false })',
      },
    ],
  },
  {
    file: "server/domain/purchases/offer-bounds.ts",
    tests: [enrollments],
    mutants: [
      {
        rule: "An offer whose merchant has revoked its enrollment is refused for that, whatever the bounds are.",
        find: "  await assertCovered(purchase, services);\n",
        replace: "",
      },
    ],
  },
  {
    file: "server/api/operations/purchases/confirm-registration.ts",
    tests: [enrollments],
    mutants: [
      {
        rule: "A registration that cannot be sent is refused for the enrollment that is missing, not for its hash.",
        find: "if (!onChain.exists) await assertCovered(purchase, services);",
        replace: "",
      },
      {
        rule: "A registration that is on chain is asked for its hash, also after a revocation.",
        find: "if (!onChain.exists) await assertCovered",
        replace: "await assertCovered",
      },
    ],
  },
];
