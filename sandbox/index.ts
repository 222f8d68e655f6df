/** A sandbox in a test or a program: `createSandbox()`, what it returns, and what it throws. */
export { FaultInvalidError, RelayerError } from "../relayer/errors.ts";
export { AnvilError, type AnvilErrorCode } from "./anvil/anvil-error.ts";
export { ClockError } from "./clock/clock-error.ts";
export { createSandbox, type Sandbox } from "./create-sandbox.ts";
export type { SandboxDescription, SandboxUrls } from "./description.ts";
export type { Explanation } from "./explain/explanation.ts";
export type { Fingerprint } from "./fingerprint.ts";
export { GenesisError, type GenesisErrorCode } from "./genesis/genesis-error.ts";
export type { WalletName } from "./genesis/roles.ts";
export type { Log, SandboxOptions } from "./options.ts";
export type { ProgramOption } from "./programs.ts";
export { SandboxError, type SandboxErrorCode } from "./sandbox-error.ts";
export { playScenario, ScenarioDifferenceError } from "./scenario/play-scenario.ts";
export type { Scenario } from "./scenario/scenario.ts";
export { readScenario, writeScenario } from "./scenario/scenario-file.ts";
export type { Snapshot } from "./snapshot.ts";
export { TestWallet } from "./wallets/test-wallet.ts";
