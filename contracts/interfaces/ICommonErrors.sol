// SPDX-License-Identifier: MIT
pragma solidity >=0.8.4;

/// @title ICommonErrors
/// @notice Errors of both the registrar contract and the funding source.
interface ICommonErrors {
    /// @notice The calldata has extra bytes after the arguments.
    /// @param actual Length of the calldata in bytes, including the selector.
    /// @param expected Length of the canonical ABI encoding in bytes, including the selector.
    error NonCanonicalLength(uint256 actual, uint256 expected);

    /// @notice The calldata is not the canonical ABI encoding of its arguments.
    /// @param actual keccak256 of the calldata.
    /// @param expected keccak256 of the canonical encoding.
    error NonCanonicalEncoding(bytes32 actual, bytes32 expected);

    /// @notice The token did not move exactly the amount.
    /// @param token The ERC-20 token.
    /// @param account The sender or receiver whose balance is wrong after the transfer.
    /// @param actual The account's balance after the transfer.
    /// @param expected The balance that an exact transfer leaves.
    error InexactTransfer(address token, address account, uint256 actual, uint256 expected);

    /// @notice The token's `transferFrom` returned something other than true or nothing.
    /// @param token The ERC-20 token.
    error SafeERC20FailedOperation(address token);
}
