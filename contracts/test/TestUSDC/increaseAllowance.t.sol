// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {TokenFixture} from "./TokenFixture.t.sol";

contract IncreaseAllowanceTest is TokenFixture {
    function test_anAllowanceIsRaised() public {
        vm.prank(alice);
        usdc.approve(bob, 1);
        expectLog(address(usdc));
        emit IERC20.Approval(alice, bob, 3);
        vm.prank(alice);
        eq(usdc.increaseAllowance(bob, 2), true, "answer");
        eq(usdc.allowance(alice, bob), 3, "allowance");
    }

    function test_anOverflowReverts() public {
        vm.prank(alice);
        usdc.approve(bob, 1);
        refuses("SafeMath: addition overflow");
        vm.prank(alice);
        usdc.increaseAllowance(bob, type(uint256).max);
    }

    function test_callingWhilePausedReverts() public {
        pause();
        refusesPaused();
        vm.prank(alice);
        usdc.increaseAllowance(bob, 1);
    }
}
