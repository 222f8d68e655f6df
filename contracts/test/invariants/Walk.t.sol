// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Assertions} from "../Assertions.t.sol";
import {World} from "./World.t.sol";

/// @title Walk
/// @notice One long random walk through the world that the invariants are checked in.
/// @dev Shows that the random steps reach everything: each step is accepted at times and refused at times.
contract WalkTest is Assertions {
    uint256 private constant STEPS = 900;
    World private world;
    uint256 private _seed;

    function setUp() public {
        world = new World();
    }

    function draw() private returns (uint256) {
        return uint256(keccak256(abi.encode("walk", ++_seed)));
    }

    function test_aLongWalkTakesEveryStepAndIsRefusedEveryStep() public {
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
            eq(world.accepted(steps[i]) > 0, true, string.concat(steps[i], " is accepted at times"));
            eq(world.refused(steps[i]) > 0, true, string.concat(steps[i], " is refused at times"));
        }
    }

    function walk(uint256 way) private {
        if (way < 2) world.wait(draw());
        else if (way == 2) world.waitForDeadline(draw(), draw() % 2 == 0, draw() % 2 == 0);
        else if (way == 3) world.setManner(draw());
        else if (way == 4) world.setTokenPaused(draw());
        else if (way == 5) world.setBlocked(draw(), draw());
        else if (way == 6) world.bypass(draw(), draw(), draw());
        else if (way == 7) world.openProgram(draw(), draw());
        else if (way == 8) world.setBounds(draw(), draw(), draw(), draw(), draw());
        else if (way == 9) world.setPaused(draw(), draw(), draw());
        else if (way < 12) world.enroll(draw(), draw(), draw(), draw(), draw(), draw());
        else if (way == 12) world.revokeFunding(draw(), draw());
        else if (way < 19) world.offer(draw(), draw(), draw(), draw());
        else if (way < 23) world.register(draw(), draw(), draw(), draw());
        else if (way == 23) world.withdrawOffer(draw(), draw());
        else if (way == 24) world.expire(draw());
        else if (way < 30) world.pay(draw(), draw(), draw());
        else if (way < 33) world.payBatch(draw(), draw(), draw(), draw());
        else if (way < 36) world.claim(draw(), draw(), draw());
        else if (way < 40) world.collectRefund(draw(), draw(), draw(), draw());
        else if (way < 43) world.payWithPermit(draw(), draw(), draw(), draw());
        else world.approve(draw(), draw(), draw());
    }
}
