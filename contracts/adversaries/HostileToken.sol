// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol";

/// @title HostileToken
/// @notice An ERC-20 with EIP-2612 whose transfers or permits misbehave in the way that it was last told to.
contract HostileToken is ERC20Permit {
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
        Reverting,
        /// A permit sets no allowance and does not revert, as with tokens whose fallback accepts any call.
        PermitSilent,
        PermitReverting,
        /// A permit sets its allowance, and a call is made before it.
        PermitReentrant
    }

    Manner public manner;

    /// @notice The call that a reentrant transfer makes, and how it went.
    address public target;
    bytes public data;
    bool public calledBack;
    bool public succeeded;
    bytes public answer;

    constructor() ERC20("Hostile", "HOSTILE") ERC20Permit("Hostile") {}

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function setManner(Manner manner_) external {
        manner = manner_;
    }

    /// @notice From now on every transfer, or every permit, calls `target_` first, as the token.
    function reenter(Manner manner_, address target_, bytes calldata data_) external {
        manner = manner_;
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

    function transfer(address to, uint256 value) public override returns (bool) {
        if (_misbehavesBefore()) return true;
        super.transfer(to, value);
        return _misbehavesAfter(msg.sender, to);
    }

    function transferFrom(address from, address to, uint256 value) public override returns (bool) {
        if (_misbehavesBefore()) return true;
        super.transferFrom(from, to, value);
        return _misbehavesAfter(from, to);
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
        if (manner == Manner.PermitSilent) return;
        if (manner == Manner.PermitReverting) revert("HostileToken: no permit");
        if (manner == Manner.PermitReentrant) _callBack();
        super.permit(owner, spender, value, deadline, v, r, s);
    }

    function _misbehavesBefore() private returns (bool nothingMoves) {
        if (manner == Manner.Reverting) revert("HostileToken: no");
        if (manner == Manner.Reentrant) _callBack();
        return manner == Manner.Silent;
    }

    function _misbehavesAfter(address from, address to) private returns (bool) {
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

    function _callBack() private {
        calledBack = true;
        (succeeded, answer) = target.call(data);
    }
}
