// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

import {CanonicalCalldata} from "./CanonicalCalldata.sol";
import {ExactTransfer} from "./ExactTransfer.sol";
import {IFundingSource} from "./interfaces/IFundingSource.sol";

/// @title FundingSource
/// @notice The spender that merchants approve for refunds; only the registrar contract that deployed it may draw on it.
/// @dev A spender of its own, so that an allowance given for paying can never fund a refund and an allowance given for
/// refunds can never pay. It holds no token, keeps no state and decides nothing: the registrar contract checks the cap, the
/// validity and the caller.
contract FundingSource is IFundingSource, CanonicalCalldata {
    using ExactTransfer for IERC20;

    /// @inheritdoc IFundingSource
    address public immutable registrar;

    /// @notice Makes the deployer the registrar contract, permanently.
    constructor() {
        registrar = msg.sender;
    }

    /// @inheritdoc IFundingSource
    function draw(address token, address from, address to, uint256 amount) external canonical(4) {
        if (msg.sender != registrar) revert NotRegistrar(msg.sender, registrar);
        IERC20(token).exactTransferFrom(from, to, amount);
    }
}
