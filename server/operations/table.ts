import type { Operation } from "../http/operation.ts";
import { activatePurchase } from "./activate-purchase.ts";
import { capabilities } from "./capabilities.ts";
import { confirmEnrollment } from "./confirm-enrollment.ts";
import { confirmRegistration } from "./confirm-registration.ts";
import { createMerchant } from "./create-merchant.ts";
import { createPurchase } from "./create-purchase.ts";
import { deliverNotification } from "./deliver-notification.ts";
import { executeRefund } from "./execute-refund.ts";
import { fileClaim } from "./file-claim.ts";
import { issueAccess } from "./issue-access.ts";
import { listReceipts } from "./list-receipts.ts";
import { listTransactions } from "./list-transactions.ts";
import { readProgram } from "./read-program.ts";
import { readPurchase } from "./read-purchase.ts";
import { readMerchantWallet, readPurchaseWallet } from "./read-wallet.ts";
import { receiveNotification } from "./receive-notification.ts";
import { reconcilePurchase } from "./reconcile-purchase.ts";
import { recordDecision } from "./record-decision.ts";
import { submitMerchantWalletAction, submitPurchaseWalletAction } from "./submit-wallet-action.ts";

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
