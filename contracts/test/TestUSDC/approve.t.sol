// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {TokenFixture} from "./TokenFixture.t.sol";

contract ApproveTest is TokenFixture {
    function test_anAllowanceIsReplaced() public {
        vm.prank(alice);
        usdc.approve(bob, 1);
        expectLog(address(usdc));
        emit IERC20.Approval(alice, bob, 2);
        vm.prank(alice);
        eq(usdc.approve(bob, 2), true, "answer");
        eq(usdc.allowance(alice, bob), 2, "allowance");
    }

    function test_theZeroAddressReverts() public {
        refuses("ERC20: approve to the zero address");
        vm.prank(alice);
        usdc.approve(address(0), 1);
        refuses("ERC20: approve from the zero address");
        vm.prank(address(0));
        usdc.approve(bob, 1);
    }

    function test_callingWhilePausedReverts() public {
        pause();
        refusesPaused();
        vm.prank(alice);
        usdc.approve(bob, 1);
    }

    function test_theBlocklistIsNotChecked() public {
        block_(alice);
        block_(bob);
        vm.prank(alice);
        usdc.approve(bob, 1);
        eq(usdc.allowance(alice, bob), 1, "allowance");
    }
}
