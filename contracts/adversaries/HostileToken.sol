// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol";

/// @title HostileToken
/// @notice An ERC-20 token with EIP-2612 permits whose transfers or permits behave as configured.
contract HostileToken is ERC20Permit {
    enum Behavior {
        /// As OpenZeppelin's ERC20Permit.
        Standard,
        /// The receiver gets one unit less.
        FeeOnReceiver,
        /// The sender loses one unit more.
        FeeOnSender,
        /// The receiver gets one unit more.
        ExtraCredit,
        /// Nothing moves, and `transfer` returns true.
        NoTransfer,
        /// The amount moves, and `transfer` returns false.
        ReturnsFalse,
        /// The amount moves, and `transfer` returns nothing, as in early tokens.
        ReturnsNothing,
        /// The amount moves, and `transfer` returns 2, which is neither true nor false.
        ReturnsTwo,
        /// The token calls `target`, then the amount moves.
        Reentrant,
        Reverting,
        /// `permit` sets no allowance and does not revert, as in a token whose fallback accepts any call.
        PermitNoEffect,
        PermitReverting,
        /// The token calls `target`, then `permit` sets its allowance.
        PermitReentrant
    }

    Behavior public behavior;

    /// @notice The call that a reentrant transfer or permit makes, and its result.
    address public target;
    bytes public data;
    bool public reentered;
    bool public succeeded;
    bytes public answer;

    constructor() ERC20("Hostile", "HOSTILE") ERC20Permit("Hostile") {}

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function setBehavior(Behavior behavior_) external {
        behavior = behavior_;
    }

    /// @notice Makes every transfer, or every permit, call `target_` first.
    function reenter(Behavior behavior_, address target_, bytes calldata data_) external {
        behavior = behavior_;
        target = target_;
        data = data_;
    }

    /// @notice Makes the token call `target_`, so that the token can be a party of a purchase.
    function act(address target_, bytes calldata data_) external returns (bytes memory) {
        (bool success, bytes memory returned) = target_.call(data_);
        if (!success) {
            assembly ("memory-safe") {
                revert(add(returned, 0x20), mload(returned))
            }
        }
        return returned;
    }

    function transfer(address to, uint256 value) public override returns (bool) {
        if (_beforeTransfer()) return true;
        super.transfer(to, value);
        return _afterTransfer(msg.sender, to);
    }

    function transferFrom(address from, address to, uint256 value) public override returns (bool) {
        if (_beforeTransfer()) return true;
        super.transferFrom(from, to, value);
        return _afterTransfer(from, to);
    }

    function permit(
        address owner,
        address spender,
        uint256 value,
        uint256 deadline,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) public override {
        if (behavior == Behavior.PermitNoEffect) return;
        if (behavior == Behavior.PermitReverting) revert("HostileToken: no permit");
        if (behavior == Behavior.PermitReentrant) _reenter();
        super.permit(owner, spender, value, deadline, v, r, s);
    }

    function _beforeTransfer() private returns (bool nothingMoves) {
        if (behavior == Behavior.Reverting) revert("HostileToken: no");
        if (behavior == Behavior.Reentrant) _reenter();
        return behavior == Behavior.NoTransfer;
    }

    function _afterTransfer(address from, address to) private returns (bool) {
        if (behavior == Behavior.FeeOnReceiver) _burn(to, 1);
        if (behavior == Behavior.FeeOnSender) _burn(from, 1);
        if (behavior == Behavior.ExtraCredit) _mint(to, 1);
        if (behavior == Behavior.ReturnsNothing) {
            assembly ("memory-safe") {
                return(0, 0)
            }
        }
        if (behavior == Behavior.ReturnsTwo) {
            assembly ("memory-safe") {
                mstore(0, 2)
                return(0, 32)
            }
        }
        return behavior != Behavior.ReturnsFalse;
    }

    function _reenter() private {
        reentered = true;
        (succeeded, answer) = target.call(data);
    }
}
