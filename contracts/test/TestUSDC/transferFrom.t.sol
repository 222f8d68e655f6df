// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {TokenFixture} from "./TokenFixture.t.sol";

contract TransferFromTest is TokenFixture {
    function setUp() public override {
        super.setUp();
        vm.prank(alice);
        usdc.approve(carol, 500);
    }

    function test_aSpenderTransfers() public {
        expectLog(address(usdc));
        emit IERC20.Transfer(alice, bob, 500);
        vm.prank(carol);
        eq(usdc.transferFrom(alice, bob, 500), true, "answer");
        eq(usdc.balanceOf(alice), 500, "alice");
        eq(usdc.balanceOf(bob), 500, "bob");
        eq(usdc.allowance(alice, carol), 0, "allowance");
    }

    function test_anInfiniteAllowanceDecreases() public {
        vm.prank(alice);
        usdc.approve(carol, type(uint256).max);
        vm.prank(carol);
        usdc.transferFrom(alice, bob, 1);
        eq(usdc.allowance(alice, carol), type(uint256).max - 1, "allowance");
    }

    function test_exceedingTheAllowanceReverts() public {
        refuses("ERC20: transfer amount exceeds allowance");
        vm.prank(carol);
        usdc.transferFrom(alice, bob, 501);
    }

    function test_aHolderNeedsAnAllowanceFromItselfToo() public {
        refuses("ERC20: transfer amount exceeds allowance");
        vm.prank(alice);
        usdc.transferFrom(alice, bob, 1);
    }

    function test_exceedingTheBalanceReverts() public {
        vm.prank(alice);
        usdc.approve(carol, 2_000);
        refuses("ERC20: transfer amount exceeds balance");
        vm.prank(carol);
        usdc.transferFrom(alice, bob, 1_001);
    }

    function test_theZeroAddressAsReceiverReverts() public {
        refuses("ERC20: transfer to the zero address");
        vm.prank(carol);
        usdc.transferFrom(alice, address(0), 1);
    }

    function test_callingWhilePausedReverts() public {
        pause();
        refusesPaused();
        vm.prank(carol);
        usdc.transferFrom(alice, bob, 1);
    }

    function test_aBlockedSpenderReverts() public {
        block_(carol);
        refusesBlocked();
        vm.prank(carol);
        usdc.transferFrom(alice, bob, 1);
    }

    function test_aBlockedHolderReverts() public {
        block_(alice);
        refusesBlocked();
        vm.prank(carol);
        usdc.transferFrom(alice, bob, 1);
    }

    function test_aBlockedReceiverReverts() public {
        block_(bob);
        refusesBlocked();
        vm.prank(carol);
        usdc.transferFrom(alice, bob, 1);
    }
}
