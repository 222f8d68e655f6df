import type { MutantGroup } from "./mutant.ts";

const offers = "test/server/api/operations/wallets/wallet-actions.test.ts";
const submissions = "test/server/api/operations/wallets/wallet-submissions.test.ts";
const withdrawn = "test/server/api/operations/purchases/withdrawn-offers.test.ts";
const moved = "test/server/api/operations/refunds/moved-claims.test.ts";
const permits = "test/server/api/operations/wallets/wallet-permits.test.ts";

export const wallet: readonly MutantGroup[] = [
  {
    file: "server/api/operations/wallets/submit-wallet-action.ts",
    tests: [submissions],
    mutants: [
      {
        rule: "A permit that is accepted has its transaction in the answer.",
        find: '"pay_with_permit" || amount === undefined || signature === null) return null;',
        replace: '"pay_with_permit" || signature !== null) return null;',
        tests: [permits],
      },
      {
        rule: "A transaction that is submitted again causes no event.",
        find: "if (recorded !== undefined) return await repeat(recorded, services);",
        replace: "",
      },
      {
        rule: "A transaction that is submitted after a signature keeps the signature.",
        find: "signature: holds ? kept : (signature ?? kept)",
        replace: "signature: holds ? kept : (signature ?? null)",
      },
      {
        rule: "A signature that is submitted after a transaction keeps the transaction.",
        find: "transaction_hash ?? before?.transaction_hash ?? null",
        replace: "transaction_hash ?? null",
      },
      {
        rule: "A second signature of the same bytes counts only once the first holds no more.",
        find: "signature: holds ? kept : (signature ?? kept)",
        replace: "signature: signature ?? kept",
      },
      {
        rule: "The event of a submission names its action.",
        find: "data: { subject: { type, id }, action, transaction_hash }",
        replace: "data: { subject: { type, id }, action: type, transaction_hash }",
      },
      {
        rule: "A submission needs a transaction or a signature.",
        find: "given === undefined ?",
        replace: 'given === "0x" ?',
        tests: [submissions, "test/server/http/request/bodies.test.ts"],
      },
      {
        rule: "A repeated submission says that it is one.",
        find: '"Idempotent-Replayed": "true"',
        replace: '"Idempotent-Replayed": "false"',
      },
      {
        rule: "A submission keeps what it said earlier.",
        find: "[...(before.value.earlier ?? []), stateOf(before.value)]",
        replace: "[...(before.value.earlier ?? [])]",
      },
      {
        rule: "A submission keeps every state that it had.",
        find: "[...(before.value.earlier ?? []), stateOf(before.value)]",
        replace: "[stateOf(before.value)]",
        tests: ["test/server/api/operations/wallets/wallet-submissions.test.ts"],
        only: "what a stranger submits again",
      },
    ],
  },
  {
    file: "server/domain/wallets/check-submission.ts",
    tests: [submissions],
    mutants: [
      {
        rule: "An approval of what takes no payment is refused when it is submitted.",
        find: "if (whyNot !== null) throw await stepConflict(purchase, whyNot, services);",
        replace: "",
        tests: [withdrawn],
      },
      {
        rule: "A filed claim that was sent again after a reorg is taken over the wallet route.",
        find: "if (again !== null) return again;",
        replace: "",
        tests: [moved],
      },
      {
        rule: "Only the filed claim is taken again.",
        find: "if (claimHash !== filed.claim_hash) return null;",
        replace: "",
        tests: [moved],
      },
      {
        rule: "A permit is accepted when the buyer has signed it.",
        find: "await requireSignature({ wallet: buyer, digest: permit.digest, signature }, services);",
        replace: "",
        tests: [permits],
      },
      {
        rule: "A permit is accepted when the payment under it would succeed.",
        find: "if (revert !== null) {",
        replace: "if (revert?.name === null) {",
        tests: [permits],
      },
      {
        rule: "A permit that comes after the pay deadline is refused for that.",
        find: 'if (revert.name === "DeadlinePassed")',
        replace: 'if (revert.name === "UnknownPurchase")',
        tests: [permits],
      },
      {
        rule: "A permit of a purchase that takes no payment is refused for that.",
        find: 'await assertStep(purchase, "reconcile", services);\n  const { chain, deployment } = services;',
        replace: "const { chain, deployment } = services;",
        tests: [permits],
      },
      {
        rule: "A permit of a contract is refused, whatever the contract says.",
        find: "await assertNoCode(buyer, onChain, services);",
        replace: "",
        tests: [permits],
      },
      {
        rule: "A permit that another account has submitted to the token is accepted.",
        find: "return nonce < next - 1n ||",
        replace: "return nonce < next ||",
        tests: [permits],
      },
      {
        rule: "A permit that has paid already is reported as that.",
        find: "(nonce < next && revert !== null && saysInvalidPermit(revert))",
        replace: "(nonce > next && revert !== null && saysInvalidPermit(revert))",
        tests: [permits],
      },
      {
        rule: "A permit whose nonce was used by another one does not count, also while an approval would pay.",
        find: "return nonce < next - 1n ||",
        replace: "return nonce < next - 99n ||",
        tests: [permits],
      },
      {
        rule: "A permit after the pay deadline is reported as late, also when its nonce was used.",
        find: 'revert?.name !== "DeadlinePassed" && isOutdated',
        replace: "isOutdated",
        tests: [permits],
      },
      {
        rule: "The refusal of a permit for another reason names that reason, also when its nonce was used.",
        find: "revert !== null && saysInvalidPermit(revert)",
        replace: "revert !== null",
        tests: [permits],
      },
      {
        rule: "A permit without an amount is of what is outstanding.",
        find: "const amount = BigInt(body.amount ?? BigInt(purchase.amount) - onChain.paid);\n  const permit",
        replace: "const amount = BigInt(body.amount ?? 0n);\n  const permit",
        tests: [permits],
      },
      {
        rule: "A claim with the right hash and a wrong signature is refused over the wallet route.",
        find: "if (signature !== undefined) await requireSignature({ wallet, digest: claimHash, signature }, services);",
        replace: "",
      },
      {
        rule: "An enrollment with a wrong signature is refused over the wallet route.",
        find: "if (signature !== undefined) await requireSignature({ wallet, digest, signature }, services);",
        replace: "",
      },
      {
        rule: "A payment that is submitted over the wallet route is checked as the operation would.",
        find: "await assertBound(observed, expected, use, services);",
        replace: "",
      },
      {
        rule: "A claim of more than is reconciled is refused over the wallet route.",
        find: 'assertReconciled(purchase, amount, "/amount");',
        replace: "",
      },
      {
        rule: "An enrollment of a merchant that is enrolled is refused over the wallet route.",
        find: "assertPending(merchant, funding);",
        replace: "",
      },
      {
        rule: "A registration of a purchase that the relayer has offered is refused over the wallet route.",
        find: 'await assertRoute(purchase, "merchant_direct", services);',
        replace: "",
      },
      {
        rule: "A signature over another claim than the chain holds is refused over the wallet route.",
        find: "if (onChain.claimHash === claimHash) return;",
        replace: "if (onChain.claimHash !== null) return;",
      },
      {
        rule: "A batch is submitted only when each of its purchases may be reconciled.",
        find: "await assertPaidTogether(await currentPurchase(other.value, services), services);",
        replace: "void other;",
        tests: ["test/server/api/operations/batches.test.ts"],
      },
      {
        rule: "A registration over the wallet route is the same use of its transaction as POST …/registration.",
        find: '"registration", expected, { services, id }',
        replace: '"registration of a wallet", expected, { services, id }',
        tests: ["test/server/api/operations/purchases/reorgs.test.ts"],
        only: "a registration that a reorg removes",
      },
    ],
  },
  {
    file: "server/domain/wallets/submissions.ts",
    tests: [submissions],
    mutants: [
      {
        rule: "A signature is the same in any case of its digits.",
        find: "left?.toLowerCase() === right?.toLowerCase()",
        replace: "left === right",
      },
      {
        rule: "A submission of another amount is another one.",
        find: "(given.amount ?? submission.amount) === submission.amount &&",
        replace: "",
      },
      {
        rule: "A submission of another reason is another one.",
        find: "(given.reason ?? submission.reason) === submission.reason",
        replace: "submission.action.length > 0",
      },
      {
        rule: "A missing field is named, with how to send it.",
        find: "pointer: `/${field}`",
        replace: "pointer: `/${action}`",
        tests: [submissions, "test/server/api/errors/errors.test.ts"],
      },
    ],
  },
  {
    file: "server/domain/refunds/claims.ts",
    tests: [submissions],
    mutants: [
      {
        rule: "All that was reconciled may be claimed.",
        find: "BigInt(amount) > reconciled",
        replace: "BigInt(amount) >= reconciled",
      },
      {
        rule: "A claim is for what was reconciled at most, not for the whole amount.",
        find: "BigInt(amount) > reconciled",
        replace: "BigInt(amount) > BigInt(purchase.amount)",
      },
      {
        rule: "Of several submitted claims the one that the chain holds counts.",
        find: "return onChain ?? claims.at(-1) ?? null;",
        replace: "return claims.at(-1) ?? null;",
      },
      {
        rule: "Of several submitted claims the newest counts while the chain holds none.",
        find: "return onChain ?? claims.at(-1) ?? null;",
        replace: "return onChain ?? claims.at(0) ?? null;",
      },
    ],
  },
  {
    file: "server/domain/payments/permits.ts",
    tests: [permits],
    mutants: [
      {
        rule: "A permit whose nonce was used is distinguished from one of another account.",
        find: "nonce >= next - triedNonces",
        replace: "nonce >= next - 1n",
        tests: [permits],
      },
      {
        rule: "A permit is for the registrar contract.",
        find: "spender: registrar.address",
        replace: "spender: buyer",
      },
      {
        rule: "A permit is for exactly the payment.",
        find: "value: amount,",
        replace: "value: amount + 1n,",
      },
      {
        rule: "A permit ends with the pay deadline.",
        find: "nonce, deadline: BigInt(pay_deadline)",
        replace: "nonce, deadline: BigInt(pay_deadline) + 1n",
      },
    ],
  },
  {
    file: "server/domain/wallets/wallet-actions.ts",
    tests: [offers],
    mutants: [
      {
        rule: "A permit is offered where the payment under it would succeed.",
        find: "permitted === undefined ? [call] : [permitted, call]",
        replace: "permitted === undefined ? [call] : [permitted]",
        tests: [permits, offers],
      },
      {
        rule: "A permit needs no approval before.",
        find: "permitted === undefined ? [call] : [permitted, call]",
        replace: "[call]",
        tests: [permits],
      },
      {
        rule: "A permit is asked for with the next nonce.",
        find: "const nonce = await chain.permitNonce(from, onChain.asOf.hash);",
        replace: "const nonce = 0n;",
        tests: [permits],
      },
      {
        rule: "A permit that was submitted and pays is not asked for again.",
        find: "if (submitted !== null) {",
        replace: "if (submitted?.amount === 0n) {",
        tests: [permits],
      },
      {
        rule: "A permit that pays no more is asked for again.",
        find: "if ((await chain.simulate(tried, wish.head.at, wish.head.time)) === null)\n      return",
        replace: "return",
        tests: [permits],
      },
      {
        rule: "A permit of another amount than the asked one is not offered to be sent.",
        find: "asked === null || value.amount === asked.toString()",
        replace: "asked === null || value.amount !== undefined",
        tests: [permits],
      },
      {
        rule: "A filed claim that a reorg has removed is offered again.",
        find: "(await planClaimAgain(purchase, onChain, wish, services)) ??",
        replace: "",
        tests: [moved],
      },
      {
        rule: "A filed claim is offered again with its own terms only.",
        find: "whyNot: other ?? removed,",
        replace: "whyNot: removed,",
        tests: [moved],
      },
      {
        rule: "An approval is offered in the last second of the pay deadline.",
        find: "wish.time > purchase.pay_deadline",
        replace: "wish.time >= purchase.pay_deadline",
      },
      {
        rule: "An approval is not offered after the pay deadline.",
        find: "wish.time > purchase.pay_deadline",
        replace: "wish.time > purchase.claim_deadline",
      },
      {
        rule: "An action that would revert on chain is not offered.",
        find: "revert && `The transaction would revert: ${sayCause(await explainRevert(revert, about, services))}`,",
        replace: "null,",
      },
      {
        rule: "An action that its operation would refuse is not offered.",
        find: "const refusal = whyNot ?? ",
        replace: "const refusal = ",
      },
      {
        rule: "A wallet with code is offered nothing.",
        find: '(code === "none" ? null : walletCodeReasons[code])',
        replace: "null",
      },
      {
        rule: "An approval of more than is outstanding is not offered.",
        find: "if (amount > outstanding) return",
        replace: "if (amount < 0n) return",
      },
      {
        rule: "An approval is not offered when all is paid.",
        find: "if (outstanding === 0n)",
        replace: "if (outstanding < 0n)",
      },
      {
        rule: "An approval of what is approved already is not offered.",
        find: "if (approved < amount) return null;",
        replace: "if (approved <= amount) return null;",
      },
      {
        rule: "A funding is offered until the funding source may draw the rest of the cap.",
        find: "cap - funding.collected - funding.allowance",
        replace: "cap - funding.collected",
      },
      {
        rule: "A collected amount needs no allowance any more.",
        find: "cap - funding.collected - funding.allowance",
        replace: "cap - funding.allowance",
      },
      {
        rule: "A payment without an amount is of what is outstanding and approved.",
        find: "approved > 0n && approved < outstanding ? approved : outstanding",
        replace: "outstanding",
      },
      {
        rule: "A claim without an amount is of all that is reconciled.",
        find: "const amount = wish.amount ?? reconciled;",
        replace: "const amount = wish.amount ?? BigInt(purchase.amount);",
      },
      {
        rule: "A claim of more than is reconciled is not offered.",
        find: "whyPaymentsRemoved(purchase, onChain) ?? tooMuch",
        replace: "whyPaymentsRemoved(purchase, onChain)",
      },
      {
        rule: "A claim on payments that a reorg has removed is not offered.",
        find: "?? whyPaymentsRemoved(purchase, onChain) ?? tooMuch",
        replace: "?? tooMuch",
      },
    ],
  },
  {
    file: "server/domain/payments/payment-receipts.ts",
    tests: [withdrawn],
    mutants: [
      {
        rule: "An approval is not offered after the refund.",
        find: "if (refunded > 0n) return",
        replace: "if (refunded < 0n) return",
      },
      {
        rule: "An approval is not offered after the offer was withdrawn.",
        find: 'if (closed === "withdrawn") return',
        replace: 'if (closed === "withdrawn" && !exists) return',
      },
      {
        rule: "An approval is not offered after the purchase has expired on chain.",
        find: "return closed === null ? null :",
        replace: "return closed !== null ? null :",
        tests: [offers, withdrawn],
      },
    ],
  },
  {
    file: "server/chain/read-chain-purchase.ts",
    tests: [withdrawn],
    mutants: [
      {
        rule: "An offer that was withdrawn is distinguished from a purchase that has expired on chain.",
        find: '[null, null, "withdrawn", "expired"]',
        replace: '[null, null, "expired", "withdrawn"]',
      },
    ],
  },
];
