/** A sandbox in a test or a program: `createSandbox()`, what it returns, and what it throws. */
export { FaultInvalidError, RelayerError } from "../relayer/errors.ts";
export type { Log } from "../server/services.ts";
export { AnvilError, type AnvilErrorCode } from "./chain/anvil/anvil-error.ts";
export { ClockError } from "./chain/clock/clock-error.ts";
export { GenesisError, type GenesisErrorCode } from "./chain/genesis/genesis-error.ts";
export type { WalletName } from "./chain/genesis/roles.ts";
export type { DecisionExplanation } from "./hosts/explain/decisions/decision-explanation.ts";
export type { ExplainDecision } from "./hosts/explain/decisions/explain-decision.ts";
export type { ExplainCall } from "./hosts/explain/explain.ts";
export type { UnsentCall } from "./hosts/explain/explain-call.ts";
export type { ExplainOptions } from "./hosts/explain/explain-transaction.ts";
export type { CallExplanation, Explanation } from "./hosts/explain/explanation.ts";
export type { ExplainTypedData } from "./hosts/explain/signatures/explain-typed-data.ts";
export type { SignatureMistake, SignatureMistakeName } from "./hosts/explain/signatures/mistakes.ts";
export type { TypedDataExplanation } from "./hosts/explain/signatures/signature-explanation.ts";
export type { UnsignedTypedData } from "./hosts/explain/signatures/typed-data.ts";
export type { Scenario } from "./hosts/recorder/scenario.ts";
export { readScenario, writeScenario } from "./hosts/recorder/scenario-file.ts";
export { SandboxError, type SandboxErrorCode } from "./lib/errors/sandbox-error.ts";
export type { Part } from "./lib/part.ts";
export type { SandboxOptions } from "./options/options.ts";
export type { ProgramOption } from "./options/programs.ts";
export type { Fault } from "./service/faults/fault.ts";
export type { FaultIntent, FaultLayer } from "./service/faults/fault-matrix.ts";
export type { FaultIntentOptions, FaultRequest } from "./service/faults/fault-request.ts";
export type { Faults } from "./service/faults/faults.ts";
export type { Reviewer, Verdict } from "./service/given/actors/reviewer.ts";
export type {
  Given,
  GivenClaim,
  GivenDecision,
  GivenMerchant,
  GivenPurchase,
  GivenRefund,
} from "./service/given/given.ts";
export { GivenInvalidError } from "./service/given/given-invalid-error.ts";
export type { MerchantOptions, PurchaseOptions } from "./service/given/options.ts";
export type { MerchantState, PurchaseState, Route } from "./service/given/states.ts";
export type { TestWallet } from "./service/wallets/test-wallet.ts";
export type { SandboxDescription, SandboxUrls } from "./state/description.ts";
export type { Fingerprint } from "./state/fingerprint.ts";
export type { Snapshot } from "./state/snapshot.ts";
