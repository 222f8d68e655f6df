import type { MutantGroup } from "./mutant.ts";

const errors = "test/server/api/errors/errors.test.ts";
const decisions = "test/server/api/operations/refunds/decisions.test.ts";
const collected = "test/server/api/operations/refunds/refunds.test.ts";
const reverted = "test/server/api/operations/wallets/reverted-wallets.test.ts";
const withdrawn = "test/server/api/operations/refunds/withdrawn-refunds.test.ts";
const moved = "test/server/api/operations/refunds/moved-claims.test.ts";
const attacks = "test/check-contract/attacks/attacks.test.ts";

export const refunds: readonly MutantGroup[] = [
  {
    file: "server/api/operations/refunds/file-claim.ts",
    tests: [errors],
    mutants: [
      {
        rule: "A claim needs the beneficiary's signature.",
        find: "await requireSignature({ wallet, digest: claim_hash, signature }, services);",
        replace: "",
        only: "signature_invalid|signer_mismatch",
      },
      {
        rule: "A claim's transaction carries exactly this claim.",
        find: "await requireBound(hash, expectClaim(purchase, claim_hash, onChain.exists, services), use, services);",
        replace: "",
        tests: [attacks],
        only: "a claim transaction with another claim's hash",
      },
      {
        rule: "A claim is filed only while the chain has the payments that it counts on.",
        find: "await assertPaymentsOnChain(purchase, onChain, services);",
        replace: "",
        tests: [decisions],
      },
      {
        rule: "The transaction of a claim is used by it.",
        find: "markTransactionUsed(use)",
        replace: "markTransactionUsed({ ...use, key: `0x00${use.key.slice(4)}` })",
        tests: ["test/server/domain/binding/used-transactions.test.ts"],
      },
    ],
  },
  {
    file: "server/api/operations/refunds/record-decision.ts",
    tests: [errors],
    mutants: [
      {
        rule: "The event of a decision tells the award.",
        find: "decision_id, outcome, award } },",
        replace: "decision_id, outcome, award: statement.decided_at } },",
        tests: ["test/server/outbox/events.test.ts"],
      },
    ],
  },
  {
    file: "server/domain/refunds/check-decision.ts",
    tests: [errors],
    mutants: [
      {
        rule: "An approval counts once.",
        find: "if (used !== undefined)",
        replace: "if (used !== undefined && used.key.length === 0)",
        only: "approval_replayed",
      },
      {
        rule: "Only the designated reviewer decides.",
        find: "if (reviewer.keyId !== body.reviewer_key_id)",
        replace: "if (reviewer.keyId.length === 0)",
        only: "reviewer_not_designated",
      },
      {
        rule: "The approval verifies over exactly this decision.",
        find: "if (!verifyDecision(reviewer.publicKey, statement, body.approval))",
        replace: "if (body.approval.length !== 86)",
        tests: [attacks],
        only: "a decision signature for another award",
      },
      {
        rule: "A decision is on the purchase's own claim.",
        find: "claim === null || claim.id !== body.claim_id",
        replace: "claim === null",
        tests: ["test/server/api/operations/refunds/decisions.test.ts"],
      },
      {
        rule: "A denied claim awards nothing.",
        find: 'if (body.outcome === "denied" && award !== 0n)',
        replace: 'if (body.outcome === "denied" && award < 0n)',
        tests: [decisions],
      },
      {
        rule: "An approved claim awards something.",
        find: 'if (body.outcome === "approved" && award === 0n)',
        replace: 'if (body.outcome === "approved" && award < 0n)',
        tests: [decisions],
      },
      {
        rule: "The award is at most what was claimed.",
        find: "const most = requested < paid ? requested : paid;",
        replace: "const most = paid;",
        tests: [decisions],
      },
      {
        rule: "The award is at most what was paid.",
        find: "const most = requested < paid ? requested : paid;",
        replace: "const most = requested;",
        tests: [decisions],
      },
      {
        rule: "All that was claimed may be awarded.",
        find: "if (award > most)",
        replace: "if (award >= most)",
        tests: ["test/server/api/operations/refunds/decisions.test.ts"],
      },
      {
        rule: "A decision is not dated before its claim.",
        find: "if (at < claim.created_at)",
        replace: "if (at < 0)",
        tests: [decisions],
      },
      {
        rule: "A decision may be dated in the second of its claim.",
        find: "if (at < claim.created_at)",
        replace: "if (at <= claim.created_at)",
        tests: [decisions],
      },
      {
        rule: "A decision is not dated after now.",
        find: "if (Math.floor(at) > now)",
        replace: "if (Math.floor(at) > now + 300)",
        tests: [decisions],
      },
      {
        rule: "A decision may be dated now.",
        find: "if (Math.floor(at) > now)",
        replace: "if (at >= now)",
        tests: [decisions],
      },
      {
        rule: "The refusal of an award names what was claimed or what is paid, the smaller of both.",
        find: "must be at most ${most}, what",
        replace: "must be at most ${requested}, what",
        tests: ["test/server/api/operations/refunds/decisions.test.ts"],
        only: "after a reorg",
      },
      {
        rule: "A decision in the second before its claim is refused, however late in that second.",
        find: "if (at < claim.created_at)",
        replace: "if (Math.ceil(at) < claim.created_at)",
        tests: ["test/server/api/operations/refunds/decisions.test.ts"],
        only: "decided_at",
      },
      {
        rule: "A decision may be dated within the second that it is now.",
        find: "if (Math.floor(at) > now)",
        replace: "if (at > now)",
        tests: ["test/server/api/operations/refunds/decisions.test.ts"],
        only: "decided_at",
      },
      {
        rule: "The refusal of a decision before its claim names the time of the claim.",
        find: "must be at least ${toTimestamp(claim.created_at)}",
        replace: "must be at least ${toTimestamp(now)}",
        tests: ["test/server/api/operations/refunds/decisions.test.ts"],
        only: "decided_at",
      },
    ],
  },
  {
    file: "server/domain/refunds/still-on-chain.ts",
    tests: [errors],
    mutants: [
      {
        rule: "A claim that the chain has by another transaction is distinguished from one that it does not have.",
        find: "if (missing === null)",
        replace: "if (missing !== null)",
        tests: [decisions],
      },
      {
        rule: "A decision is retryable only while a missing claim can still be sent again.",
        find: "missing.remedy !== null);",
        replace: "missing.remedy === null);",
        tests: [decisions],
      },
      {
        rule: "A decision is refused while the chain has another claim.",
        find: "  assertFiledClaim(claim, onChain, {",
        replace: "  assertFiledClaim(claim, { claimHash: onChain.decisionHash }, {",
        tests: [decisions],
      },
      {
        rule: "A decision is recorded only while the chain has the claim's transaction.",
        find: "await requireBound(hash, expected, use, services);",
        replace: "",
        tests: [decisions],
      },
      {
        rule: "A decision is recorded only while the chain has the payments that it counts on.",
        find: "await assertPaymentsOnChain(purchase, onChain, services);",
        replace: "",
        tests: [decisions],
      },
      {
        rule: "A claim that was sent again after a reorg can be decided.",
        find: "return again?.value.transaction_hash ?? transaction_hash;",
        replace: "return transaction_hash;",
        tests: [moved],
      },
    ],
  },
  {
    file: "server/domain/refunds/record-due-refund.ts",
    tests: [collected],
    mutants: [
      {
        rule: "An award that is due says so in an event.",
        find: 'event: { type: "refund.due", data } }',
        replace: "event: undefined }",
      },
      {
        rule: "A purchase whose award is recorded is due.",
        find: 'status: "refund_due", refund_id',
        replace: "refund_id",
      },
      {
        rule: "An award is recorded once.",
        find: "if (refund_id !== null) return;",
        replace: "",
      },
    ],
  },
  {
    file: "server/api/operations/refunds/execute-refund.ts",
    tests: [errors],
    mutants: [
      {
        rule: "The claim of a refund that was begun is looked at as long as nothing is signed.",
        find: "if (!underWay || !(await isSigned(collection, services)))",
        replace: "if (!underWay)",
        tests: [moved],
      },
      {
        rule: "A refund that the funding does not cover is refused before it is relayed.",
        find: "await assertFunded(collection, { purchase, decision, asOf: onChain.asOf }, services);",
        replace: ";",
        tests: [collected, errors],
      },
      {
        rule: "A collection that has paid another claim is recorded with its refusal.",
        find: "if (!(error instanceof RefusedTransaction) || !failsByLog(error)) throw error;",
        replace: "if (error instanceof Error) throw error;",
        tests: [moved],
        only: "is refused for good",
      },
      {
        rule: "A refund that is collected is answered again to every key that asked for it.",
        find: 'if (resumes !== null && purchase.status === "refunded" && refund !== null)',
        replace: 'if (resumes === "" && purchase.status === "refunded" && refund !== null)',
        tests: ["test/server/http/several-keys.test.ts", collected],
      },
      {
        rule: "A refund is judged by the time of the next block.",
        find: "await chain.nextTime()",
        replace: "due.asOf.timestamp",
        tests: [collected],
      },
      {
        rule: "A refund that is under way is resumed, whatever became of its funding.",
        find: "if (!underWay) await",
        replace: "await",
        tests: [collected],
      },
      {
        rule: "A key that began nothing conflicts with a refund that is collected.",
        find: 'resumes !== null && purchase.status === "refunded"',
        replace: 'purchase.status === "refunded"',
        tests: ["test/server/http/several-keys.test.ts"],
      },
      {
        rule: "A collection that was mined and reverted for another reason is reported as reverted.",
        find: "mined && !saysFunding(revert)",
        replace: "mined && revert.name === null",
        tests: [collected],
      },
      {
        rule: "A refund is for the purchase's own decision.",
        find: " || decision.id !== body.decision_id",
        replace: "",
        tests: [collected],
      },
      {
        rule: "The transaction of a refund is used by it.",
        find: "markTransactionUsed({ key: hash,",
        replace: "markTransactionUsed({ key: `0x00${hash.slice(4)}`,",
        tests: ["test/server/domain/binding/used-transactions.test.ts"],
      },
    ],
  },
  {
    file: "server/domain/merchants/funding.ts",
    tests: [collected],
    mutants: [
      {
        rule: "The remaining funding is its cap less the collected amount.",
        find: "return cap - collected;",
        replace: "return cap;",
      },
      {
        rule: "A refund that the rest of the cap does not cover is reported as that.",
        find: 'if (revert.name === "FundingInsufficient" || remaining < award)',
        replace: "if (remaining < 0n)",
        tests: [collected, attacks],
      },
      {
        rule: "A refund that the allowance does not cover is reported as that.",
        find: "if (allowance < award)",
        replace: "if (allowance < 0n)",
        tests: [collected, errors],
      },
      {
        rule: "A refund of all that is allowed is covered.",
        find: "if (allowance < award)",
        replace: "if (allowance <= award)",
      },
      {
        rule: "A refund of all that the merchant has is covered.",
        find: "if (balance < award)",
        replace: "if (balance <= award)",
      },
      {
        rule: "A refund of all that remains of the cap is covered.",
        find: "remaining < award",
        replace: "remaining <= award",
      },
      {
        rule: "A refund that the merchant's balance does not cover is reported as that.",
        find: "if (balance < award)",
        replace: "if (balance < 0n)",
        tests: [collected, attacks],
      },
      {
        rule: "A refund after the funding has ended is reported as that.",
        find: 'if (revert.name === "DeadlinePassed") {',
        replace: 'if (revert.name === "") {',
      },
      {
        rule: "A refund is refused with the figures of the enrollment that covers the purchase.",
        find: "const remaining = remainingOf(cover);",
        replace: "const remaining = BigInt(decision.statement.award) * 7n - cover.collected;",
      },
      {
        rule: "A refusal for the funding names the merchant whose enrollment covers the purchase.",
        find: "merchantId === purchase.merchant_id",
        replace: "merchantId !== null",
      },
      {
        rule: "A refund that the merchant can still fund may be asked for again.",
        find: "retryable: short.every(({ canBeGiven }) => canBeGiven),",
        replace: "retryable: false,",
      },
      {
        rule: "A refund whose cover has ended is not to be asked for again.",
        find: 'find("valid_until", false,',
        replace: 'find("valid_until", true,',
      },
      {
        rule: "A refund that the rest of the cap does not cover is not to be asked for again.",
        find: 'find("remaining", false,',
        replace: 'find("remaining", true,',
      },
      {
        rule: "A refusal for the funding says when that was revoked.",
        find: "revokedAt === null ? null : toTimestamp(revokedAt)",
        replace: "null",
      },
    ],
  },
  {
    file: "server/api/views/refunds.ts",
    tests: [collected],
    mutants: [
      {
        rule: "A refund comes from the merchant.",
        find: "from: purchase.merchant,",
        replace: "from: purchase.beneficiary,",
      },
      {
        rule: "A refund goes to the beneficiary.",
        find: "to: purchase.beneficiary,",
        replace: "to: purchase.buyer,",
      },
    ],
  },
  {
    file: "server/domain/reverts/explain-revert.ts",
    tests: ["test/server/api/operations/relayed-refusals.test.ts"],
    mutants: [
      {
        rule: "A refund that was collected past the service is not to be asked for again.",
        find: "under the decision hash ${decisionHash}`,\n    remedy: null,",
        replace: 'under the decision hash ${decisionHash}`,\n    remedy: "Wait",',
      },
      {
        rule: "A refusal of the token is explained in words.",
        find: "tokenCauses[text]",
        replace: "tokenCauses[`${text} `]",
      },
      {
        rule: "A payment without any approval is explained as that.",
        find: "return approved === 0n\n",
        replace: "return approved < 0n\n",
        tests: ["test/server/api/operations/wallets/wallet-actions.test.ts"],
      },
      {
        rule: "A payment of more than is outstanding is distinguished from a missing payment of a refund.",
        find: 'step === "refund" ? missingPayment(String(actual), String(max)) : tooMuch(actual, max)',
        replace: "missingPayment(String(actual), String(max))",
        tests: [reverted],
      },
      {
        rule: "The explanation of a payment of a paid purchase says that nothing is left to pay.",
        find: 'return max === "0"',
        replace: 'return max === ""',
        tests: [reverted],
      },
      {
        rule: "An offer that was withdrawn is distinguished from a purchase that has expired.",
        find: 'String(actual) === "2"',
        replace: 'String(actual) === "3"',
        tests: [reverted],
      },
      {
        rule: "A collection that a reorg has removed is sent again only until its deadline.",
        find: "(await chain.nextTime()) <= due",
        replace: "due > 0",
        tests: [moved],
      },
      {
        rule: "A transaction without enough gas is explained as that.",
        find: 'return message.startsWith("out of gas")',
        replace: 'return message.startsWith("gas")',
        tests: [reverted],
      },
      {
        rule: "The explanation of a registration without an enrollment says what became of the enrollment.",
        find: 'if (name === "NotEnrolled" && purchase !== null)',
        replace: 'if (name === "NotEnrolled" && purchase === null)',
        tests: [reverted],
      },
    ],
  },
  {
    file: "server/domain/reverts/cause.ts",
    tests: [reverted],
    mutants: [
      {
        rule: "Where nothing makes a call succeed, what to do in its place is said.",
        find: "(instead ?? never)",
        replace: "never",
      },
      {
        rule: "The explanation of an action that would revert says what makes it succeed.",
        find: "return remedy === null ? sayWrong({ wrong })",
        replace: "return remedy !== null ? sayWrong({ wrong })",
        tests: ["test/server/api/operations/wallets/wallet-actions.test.ts"],
      },
    ],
  },
  {
    file: "server/domain/refunds/claims.ts",
    tests: [moved],
    mutants: [
      {
        rule: "A refund is collected only while the chain has the claim that was decided.",
        find: "if (claimHash === null || claimHash === claim.claim_hash) return;",
        replace: "if (claimHash !== null || claim.claim_hash !== null) return;",
      },
      {
        rule: "A collection that has paid another claim is refused under every key.",
        find: "return onChain.collectedClaimHash !== null && otherClaim(claim.value, onChain) !== null;",
        replace: "return onChain.exists && otherClaim(claim.value, onChain) === onChain.asOf.hash;",
        only: "is refused for good",
      },
      {
        rule: "Nothing that counts on the filed claim is offered once the chain has paid another.",
        find: "const onChain = collectedClaimHash ?? claimHash;",
        replace: "const onChain = collectedClaimHash === null ? claimHash : null;",
        tests: [withdrawn],
        only: "is not offered",
      },
    ],
  },
  {
    file: "server/domain/refunds/missing-on-chain.ts",
    tests: [moved],
    mutants: [
      {
        rule: "A claim is not advised whose payment is missing after the pay deadline.",
        find: "if (lacksPayment && time > purchase.pay_deadline)",
        replace: "if (lacksPayment && !lacksClaim && time > purchase.pay_deadline)",
      },
      {
        rule: "A missing payment is named together with a missing claim.",
        find: "return lacksClaim\n    ?",
        replace: "return lacksClaim && lacksPayment === false\n    ?",
      },
      {
        rule: "A claim that is missing is not advised after the claim deadline.",
        find: "if (lacksClaim && time > purchase.claim_deadline)",
        replace: "if (lacksClaim && time < purchase.claim_deadline - 365 * 86_400)",
      },
    ],
  },
  {
    file: "server/domain/reverts/explain-mined.ts",
    tests: [reverted],
    mutants: [
      {
        rule: "A cause of a revert that is over is not told as if it held.",
        find: 'const isOver = now === null && revert !== null && revert.name !== "NotEnrolled";',
        replace: "const isOver = now === null && revert === null;",
      },
      {
        rule: "The advice about a revert is about what the call meets now.",
        find: "const met = now ?? was;",
        replace: "const met = was;",
      },
      {
        rule: "A batch that reverted names the payment that fails.",
        find: "if (revert !== null) return { id, place: calls.length, revert };",
        replace: "if (revert !== null) return null;",
      },
    ],
  },
  {
    file: "server/domain/reverts/explain-revert.ts",
    tests: [reverted],
    mutants: [
      {
        rule: "A purchase that is on chain is not advised to be registered.",
        find: 'if (step === "registration" && purchase !== null && (await isRegistered(purchase, services)))',
        replace: 'if (step === "offer" && purchase !== null && (await isRegistered(purchase, services)))',
      },
      {
        rule: "A payment is not advised after its deadline.",
        find: "NothingPaid: pay_deadline,",
        replace: "NothingPaid: pay_deadline * 2,",
        tests: [moved],
      },
      {
        rule: "A refused permit that another account signed is distinguished from one whose nonce was used.",
        find: "return nonce === null\n    ?",
        replace: "return nonce !== null\n    ?",
        tests: ["test/server/api/operations/wallets/wallet-permits.test.ts"],
      },
    ],
  },
  {
    file: "server/domain/refunds/collection-precondition.ts",
    tests: [withdrawn],
    mutants: [
      {
        rule: "A collection that has paid another claim says so.",
        find: "paid === undefined || paid === claim.claim_hash",
        replace: "paid === undefined || claim.claim_hash !== null",
        tests: [moved],
        only: "is refused for good",
      },
      {
        rule: "No collection is sent for another claim than the decided one.",
        find: "claimHash === claim.claim_hash)",
        replace: "claimHash !== null)",
      },
      {
        rule: "No collection is sent while the chain has no claim.",
        find: "claimHash === claim.claim_hash)",
        replace: "claimHash === null || claimHash === claim.claim_hash)",
      },
    ],
  },
  {
    file: "server/chain/read-chain-purchase.ts",
    tests: [withdrawn],
    mutants: [
      {
        rule: "A refund names the claim that the chain has paid.",
        find: "figures.refunded === 0n ? null : findCollectedClaim(logs)",
        replace: "figures.refunded === 0n ? null : unlessZero(figures.claimHash)",
      },
    ],
  },
  {
    file: "server/domain/purchases/status-after-reorg.ts",
    tests: [withdrawn],
    mutants: [
      {
        rule: "A refund that is due shows the transaction that the relayer has confirmed by itself.",
        find: "  const operation = await readOperation(record.operation_id, services);\n",
        replace:
          '  if (record.status === "due") return record;\n  const operation = await readOperation(record.operation_id, services);\n',
      },
    ],
  },
  {
    file: "server/domain/relay.ts",
    tests: [errors],
    mutants: [
      {
        rule: "A collection that the relayer has withdrawn is refused for the reason that holds now.",
        find: "await step.recheck?.();",
        replace: "",
        tests: [withdrawn],
      },
      {
        rule: "A request waits while a transaction of an earlier attempt may still be mined.",
        find: "if (isOpen || (await services.relayer.waitsForEarlier(operation.operation_id)))",
        replace: "if (isOpen)",
        tests: ["test/relayer/over-http.test.ts"],
      },
      {
        rule: "A relayed call that the contract refuses may be asked for again where something makes it succeed.",
        find: "retryable: cause.remedy !== null",
        replace: "retryable: cause.remedy === null",
        tests: ["test/server/api/operations/relayed-refusals.test.ts"],
      },
      {
        rule: "A relayed call that was not sent is distinguished from a transaction that reverted.",
        find: 'if (status === "reverted") {\n    const mined',
        replace: 'if (status === "failed") {\n    const mined',
        tests: ["test/server/api/operations/relayed-refusals.test.ts"],
      },
      {
        rule: "A relayed operation that needs a person has an unknown outcome.",
        find: 'if (status === "needs_attention") throw unknownOutcome(operation);',
        replace: "",
        tests: [errors],
        only: "outcome_unknown",
      },
      {
        rule: "A gas budget that is exceeded tells what is required and what is there.",
        find: "available_wei: error.availableWei.toString()",
        replace: "available_wei: error.requiredWei.toString()",
        only: "gas_budget_exceeded",
      },
      {
        rule: "An effect that failed or reverted is checked again before it begins again.",
        find: 'operation.status !== "failed" && operation.status !== "reverted"',
        replace: 'operation.status !== "failed"',
        tests: [collected],
      },
      {
        rule: "A transaction that a reorg moved while it was bound is bound again.",
        find: "if (now?.block_hash === block_hash)",
        replace: "if (now?.operation_id === operation_id)",
        tests: [attacks],
        only: "a reorg between an offer's confirmation and its check",
      },
      {
        rule: "A key whose transaction was mined, and is not the bound one, stays with it.",
        find: "error instanceof Problem ? error.afterEffect() : error",
        replace: "error",
        tests: [moved],
      },
    ],
  },
];
