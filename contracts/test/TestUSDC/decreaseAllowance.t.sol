// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {TokenFixture} from "./TokenFixture.t.sol";

contract DecreaseAllowanceTest is TokenFixture {
    function setUp() public override {
        super.setUp();
        vm.prank(alice);
        usdc.approve(bob, 3);
    }

    function test_anAllowanceIsLowered() public {
        expectLog(address(usdc));
        emit IERC20.Approval(alice, bob, 1);
        vm.prank(alice);
        eq(usdc.decreaseAllowance(bob, 2), true, "answer");
        eq(usdc.allowance(alice, bob), 1, "allowance");
    }

    function test_decreasingBelowZeroReverts() public {
        vm.prank(alice);
        usdc.decreaseAllowance(bob, 3);
        eq(usdc.allowance(alice, bob), 0, "allowance");
        refuses("ERC20: decreased allowance below zero");
        vm.prank(alice);
        usdc.decreaseAllowance(bob, 1);
    }

    function test_callingWhilePausedReverts() public {
        pause();
        refusesPaused();
        vm.prank(alice);
        usdc.decreaseAllowance(bob, 1);
    }
}
