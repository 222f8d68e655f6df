import { parseAbi } from "viem";

/** What attacks call on ContractWallet: wallets with code, in the shapes that they come in. */
export const contractWalletAbi = parseAbi([
  "struct Call { address target; bytes data; }",
  "function forward(address target, bytes data) payable returns (bytes)",
  "function multicall(Call[] calls) payable",
  "function attempt(address target, bytes data) payable returns (bool)",
  "function delegate(address target, bytes data) payable returns (bytes)",
]);

/** What attacks call on LookalikeRegistrar: any log, from another address. */
export const lookalikeAbi = parseAbi([
  "struct Payment { bytes32 id; address buyer; address merchant; uint32 sequence; uint256 amount; uint256 paidTotal; }",
  "function pretendPayment(Payment p)",
  "function emitLog(bytes32[] topics, bytes data)",
]);
