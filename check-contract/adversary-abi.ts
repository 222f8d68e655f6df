import { parseAbi } from "viem";

/** The functions of ContractWallet that attacks call. */
export const contractWalletAbi = parseAbi([
  "struct Call { address target; bytes data; }",
  "function forward(address target, bytes data) payable returns (bytes)",
  "function multicall(Call[] calls) payable",
  "function attempt(address target, bytes data) payable returns (bool)",
  "function delegate(address target, bytes data) payable returns (bytes)",
]);

/** The functions of LookalikeRegistrar that attacks call: they emit any log from another address. */
export const lookalikeAbi = parseAbi([
  "struct Payment { bytes32 id; address buyer; address merchant; uint32 sequence; uint256 amount; uint256 paidTotal; }",
  "function emitPayment(Payment p)",
  "function emitLog(bytes32[] topics, bytes data)",
]);

/** The function of ContractSigner that attacks call: 1 makes it accept every signature (`Behavior.AcceptsAll`). */
export const contractSignerAbi = parseAbi(["function setBehavior(uint8 behavior)"]);

/** The functions of HostileToken that calls use. */
export const hostileTokenAbi = parseAbi([
  "function mint(address to, uint256 amount)",
  "function approve(address spender, uint256 value) returns (bool)",
  "function setBehavior(uint8 behavior)",
  "function reenter(uint8 behavior, address target, bytes data)",
  "function succeeded() view returns (bool)",
  "function answer() view returns (bytes)",
]);

/** `HostileToken.Behavior.Reentrant`: each transfer makes the call that `reenter` was given. */
export const reentrantBehavior = 8;
