import type { MutantGroup } from "./mutant.ts";

const attacks = "test/binding/attacks.test.ts";
const page = "test/pages/wallet.test.ts";
const travel = "test/testbed/travel.test.ts";
const keys = "test/api/idempotency.test.ts";

export const wallet: readonly MutantGroup[] = [
  {
    file: "server/operations/submit-wallet-action.ts",
    tests: [attacks],
    mutants: [
      {
        rule: "A transaction that is submitted again causes no event.",
        find: "before?.value.transaction_hash === transaction_hash && before.value.signature === signature",
        replace:
          "before?.value.transaction_hash === transaction_hash && before.value.signature !== signature",
        tests: [keys],
      },
      {
        rule: "A transaction that is submitted after a signature keeps the signature.",
        find: "body.signature ?? before?.value.signature ?? null",
        replace: "body.signature ?? null",
      },
      {
        rule: "A signature that is submitted after a transaction keeps the transaction.",
        find: "body.transaction_hash ?? before?.value.transaction_hash ?? null",
        replace: "body.transaction_hash ?? null",
      },
      {
        rule: "A claim with the right hash and a wrong signature is refused over the wallet route.",
        find: "await requireSignature({ wallet: beneficiary, digest: claimHash, signature: body.signature }, services);",
        replace: ";",
      },
      {
        rule: "An enrollment with a wrong signature is refused over the wallet route.",
        find: "await requireSignature({ wallet: merchant.wallet, digest, signature: body.signature }, services);",
        replace: "",
      },
      {
        rule: "A payment that is submitted over the wallet route is checked as the operation would.",
        find: 'await assertBound(observed, expected, { key: hash, step: "payment", subject: hash }, services);',
        replace: "",
      },
      {
        rule: "The event of a submission names its action.",
        find: "data: { subject: { type, id }, action: body.action, transaction_hash }",
        replace: "data: { subject: { type, id }, action: type, transaction_hash }",
        tests: ["test/notifications/events.test.ts"],
      },
      {
        rule: "A submission needs a transaction or a signature.",
        find: "if (body.transaction_hash === undefined && body.signature === undefined)",
        replace: "if (body.action.length === 0)",
        tests: ["test/api/bodies.test.ts", "test/api/errors.test.ts", keys],
      },
    ],
  },
  {
    file: "server/domain/submitted.ts",
    tests: [page],
    mutants: [
      {
        rule: "A step takes the transaction that the wallet submitted.",
        find: "fromBody ?? found?.transaction_hash ??",
        replace: "fromBody ??",
      },
      {
        rule: "A transaction in the body comes before the one that the wallet submitted.",
        find: "fromBody ?? found?.transaction_hash",
        replace: "found?.transaction_hash ?? fromBody",
        tests: ["test/api/errors.test.ts", attacks],
      },
      {
        rule: "What is missing is named, with how to send it.",
        find: "pointer: `/${field}`",
        replace: "pointer: `/${action}`",
        tests: ["test/api/bodies.test.ts", "test/api/errors.test.ts"],
      },
    ],
  },
  {
    file: "server/domain/wallet-actions.ts",
    tests: [travel],
    mutants: [
      {
        rule: "A registration is offered in the last second of its deadline.",
        find: "return now > purchase.offer_deadline ?",
        replace: "return now >= purchase.offer_deadline ?",
      },
      {
        rule: "A registration is not offered after its deadline.",
        find: "return now > purchase.offer_deadline ?",
        replace: "return now > purchase.pay_deadline ?",
      },
      {
        rule: "A payment is offered in the last second of its deadline.",
        find: "return now > purchase.pay_deadline ?",
        replace: "return now >= purchase.pay_deadline ?",
      },
      {
        rule: "A payment is not offered after its deadline.",
        find: "return now > purchase.pay_deadline ?",
        replace: "return now > purchase.claim_deadline ?",
      },
      {
        rule: "A claim is offered in the last second of its deadline.",
        find: "return now > purchase.claim_deadline ?",
        replace: "return now >= purchase.claim_deadline ?",
      },
      {
        rule: "A claim is not offered before something is paid.",
        find: 'if (onChain.paid === 0n) return "Nothing has been paid.";',
        replace: "",
      },
      {
        rule: "A claim is not offered a second time.",
        find: "if (purchase.claim_id !== null)",
        replace: 'if (purchase.claim_id === "")',
      },
      {
        rule: "A payment is not offered before the purchase is on chain.",
        find: "if (!onChain.exists)",
        replace: "if (onChain.asOf.number < 0)",
        tests: [page, travel],
      },
      {
        rule: "A payment is not offered when all is paid.",
        find: "if (outstanding === 0n)",
        replace: "if (outstanding < 0n)",
        tests: [page],
      },
      {
        rule: "A payment of more than is outstanding is not offered.",
        find: 'if (approved === 0n) return "Nothing is approved to the registrar contract yet.";\n  if (amount > outstanding)',
        replace:
          'if (approved === 0n) return "Nothing is approved to the registrar contract yet.";\n  if (amount < 0n)',
        tests: [page],
      },
      {
        rule: "A payment of more than is approved is not offered.",
        find: "return amount > approved ?",
        replace: "return amount < 0n ?",
        tests: [page],
      },
      {
        rule: "An approval of what is approved already is not offered.",
        find: "if (approved < amount) return null;",
        replace: "if (approved <= amount) return null;",
        tests: [page],
      },
      {
        rule: "A funding is offered until the funding source may draw the rest of the cap.",
        find: "cap - funding.collected - funding.allowance",
        replace: "cap - funding.collected",
        tests: [page],
      },
      {
        rule: "What was collected needs no allowance any more.",
        find: "cap - funding.collected - funding.allowance",
        replace: "cap - funding.allowance",
        tests: [page, attacks],
      },
      {
        rule: "A payment without an amount is of what is outstanding and approved.",
        find: "outstanding < onChain.approved ? outstanding : onChain.approved",
        replace: "outstanding",
        tests: [page],
      },
      {
        rule: "A claim without an amount is of all that was paid.",
        find: "requestedAmount: wish.amount ?? onChain.paid",
        replace: "requestedAmount: wish.amount ?? outstanding",
        tests: [page],
      },
    ],
  },
];
