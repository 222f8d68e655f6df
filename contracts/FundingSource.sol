// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

import {CanonicalCalldata} from "./CanonicalCalldata.sol";
import {ExactTransfer} from "./ExactTransfer.sol";
import {IFundingSource} from "./interfaces/IFundingSource.sol";

/// @title FundingSource
/// @notice The spender that merchants approve for refunds. Only the registrar contract that deployed it may draw.
/// @dev It is not the registrar contract, because an allowance for payments must never fund a refund, nor an allowance for
/// refunds a payment. It holds no tokens and has no storage; the registrar contract checks the cap, the validity and the
/// operator.
contract FundingSource is IFundingSource, CanonicalCalldata {
    using ExactTransfer for IERC20;

    /// @inheritdoc IFundingSource
    address public immutable registrar;

    /// @notice Sets the deployer as the registrar contract. It cannot change.
    constructor() {
        registrar = msg.sender;
    }

    /// @inheritdoc IFundingSource
    function draw(address token, address from, address to, uint256 amount) external canonical(4) {
        if (msg.sender != registrar) revert NotRegistrar(msg.sender, registrar);
        IERC20(token).exactTransferFrom(from, to, amount);
    }
}
