import { capabilities } from "./access/capabilities.ts";
import { issueAccess } from "./access/issue-access.ts";
import type { Operation } from "./http/operation.ts";
import { confirmEnrollment } from "./merchants/confirm-enrollment.ts";
import { createMerchant } from "./merchants/create-merchant.ts";
import { deliverNotification } from "./notifications/deliver-notification.ts";
import { listReceipts } from "./notifications/list-receipts.ts";
import { receiveNotification } from "./notifications/receive-notification.ts";
import { reconcilePurchase } from "./payments/reconcile-purchase.ts";
import { readProgram } from "./programs/read-program.ts";
import { activatePurchase } from "./purchases/activate-purchase.ts";
import { confirmRegistration } from "./purchases/confirm-registration.ts";
import { createPurchase } from "./purchases/create-purchase.ts";
import { readPurchase } from "./purchases/read-purchase.ts";
import { executeRefund } from "./refunds/execute-refund.ts";
import { fileClaim } from "./refunds/file-claim.ts";
import { recordDecision } from "./refunds/record-decision.ts";
import { listTransactions } from "./transactions/list-transactions.ts";
import { readMerchantWallet, readPurchaseWallet } from "./wallets/read-wallet.ts";
import { submitMerchantWalletAction, submitPurchaseWalletAction } from "./wallets/submit-wallet-action.ts";

/** Every operation of the API: the 17 of the specification, in its order, and the wallet routes. */
export const operations: readonly Operation[] = [
  capabilities,
  issueAccess,
  readProgram,
  createMerchant,
  confirmEnrollment,
  createPurchase,
  readPurchase,
  activatePurchase,
  confirmRegistration,
  reconcilePurchase,
  fileClaim,
  recordDecision,
  executeRefund,
  deliverNotification,
  listReceipts,
  listTransactions,
  receiveNotification,
  readMerchantWallet,
  submitMerchantWalletAction,
  readPurchaseWallet,
  submitPurchaseWalletAction,
];
