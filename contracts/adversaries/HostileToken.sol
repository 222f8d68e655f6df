// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title HostileToken
/// @notice An ERC-20 whose `transferFrom` misbehaves in the way that it was last told to.
contract HostileToken is ERC20 {
    enum Manner {
        Honest,
        /// The receiver gets one unit less.
        FeeFromReceiver,
        /// The sender loses one unit more.
        FeeFromSender,
        /// The receiver gets one unit more.
        Bonus,
        /// Nothing moves and the answer is true.
        Silent,
        /// Everything moves and the answer is false.
        FalseAnswer,
        /// Everything moves and there is no answer, as with the oldest tokens.
        NoAnswer,
        /// Everything moves and the answer is neither true nor false.
        OddAnswer,
        /// Everything moves, and a call is made before it.
        Reentrant,
        Reverting
    }

    Manner public manner;

    /// @notice The call that a reentrant transfer makes, and how it went.
    address public target;
    bytes public data;
    bool public calledBack;
    bool public succeeded;
    bytes public answer;

    constructor() ERC20("Hostile", "HOSTILE") {}

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function setManner(Manner manner_) external {
        manner = manner_;
    }

    /// @notice From now on every transfer calls `target_` first, as the token.
    function reenter(address target_, bytes calldata data_) external {
        manner = Manner.Reentrant;
        target = target_;
        data = data_;
    }

    /// @notice Calls as the token, so that the token can be a party of a purchase.
    function act(address target_, bytes calldata data_) external returns (bytes memory) {
        (bool success, bytes memory returned) = target_.call(data_);
        if (!success) {
            assembly ("memory-safe") {
                revert(add(returned, 0x20), mload(returned))
            }
        }
        return returned;
    }

    function transferFrom(address from, address to, uint256 value) public override returns (bool) {
        if (manner == Manner.Reverting) revert("HostileToken: no");
        if (manner == Manner.Silent) return true;
        if (manner == Manner.Reentrant) {
            calledBack = true;
            (succeeded, answer) = target.call(data);
        }
        super.transferFrom(from, to, value);
        if (manner == Manner.FeeFromReceiver) _burn(to, 1);
        if (manner == Manner.FeeFromSender) _burn(from, 1);
        if (manner == Manner.Bonus) _mint(to, 1);
        if (manner == Manner.NoAnswer) {
            assembly ("memory-safe") {
                return(0, 0)
            }
        }
        if (manner == Manner.OddAnswer) {
            assembly ("memory-safe") {
                mstore(0, 2)
                return(0, 32)
            }
        }
        return manner != Manner.FalseAnswer;
    }
}
