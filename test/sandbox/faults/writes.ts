import type { Sandbox } from "../../../sandbox/create-sandbox.ts";
import { signEvent } from "./sign-event.ts";

/** A write that is about to be sent. */
export interface Write {
  path: string;
  body: object | string;
  headers?: { [name: string]: string };
}

const amount = 25_000_000n;
const reason = "Arrived broken.";
const award = "10000000";
const under = "/v1/routing/programs/prg_demo";

/** Brings a sandbox to where each write is due, and returns the write. */
export const writes: { readonly [operation: string]: (sandbox: Sandbox) => Promise<Write> } = {
  issueAccess: async () => ({ path: "/v1/routing/access", body: {} }),
  createMerchant: async ({ wallets }) => ({
    path: `${under}/merchants`,
    body: { wallet: wallets.merchant.address, name: "Corner Books", funding_cap: "500000000" },
  }),
  async confirmEnrollment({ given, wallets }) {
    const { merchant } = await given.merchant({ state: "pending" });
    const { body } = await wallets.merchant.enroll(merchant);
    return { path: `${under}/merchants/${merchant.id}/enrollment`, body };
  },
  async createPurchase({ given, wallets }) {
    const { merchant } = await given.merchant({ state: "funded" });
    const terms = { buyer: wallets.buyer.address, amount: String(amount), terms: { sku: "course-42" } };
    return { path: `${under}/purchases`, body: { merchant_id: merchant.id, ...terms } };
  },
  async activatePurchase({ given }) {
    const { purchase } = await given.purchase({ state: "created" });
    const body = { commitment_hash: purchase.commitment.hash };
    return { path: `${under}/purchases/${purchase.id}/activate`, body };
  },
  async confirmRegistration({ given, wallets }) {
    const { purchase } = await given.purchase({ state: "created" });
    const { transaction_hash } = await wallets.merchant.register(purchase);
    return { path: `${under}/purchases/${purchase.id}/registration`, body: { transaction_hash } };
  },
  async reconcilePurchase({ given }) {
    const { purchase } = await given.purchase({ state: "paid" });
    return { path: `${under}/purchases/${purchase.id}/reconcile`, body: {} };
  },
  async fileClaim({ given, wallets }) {
    const { purchase } = await given.purchase({ state: "reconciled" });
    const { body } = await wallets.beneficiary.claim(purchase, { amount, reason });
    return { path: `${under}/purchases/${purchase.id}/claims`, body };
  },
  async recordDecision({ given, reviewer }) {
    const { purchase, claim } = await given.purchase({ state: "claimed" });
    const body = await reviewer.sign(purchase, claim, { award });
    return { path: `${under}/purchases/${purchase.id}/decisions`, body };
  },
  async executeRefund({ given }) {
    const { purchase, decision } = await given.purchase({ state: "approved" });
    return { path: `${under}/purchases/${purchase.id}/refunds`, body: { decision_id: decision.id } };
  },
  async deliverNotification({ given }) {
    await given.merchant({ state: "pending" });
    return { path: `${under}/notifications`, body: {} };
  },
  async receiveNotification(sandbox) {
    await sandbox.given.merchant({ state: "pending" });
    return { path: "/v1/routing/notification-receiver", ...(await signEvent(sandbox)) };
  },
  async submitMerchantWalletAction({ given, wallets }) {
    const { merchant } = await given.merchant({ state: "pending" });
    const { transaction_hash } = await wallets.merchant.enroll(merchant);
    return {
      path: `/wallet/prg_demo/merchant/${merchant.id}`,
      body: { action: "enroll", transaction_hash },
    };
  },
  async submitPurchaseWalletAction({ given, wallets }) {
    const { purchase } = await given.purchase({ state: "active" });
    await wallets.buyer.approve(purchase);
    const { transaction_hash } = await wallets.buyer.pay(purchase);
    return {
      path: `/wallet/prg_demo/purchase/${purchase.id}`,
      body: { action: "pay", transaction_hash },
    };
  },
};
