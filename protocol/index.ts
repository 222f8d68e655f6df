/** Signs, hashes and encodes all messages and calls, and checks whether a transaction is the expected one. */

export * from "./binding/check-binding.ts";
export * from "./binding/expected-transaction.ts";
export * from "./binding/match-log.ts";
export * from "./binding/observed-transaction.ts";
export * from "./binding/recompute-envelope.ts";
export * from "./call.ts";
export * from "./messages/claim.ts";
export * from "./messages/commitment.ts";
export * from "./messages/domain.ts";
export * from "./messages/enrollment.ts";
export * from "./messages/funding-authorization.ts";
export * from "./messages/permit.ts";
export * from "./messages/wallet-signature.ts";
export * from "./signatures/decision.ts";
export * from "./signatures/delivery-receipt.ts";
export * from "./signatures/ed25519.ts";
export * from "./signatures/webhook.ts";
export * from "./values/amount.ts";
export * from "./values/canonical-json.ts";
export * from "./values/id.ts";
export * from "./values/time.ts";
