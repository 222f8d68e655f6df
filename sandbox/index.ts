/** A sandbox in a test or a program: `createSandbox()`, what it returns, and what it throws. */
export { FaultInvalidError, RelayerError } from "../relayer/errors.ts";
export type { Log } from "../server/http/services.ts";
export { AnvilError, type AnvilErrorCode } from "./chain/anvil/anvil-error.ts";
export { ClockError } from "./chain/clock/duration.ts";
export { GenesisError, type GenesisErrorCode } from "./chain/genesis/genesis-error.ts";
export type { WalletName } from "./chain/genesis/roles.ts";
export type { ExplainDecision } from "./explain/decisions/explain-decision.ts";
export type { ExplainCall } from "./explain/explain.ts";
export type { UnsentCall } from "./explain/explain-call.ts";
export type { ExplainOptions } from "./explain/explain-transaction.ts";
export type { CallExplanation, Explanation } from "./explain/explanation.ts";
export type { ExplainTypedData } from "./explain/signatures/explain-typed-data.ts";
export type { SignatureMistake, SignatureMistakeName } from "./explain/signatures/mistakes.ts";
export type {
  DecisionExplanation,
  TypedDataExplanation,
} from "./explain/signatures/signature-explanation.ts";
export type { UnsignedTypedData } from "./explain/signatures/typed-data.ts";
export type { Fault } from "./faults/fault.ts";
export type { FaultIntent, FaultLayer } from "./faults/fault-matrix.ts";
export type { FaultIntentOptions, FaultRequest } from "./faults/fault-request.ts";
export type { Faults } from "./faults/faults.ts";
export type { Reviewer, Verdict } from "./given/actors/reviewer.ts";
export type {
  Given,
  GivenClaim,
  GivenDecision,
  GivenMerchant,
  GivenPurchase,
  GivenRefund,
} from "./given/given.ts";
export { GivenInvalidError } from "./given/given-invalid-error.ts";
export type { MerchantOptions, PurchaseOptions } from "./given/options.ts";
export type { MerchantState, PurchaseState, Route } from "./given/states.ts";
export { SandboxError, type SandboxErrorCode } from "./lib/errors/sandbox-error.ts";
export type { Part } from "./lib/part.ts";
export type { SandboxDescription, SandboxUrls } from "./options/description.ts";
export type { SandboxOptions } from "./options/options.ts";
export type { ProgramOption } from "./options/programs.ts";
export type { Scenario } from "./scenarios/scenario.ts";
export { readScenario, writeScenario } from "./scenarios/scenario-file.ts";
export type { Fingerprint } from "./snapshots/fingerprint.ts";
export type { Snapshot } from "./snapshots/snapshot.ts";
export type { TestWallet } from "./wallets/test-wallet.ts";
