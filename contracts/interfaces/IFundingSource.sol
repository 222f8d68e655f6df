// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title IFundingSource
/// @notice The spender that merchants approve for refunds; only its registrar may draw on it.
interface IFundingSource {
    /// @notice The only contract that may draw.
    function registrar() external view returns (address);

    /// @notice Transfers exactly `amount` base units of `token` from `from` to `to`.
    function draw(address token, address from, address to, uint256 amount) external;
}
