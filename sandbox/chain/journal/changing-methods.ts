/** Calls that change accounts and contracts between blocks. */
export const accountMethods = [
  "anvil_setBalance",
  "hardhat_setBalance",
  "tenderly_setBalance",
  "anvil_addBalance",
  "hardhat_addBalance",
  "tenderly_addBalance",
  "anvil_dealERC20",
  "anvil_setERC20Balance",
  "hardhat_dealERC20",
  "anvil_setERC20Allowance",
  "anvil_setCode",
  "hardhat_setCode",
  "anvil_setStorageAt",
  "hardhat_setStorageAt",
] as const;

/** Calls that set an account's next nonce. */
export const nonceMethods = ["anvil_setNonce", "hardhat_setNonce", "evm_setAccountNonce"] as const;

/** Calls that say for which accounts a node sends without their keys. */
export const impersonationMethods = [
  "anvil_impersonateAccount",
  "hardhat_impersonateAccount",
  "anvil_stopImpersonatingAccount",
  "hardhat_stopImpersonatingAccount",
  "anvil_autoImpersonateAccount",
  "hardhat_autoImpersonateAccount",
] as const;

/** The call that says whose a signature is; no call takes it back. */
export const signatureMethod = "anvil_impersonateSignature";

/** Calls that change what the next blocks are made with. */
export const gasMethods = [
  "evm_setBlockGasLimit",
  "anvil_setBlockGasLimit",
  "anvil_setNextBlockBaseFeePerGas",
  "hardhat_setNextBlockBaseFeePerGas",
] as const;

/** Calls that take transactions out of the pool. */
export const dropMethods = [
  "anvil_dropTransaction",
  "hardhat_dropTransaction",
  "anvil_dropAllTransactions",
  "hardhat_dropAllTransactions",
  "anvil_removePoolTransactions",
] as const;

const changing: ReadonlySet<string> = new Set([
  ...accountMethods,
  ...nonceMethods,
  ...impersonationMethods,
  signatureMethod,
  ...gasMethods,
  ...dropMethods,
]);

const placed: ReadonlySet<string> = new Set([...accountMethods, ...nonceMethods, ...gasMethods]);

const dropping: ReadonlySet<string> = new Set(dropMethods);

/** Calls that take the number of blocks in their first param off the chain; 1 block when a rollback names none. */
const rewinding: ReadonlySet<string> = new Set(["anvil_reorg", "anvil_rollback"]);

/** Returns whether a call changes the chain between blocks, so that no block shows it. */
export function isChanging(method: string): boolean {
  return changing.has(method);
}

/** Returns whether the effect of a call depends on its place before or after a block. */
export function isPlaced(method: string): boolean {
  return placed.has(method);
}

/** Returns whether a call takes transactions out of the pool. */
export function isDropping(method: string): boolean {
  return dropping.has(method);
}

/** Returns whether a call takes blocks off the chain. */
export function isRewinding(method: string): boolean {
  return rewinding.has(method);
}
