// SPDX-License-Identifier: MIT
pragma solidity >=0.8.4;

/// @title ICommonErrors
/// @notice The errors that both the registrar contract and the funding source revert with.
interface ICommonErrors {
    /// @notice The calldata of a function with static arguments has bytes after its arguments.
    /// @param actual The length of the calldata in bytes, selector included.
    /// @param expected The length of the canonical ABI encoding in bytes.
    error NonCanonicalLength(uint256 actual, uint256 expected);

    /// @notice The calldata decodes to its arguments without being their canonical ABI encoding.
    /// @param actual keccak256 of the calldata.
    /// @param expected keccak256 of the canonical encoding.
    error NonCanonicalEncoding(bytes32 actual, bytes32 expected);

    /// @notice The token did not move exactly the amount: a balance differs from the one that the transfer should leave.
    /// @param token The ERC-20 token.
    /// @param account The sender or the receiver, whichever balance is wrong.
    /// @param actual The account's balance after the transfer.
    /// @param expected The balance that it should have.
    error InexactTransfer(address token, address account, uint256 actual, uint256 expected);

    /// @notice The token's `transferFrom` returned something other than true or nothing.
    /// @param token The ERC-20 token.
    error SafeERC20FailedOperation(address token);
}
