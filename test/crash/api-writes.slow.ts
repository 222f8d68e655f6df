import { crashAtWrites } from "./api-writes.ts";

// One write of each kind: records only, a relayed transaction, a delivery. All of them are in the full form.
crashAtWrites(["createMerchant", "executeRefund", "deliverNotification"]);
