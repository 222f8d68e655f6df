import type { MutantGroup } from "./mutant.ts";

const deadlines = "test/server/api/operations/purchases/deadlines.test.ts";
const states = "test/server/api/operations/purchases/states.test.ts";
const severalKeys = "test/server/http/several-keys.test.ts";
const errors = "test/server/api/errors/errors.test.ts";
const attacks = "test/check-contract/attacks/attacks.test.ts";
const windows = "test/server/domain/binding/windows.test.ts";

export const purchaseSteps: readonly MutantGroup[] = [
  {
    file: "server/domain/purchases/purchase-steps.ts",
    tests: [states],
    mutants: [
      {
        rule: "A purchase is activated once.",
        find: 'active: ["reconcile", "claims"]',
        replace: 'active: ["reconcile", "claims", "activate"]',
        tests: [errors],
        only: "state_conflict",
      },
      {
        rule: "A purchase is not reconciled before it is active.",
        find: 'created: ["activate", "registration"]',
        replace: 'created: ["activate", "registration", "reconcile"]',
      },
      {
        rule: "A purchase that is active is not registered.",
        find: 'active: ["reconcile", "claims"]',
        replace: 'active: ["reconcile", "claims", "registration"]',
      },
      {
        rule: "A purchase is claimed once.",
        find: 'claimed: ["reconcile", "decisions"]',
        replace: 'claimed: ["reconcile", "claims", "decisions"]',
      },
      {
        rule: "A claim is decided on once.",
        find: 'approved: ["reconcile", "refunds"]',
        replace: 'approved: ["reconcile", "decisions", "refunds"]',
      },
      {
        rule: "A denied claim is not refunded.",
        find: 'denied: ["reconcile"]',
        replace: 'denied: ["reconcile", "refunds"]',
      },
      {
        rule: "A refund is collected once.",
        find: 'refunded: ["reconcile"]',
        replace: 'refunded: ["reconcile", "refunds"]',
      },
      {
        rule: "A payment of a purchase that is decided on is still reconciled.",
        find: 'denied: ["reconcile"]',
        replace: "denied: []",
      },
      {
        rule: "A claim needs a reconciled payment.",
        find: 'if (step === "claims" && reconciledOf(purchase) === 0n)',
        replace: 'if (step === "claims" && reconciledOf(purchase) < 0n)',
      },
      {
        rule: "A purchase that came on chain by the other route is refused.",
        find: "if (taken === null || taken === route) return;",
        replace: "if (taken === null || taken.length > 0) return;",
      },
      {
        rule: "The allowed steps are those before their deadlines.",
        find: 'if (status === "created") return nextBlock <= offer_deadline;',
        replace: 'if (status === "created") return nextBlock <= claim_deadline;',
      },
      {
        rule: "A claim that is on chain may be filed after its deadline.",
        find: 'isClaimed || (status === "active" && nextBlock <= claim_deadline)',
        replace: 'status !== "active" || nextBlock <= claim_deadline',
      },
      {
        rule: "A decision on a claim that a reorg has removed is not among the allowed steps.",
        find: 'isClaimed || (status === "active" && nextBlock <= claim_deadline)',
        replace: "isClaimed || nextBlock <= claim_deadline",
      },
      {
        rule: "A claim on payments that a reorg has removed is not among the allowed steps.",
        find: "mayClaim && whyPaymentsRemoved(purchase, onChain) === null",
        replace: "mayClaim",
      },
      {
        rule: "A decision is among the allowed steps after a refund past the service, which takes the claim's place on chain.",
        find: " || onChain.decisionHash !== null",
        replace: "",
      },
      {
        rule: "A refusal of a step names the state and the steps that it allows.",
        find: "allowed: [...(allowed ?? (await stepsNow(purchase, services)))],",
        replace: "allowed: [],",
      },
      {
        rule: "A purchase may be offered or registered in the last second of its offer deadline.",
        find: "nextBlock <= offer_deadline;",
        replace: "nextBlock < offer_deadline;",
        tests: ["test/server/api/operations/purchases/states.test.ts"],
        only: "offer deadline",
      },
      {
        rule: "A purchase is neither offered nor registered in the second after its offer deadline.",
        find: "nextBlock <= offer_deadline;",
        replace: "nextBlock <= offer_deadline + 1;",
        tests: ["test/server/api/operations/purchases/states.test.ts"],
        only: "offer deadline",
      },
      {
        rule: "A purchase may be claimed in the last second of its claim deadline.",
        find: "nextBlock <= claim_deadline",
        replace: "nextBlock < claim_deadline",
        tests: ["test/server/api/operations/purchases/states.test.ts"],
        only: "claim deadline",
      },
      {
        rule: "A purchase is not claimed in the second after its claim deadline.",
        find: "nextBlock <= claim_deadline",
        replace: "nextBlock <= claim_deadline + 1",
        tests: ["test/server/api/operations/purchases/states.test.ts"],
        only: "claim deadline",
      },
    ],
  },
  {
    file: "server/api/operations/purchases/activate-purchase.ts",
    tests: [errors],
    mutants: [
      {
        rule: "The refusal of an offer that meets a revocation in its block says so.",
        find: 'if (revert.name === "NotEnrolled")',
        replace: 'if (revert.name === "")',
        tests: ["test/server/api/operations/merchants/enrollments.test.ts"],
      },
      {
        rule: "The commitment hash that is activated is the purchase's.",
        find: "if (commitmentHash === purchase.commitment_hash) return;",
        replace: "if (commitmentHash.length > 0) return;",
        tests: [attacks],
        only: "a commitment that differs in one bit",
      },
      {
        rule: "An offer that was accepted in time is released when it is late.",
        find: "else if (!(await isUnderWay(intent, services))) await assertOfferable",
        replace: "else await assertOfferable",
        tests: [deadlines],
      },
      {
        rule: "A key under which an offer began gets its success when another key finished it.",
        find: 'resumes !== null && purchase.route === "registrar_offer"',
        replace: 'resumes === id && purchase.route === "merchant_direct"',
        tests: [severalKeys],
      },
      {
        rule: "A key that began nothing conflicts with an offer that is made.",
        find: 'resumes !== null && purchase.route === "registrar_offer"',
        replace: 'purchase.route === "registrar_offer"',
        tests: [severalKeys],
      },
      {
        rule: "A purchase that the operator offered says so.",
        find: 'activatedRecord(stored.value, "registrar_offer")',
        replace: 'activatedRecord(stored.value, "merchant_direct")',
        tests: ["test/end-to-end/lifecycle.test.ts"],
      },
    ],
  },
  {
    file: "server/domain/purchases/offer-bounds.ts",
    tests: [errors],
    mutants: [
      {
        rule: "An offer after its deadline is refused as late.",
        find: "if (timestamp > purchase.offer_deadline)",
        replace: "if (timestamp > purchase.pay_deadline)",
        tests: [errors],
        only: "deadline_passed",
      },
      {
        rule: "A purchase is activated in the last second of its offer deadline.",
        find: "if (timestamp > purchase.offer_deadline)",
        replace: "if (timestamp >= purchase.offer_deadline)",
        tests: [deadlines, "test/server/api/operations/purchases/states.test.ts"],
      },
      {
        rule: "An amount above the operator's largest purchase is refused before it is relayed.",
        find: "amount > state.maxPurchase &&",
        replace: "amount < 0n &&",
        tests: ["test/server/api/operations/purchases/offer-bounds.test.ts"],
      },
      {
        rule: "An amount above the operator's open budget is refused before it is relayed.",
        find: "amount > available &&",
        replace: "amount < 0n &&",
        tests: ["test/server/api/operations/purchases/offer-bounds.test.ts"],
      },
      {
        rule: "Open offers use up the operator's budget.",
        find: "state.openBudget - state.openOffers",
        replace: "state.openBudget",
        tests: ["test/server/api/operations/purchases/offer-bounds.test.ts"],
      },
      {
        rule: "An activation after the program's bounds have ended is refused before it is relayed.",
        find: "timestamp > state.validUntil &&",
        replace: "timestamp < 0 &&",
        tests: [deadlines, errors],
      },
      {
        rule: "A paused program takes no offer.",
        find: "state.paused &&",
        replace: "!state.paused &&",
        tests: ["test/server/api/operations/purchases/offer-bounds.test.ts"],
      },
      {
        rule: "A bound that the contract holds is reported as one, when it changed on the way.",
        find: "if (met === undefined) return null;",
        replace: "if (met !== undefined) return null;",
        tests: [
          deadlines,
          "test/server/http/several-keys.test.ts",
          "test/sandbox/chain/clock/travel.test.ts",
        ],
      },
      {
        rule: "An offer is judged by the time of the next block.",
        find: "chain.program(hashId(purchase.program)), chain.nextTime()",
        replace: "chain.program(hashId(purchase.program)), chain.nextTime().then((time) => time - 1)",
        tests: [deadlines],
      },
      {
        rule: "An offer that reverted after its deadline is reported as late.",
        find: 'name === "DeadlinePassed" && args["deadline"] === String(offer_deadline)',
        replace: 'name === "DeadlinePassed" && args["deadline"] === null',
        tests: [deadlines],
      },
      {
        rule: "An offer in the last second of the program's bounds is made.",
        find: "timestamp > state.validUntil &&",
        replace: "timestamp >= state.validUntil &&",
        tests: ["test/server/api/operations/purchases/deadlines.test.ts"],
      },
      {
        rule: "An offer may be as large as the operator's largest purchase.",
        find: "amount > state.maxPurchase",
        replace: "amount >= state.maxPurchase",
        tests: ["test/server/api/operations/purchases/offer-bounds.test.ts"],
      },
      {
        rule: "An offer may take all that is left of the operator's budget.",
        find: "amount > available &&",
        replace: "amount >= available &&",
        tests: ["test/server/api/operations/purchases/offer-bounds.test.ts"],
      },
    ],
  },
  {
    file: "server/domain/purchases/status-after-reorg.ts",
    tests: ["test/server/api/operations/purchases/reorgs.test.ts"],
    mutants: [
      {
        rule: "A purchase whose registration has left the chain is created again.",
        find: "return (await chain.route(commitment_hash)) === route;",
        replace: "return (await chain.route(commitment_hash)) !== undefined;",
      },
      {
        rule: "A purchase whose registration the relayer's offer has replaced is created again.",
        find: "return (await chain.route(commitment_hash)) === route;",
        replace: "return (await chain.route(commitment_hash)) !== null;",
        tests: ["test/server/api/operations/purchases/reorgs.test.ts"],
        only: "brings back",
      },
    ],
  },
  {
    file: "server/api/operations/purchases/confirm-registration.ts",
    tests: ["test/end-to-end/lifecycle.test.ts"],
    mutants: [
      {
        rule: "A purchase that its merchant registered says so.",
        find: 'activatedRecord(stored.value, "merchant_direct")',
        replace: 'activatedRecord(stored.value, "registrar_offer")',
      },
      {
        rule: "A registration is confirmed by the binding check.",
        find: "await requireBound(hash, expectRegistration(purchase, onChain.exists, services), use, services);",
        replace: "",
        tests: [attacks],
        only: "a registration from an account other than",
      },
    ],
  },
  {
    file: "server/domain/purchases/read-at-one-block.ts",
    tests: ["test/server/api/operations/purchases/one-moment.test.ts"],
    mutants: [
      {
        rule: "A purchase is not answered with an operation that a later block has settled.",
        find: "if (operation !== undefined && settledIn(operation) > at.number) isPast = true;",
        replace: "",
      },
    ],
  },
  {
    file: "server/domain/relay.ts",
    tests: ["test/server/api/operations/purchases/reorgs.test.ts"],
    mutants: [
      {
        rule: "An offer or a refund that a transaction with a higher fee makes again after a reorg has no second event.",
        find: "one.attempt >= attempt);",
        replace: "one.attempt >= attempt).slice(-1);",
        only: "raises the fee",
      },
      {
        rule: "A new attempt of an offer or a refund that has reverted after a reorg has an event.",
        find: "one.attempt >= attempt);",
        replace: "one.attempt >= 1);",
        only: "exactly once",
      },
    ],
  },
  {
    file: "server/domain/binding/expectations.ts",
    tests: [attacks],
    mutants: [
      {
        rule: "A collection pays the decided claim.",
        find: "claimHash: claim.claim_hash,",
        replace: "",
        tests: ["test/server/api/operations/refunds/moved-claims.test.ts"],
        only: "is refused for good",
      },
      {
        rule: "A claim is in time up to its deadline.",
        find: "to: purchase.claim_deadline }",
        replace: "to: purchase.pay_deadline }",
        only: "a claim in the last second|a claim one second after",
      },
      {
        rule: "An approval after the pay deadline is late.",
        find: "timely: { from: purchase.created_at, to: purchase.pay_deadline }",
        replace: "timely: { from: purchase.created_at, to: null }",
        only: "an approval one second after",
      },
      {
        rule: "A payment from before the purchase is none of it.",
        find: "from: Math.max(...known.map(({ created_at }) => created_at), asked.created_at)",
        replace: "from: 0",
        tests: [windows],
      },
      {
        rule: "A batch is in time when it is in time for each of its purchases.",
        find: "const to = Math.min(...known.map(({ pay_deadline }) => pay_deadline), asked.pay_deadline)",
        replace: "const to = asked.pay_deadline",
        tests: [windows],
      },
      {
        rule: "A registration is late after the offer deadline, also before the pay deadline.",
        find: "timely: { from: purchase.created_at, to: purchase.offer_deadline }",
        replace: "timely: { from: purchase.created_at, to: purchase.pay_deadline }",
        tests: [windows],
      },
      {
        rule: "An enrollment after the funding has ended is late.",
        find: "to: merchant.funding.valid_until }",
        replace: "to: null }",
        tests: [windows],
      },
      {
        rule: "A transaction has as many confirmations as the sandbox requires.",
        find: "confirmations: settings.confirmations,",
        replace: "confirmations: 1,",
        tests: ["test/server/domain/binding/confirmations.test.ts"],
      },
      {
        rule: "A funding approval is for the whole cap.",
        find: "spender, BigInt(merchant.funding.cap)),",
        replace: "spender, BigInt(merchant.funding.cap) - 1n),",
        tests: [windows],
      },
    ],
  },
];
