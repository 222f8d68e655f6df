// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPurchaseRegistrar} from "../interfaces/IPurchaseRegistrar.sol";

/// @title LookalikeRegistrar
/// @notice Emits any log that the caller requests, including the registrar contract's logs, and moves no tokens.
/// @dev Its logs differ from the registrar contract's logs only in the emitter's address.
contract LookalikeRegistrar {
    struct Payment {
        bytes32 id;
        address buyer;
        address merchant;
        uint32 sequence;
        uint256 amount;
        uint256 paidTotal;
    }

    /// @notice Emits the log of a payment without a payment.
    function emitPayment(Payment calldata p) external {
        emit IPurchaseRegistrar.PurchasePaid(p.id, p.buyer, p.merchant, p.sequence, p.amount, p.paidTotal);
    }

    /// @notice Has the selector of the registrar contract's `pay` and emits the same log.
    function pay(bytes32 id, uint256 amount) external {
        emit IPurchaseRegistrar.PurchasePaid(id, msg.sender, address(this), 2, amount, amount);
    }

    /// @notice Has the selector of the registrar contract's `payWithPermit` and emits the same log. Submits no permit.
    function payWithPermit(bytes32 id, uint256 amount, uint256, uint8, bytes32, bytes32) external {
        emit IPurchaseRegistrar.PurchasePaid(id, msg.sender, address(this), 2, amount, amount);
    }

    /// @notice Emits a log with up to four topics, for example with other indexed arguments, extra data or a missing topic.
    function emitLog(bytes32[] calldata topics, bytes calldata data) external {
        bytes memory copy = data;
        uint256 count = topics.length;
        bytes32[4] memory t;
        for (uint256 i = 0; i < count; ++i) {
            t[i] = topics[i];
        }
        assembly ("memory-safe") {
            let start := add(copy, 0x20)
            let length := mload(copy)
            switch count
            case 0 { log0(start, length) }
            case 1 { log1(start, length, mload(t)) }
            case 2 { log2(start, length, mload(t), mload(add(t, 0x20))) }
            case 3 { log3(start, length, mload(t), mload(add(t, 0x20)), mload(add(t, 0x40))) }
            default {
                log4(start, length, mload(t), mload(add(t, 0x20)), mload(add(t, 0x40)), mload(add(t, 0x60)))
            }
        }
    }
}
