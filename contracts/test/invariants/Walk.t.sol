// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Assertions} from "../Assertions.t.sol";
import {Handler} from "./Handler.t.sol";

/// @title Walk
/// @notice A long random sequence of the handler's calls.
/// @dev Shows that the random calls reach everything: each function succeeds and reverts at least once.
contract WalkTest is Assertions {
    uint256 private constant STEPS = 900;
    Handler private handler;
    uint256 private _seed;

    function setUp() public {
        handler = new Handler();
    }

    function draw() private returns (uint256) {
        return uint256(keccak256(abi.encode("walk", ++_seed)));
    }

    function test_aLongRandomWalkSucceedsAndRevertsInEveryFunction() public {
        for (uint256 i = 0; i < STEPS; ++i) {
            walk(draw() % 44);
        }
        string[14] memory steps = [
            "openProgram",
            "setBounds",
            "setPaused",
            "enroll",
            "revokeFunding",
            "offer",
            "register",
            "withdrawOffer",
            "expire",
            "pay",
            "payBatch",
            "payWithPermit",
            "claim",
            "collectRefund"
        ];
        for (uint256 i = 0; i < steps.length; ++i) {
            eq(handler.accepted(steps[i]) > 0, true, string.concat(steps[i], " is accepted at times"));
            eq(handler.refused(steps[i]) > 0, true, string.concat(steps[i], " is refused at times"));
        }
    }

    function walk(uint256 way) private {
        if (way < 2) handler.wait(draw());
        else if (way == 2) handler.waitForDeadline(draw(), draw() % 2 == 0, draw() % 2 == 0);
        else if (way == 3) handler.setBehavior(draw());
        else if (way == 4) handler.setTokenPaused(draw());
        else if (way == 5) handler.setBlocked(draw(), draw());
        else if (way == 6) handler.bypass(draw(), draw(), draw());
        else if (way == 7) handler.openProgram(draw(), draw());
        else if (way == 8) handler.setBounds(draw(), draw(), draw(), draw(), draw());
        else if (way == 9) handler.setPaused(draw(), draw(), draw());
        else if (way < 12) handler.enroll(draw(), draw(), draw(), draw(), draw(), draw());
        else if (way == 12) handler.revokeFunding(draw(), draw());
        else if (way < 19) handler.offer(draw(), draw(), draw(), draw());
        else if (way < 23) handler.register(draw(), draw(), draw(), draw());
        else if (way == 23) handler.withdrawOffer(draw(), draw());
        else if (way == 24) handler.expire(draw());
        else if (way < 30) handler.pay(draw(), draw(), draw());
        else if (way < 33) handler.payBatch(draw(), draw(), draw(), draw());
        else if (way < 36) handler.claim(draw(), draw(), draw());
        else if (way < 40) handler.collectRefund(draw(), draw(), draw(), draw());
        else if (way < 43) handler.payWithPermit(draw(), draw(), draw(), draw());
        else handler.approve(draw(), draw(), draw());
    }
}
