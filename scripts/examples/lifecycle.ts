import { z } from "zod";
import { type Decision, signDecision } from "../../protocol/signatures/decision.ts";
import { usdc } from "../../protocol/values/amount.ts";
import type { Sandbox } from "../../sandbox/create-sandbox.ts";
import { merchantSchema } from "../../server/schemas/merchants.ts";
import { activationSchema, purchaseSchema } from "../../server/schemas/purchases.ts";
import { claimSchema, decisionSchema, refundExecutionSchema } from "../../server/schemas/refunds.ts";
import type { ExampleRun, ExampleStep } from "./run.ts";

const reason = "Arrived broken.";
const claimed = 10n * usdc;

const body = (summary: string, value: object) => ({ summary, value: z.json().parse(value) });
const key = (name: string) => ({ "Idempotency-Key": `${name}-1` });
const merchantOf = (run: ExampleRun) => run.answer("createMerchant", merchantSchema);
const purchaseOf = (run: ExampleRun) => run.answer("createPurchase", purchaseSchema);
const merchantPath = (run: ExampleRun) => ({ id: merchantOf(run).id });
const purchasePath = (run: ExampleRun) => ({ id: purchaseOf(run).id });

/** Every operation once, in an order in which each succeeds on a fresh sandbox. */
export const exampleLifecycle: readonly ExampleStep[] = [
  { operation: "capabilities", request: () => ({}) },
  {
    operation: "issueAccess",
    request: () => ({
      bodies: {
        all_scopes: body("All scopes of the account's program. You can also omit the body.", {}),
        some_scopes: body("Only the scope that reads records.", {
          program: "prg_demo",
          scopes: ["records:read"],
        }),
      },
    }),
  },
  { operation: "readProgram", request: () => ({}) },
  {
    operation: "createMerchant",
    request: ({ sandbox }) => ({
      header: key("create-merchant"),
      bodies: {
        merchant: body("A merchant whose refunds are funded up to 1,000 USDC.", {
          wallet: addressOf(sandbox, "merchant"),
          name: "Corner Books",
          funding_cap: "1000000000",
          reference: "shop-7",
        }),
      },
    }),
  },
  { operation: "readMerchantWallet", request: (run) => ({ path: merchantPath(run) }) },
  {
    operation: "submitMerchantWalletAction",
    before: async (run) => {
      const { body: evidence } = await run.sandbox.wallets.merchant.enroll(merchantOf(run));
      run.evidence = evidence;
    },
    request: (run) => ({
      path: merchantPath(run),
      header: key("wallet-enroll"),
      bodies: {
        enroll: body("The wallet's transaction and signature.", { action: "enroll", ...run.evidence }),
      },
    }),
  },
  {
    operation: "confirmEnrollment",
    request: (run) => ({
      path: merchantPath(run),
      header: key("confirm-enrollment"),
      bodies: {
        with_evidence: body("With the wallet's transaction and signature.", run.evidence),
        from_wallet_route: body("The wallet has submitted its transaction over the wallet route.", {}),
      },
    }),
  },
  {
    operation: "createPurchase",
    request: (run) => ({
      header: key("create-purchase"),
      bodies: { purchase: body("25 USDC, with the default deadlines.", purchaseBody(run)) },
    }),
  },
  {
    operation: "activatePurchase",
    request: (run) => ({
      path: purchasePath(run),
      header: key("activate-purchase"),
      bodies: {
        commitment: body("The commitment to activate.", {
          commitment_hash: purchaseOf(run).commitment.hash,
        }),
      },
    }),
  },
  {
    operation: "confirmRegistration",
    before: async (run) => {
      const second = await run.send("createPurchase", {
        header: { "Idempotency-Key": "create-purchase-2" },
        body: purchaseBody(run),
      });
      run.direct = purchaseSchema.parse(second);
      const { transaction_hash } = await run.sandbox.wallets.merchant.register(run.direct);
      run.evidence = { transaction_hash };
    },
    request: (run) => ({
      path: { id: run.direct?.id ?? "" },
      header: key("confirm-registration"),
      bodies: { registration: body("The merchant's own registration.", run.evidence) },
    }),
  },
  {
    operation: "reconcilePurchase",
    before: async (run) => {
      const { purchase } = run.answer("activatePurchase", activationSchema);
      await run.sandbox.wallets.buyer.approve(purchase);
      const { transaction_hash } = await run.sandbox.wallets.buyer.pay(purchase);
      run.payment = transaction_hash;
    },
    request: (run) => ({
      path: purchasePath(run),
      header: key("reconcile-purchase"),
      bodies: {
        all_payments: body("Every payment of the purchase on the chain.", {}),
        one_payment: body("One payment.", { transaction_hashes: [run.payment] }),
      },
    }),
  },
  { operation: "readPurchase", request: (run) => ({ path: purchasePath(run) }) },
  {
    operation: "readPurchaseWallet",
    request: (run) => ({ path: purchasePath(run), query: { amount: claimed.toString(), reason } }),
  },
  {
    operation: "submitPurchaseWalletAction",
    before: async (run) => {
      const { wallets } = run.sandbox;
      const { body: sent } = await wallets.beneficiary.claim(purchaseOf(run), { amount: claimed, reason });
      run.claim = sent;
    },
    request: (run) => {
      const { requested_amount: amount, ...evidence } = run.claim ?? {};
      return {
        path: purchasePath(run),
        header: key("wallet-claim"),
        bodies: {
          claim: body("The beneficiary's transaction and signature.", {
            action: "claim",
            amount,
            ...evidence,
          }),
        },
      };
    },
  },
  {
    operation: "fileClaim",
    request: (run) => ({
      path: purchasePath(run),
      header: key("file-claim"),
      bodies: { claim: body("10 USDC of what was paid.", run.claim ?? {}) },
    }),
  },
  {
    operation: "recordDecision",
    request: (run) => ({
      path: purchasePath(run),
      header: key("record-decision"),
      bodies: { approved: body("The reviewer awards all that was claimed.", decisionBody(run)) },
    }),
  },
  {
    operation: "executeRefund",
    before: async (run) => void (await run.sandbox.wallets.merchant.fund(merchantOf(run))),
    request: (run) => ({
      path: purchasePath(run),
      header: key("execute-refund"),
      bodies: {
        refund: body("The award of the decision.", {
          decision_id: run.answer("recordDecision", decisionSchema).id,
        }),
      },
    }),
  },
  {
    operation: "deliverNotification",
    request: (run) => ({
      header: key("deliver-notification"),
      bodies: {
        oldest: body("The oldest undelivered event.", {}),
        one_event: body("The event of a write.", {
          event_id: run.answer("executeRefund", refundExecutionSchema).event_id,
        }),
      },
    }),
  },
  {
    operation: "receiveNotification",
    request: ({ sandbox }) => {
      const delivery = sandbox.receiver.deliveries().at(-1);
      if (delivery === undefined) throw new Error("The test receiver got a delivery.");
      const names = ["webhook-id", "webhook-timestamp", "webhook-signature"];
      return {
        header: Object.fromEntries(names.map((name) => [name, delivery.headers[name] ?? ""])),
        bodies: { event: { summary: "The body as it was delivered.", value: JSON.parse(delivery.body) } },
      };
    },
  },
  { operation: "listReceipts", request: () => ({ query: { limit: "20" } }) },
  { operation: "listTransactions", request: () => ({ query: { limit: "20" } }) },
];

function addressOf({ description }: Sandbox, name: string): string {
  return description.wallets[name]?.address ?? "";
}

function purchaseBody(run: ExampleRun) {
  return {
    merchant_id: merchantOf(run).id,
    buyer: addressOf(run.sandbox, "buyer"),
    beneficiary: addressOf(run.sandbox, "beneficiary"),
    amount: "25000000",
    terms: { sku: "course-42", title: "A course" },
    reference: "order-1001",
  };
}

function decisionBody(run: ExampleRun) {
  const { reviewer, chain } = run.sandbox.description;
  const claim = run.answer("fileClaim", claimSchema);
  const purchase = purchaseOf(run);
  const statement: Decision = {
    award: claimed.toString(),
    chain_id: chain.chain_id,
    claim_hash: claim.claim_hash,
    claim_id: claim.id,
    commitment_hash: purchase.commitment.hash,
    decided_at: claim.created_at,
    outcome: "approved",
    program: purchase.program,
    purchase: purchase.id,
    reviewer_key_id: reviewer.key_id,
  };
  const approval = signDecision(Buffer.from(reviewer.private_key, "hex"), statement);
  const { award, claim_id, decided_at, outcome, reviewer_key_id } = statement;
  return { claim_id, outcome, award, decided_at, reviewer_key_id, approval };
}
