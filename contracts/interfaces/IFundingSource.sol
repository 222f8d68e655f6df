// SPDX-License-Identifier: MIT
pragma solidity >=0.8.4;

import {ICommonErrors} from "./ICommonErrors.sol";

/// @title IFundingSource
/// @notice The spender that merchants approve for refunds. Only its registrar contract may draw.
interface IFundingSource is ICommonErrors {
    /// @notice The caller is not the registrar contract.
    /// @param actual The caller.
    /// @param expected The registrar contract.
    error NotRegistrar(address actual, address expected);

    /// @notice Transfers exactly `amount` from `from` to `to`, with the allowance that `from` gave to this contract.
    /// @dev Only for the registrar contract.
    /// @param token The ERC-20 token.
    /// @param from The merchant's wallet.
    /// @param to The beneficiary.
    /// @param amount The amount in base units of the token.
    function draw(address token, address from, address to, uint256 amount) external;

    /// @notice Returns the registrar contract, the only caller that may draw.
    /// @return The address of the registrar contract, which deployed this contract.
    function registrar() external view returns (address);
}
