// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

import {ICommonErrors} from "./interfaces/ICommonErrors.sol";

/// @title ExactTransfer
/// @notice A `transferFrom` that reverts unless exactly the requested amount moves.
/// @dev A token may take a fee, move less, or move nothing and return true. The registrar contract records the requested
/// amount, so both balances must change by exactly this amount.
library ExactTransfer {
    using SafeERC20 for IERC20;

    /// @dev Reverts if `from` and `to` are equal and `amount` is not 0, because such a transfer changes no balance.
    function exactTransferFrom(IERC20 token, address from, address to, uint256 amount) internal {
        uint256 fromExpected = token.balanceOf(from);
        uint256 toExpected = token.balanceOf(to);
        token.safeTransferFrom(from, to, amount);
        unchecked {
            // If the token moved more than the sender had, this wraps around, and the comparison below fails.
            fromExpected -= amount;
            toExpected += amount;
        }
        uint256 actual = token.balanceOf(from);
        if (actual != fromExpected) {
            revert ICommonErrors.InexactTransfer(address(token), from, actual, fromExpected);
        }
        actual = token.balanceOf(to);
        if (actual != toExpected) revert ICommonErrors.InexactTransfer(address(token), to, actual, toExpected);
    }
}
