// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {TokenFixture} from "./TokenFixture.t.sol";

contract TransferTest is TokenFixture {
    function test_aHolderTransfers() public {
        expectLog(address(usdc));
        emit IERC20.Transfer(alice, bob, 400);
        vm.prank(alice);
        eq(usdc.transfer(bob, 400), true, "answer");
        eq(usdc.balanceOf(alice), 600, "alice");
        eq(usdc.balanceOf(bob), 400, "bob");
        eq(usdc.totalSupply(), 1_000, "supply");
    }

    function test_transferringZeroOrTheWholeBalanceSucceeds() public {
        vm.prank(alice);
        usdc.transfer(bob, 1_000);
        vm.prank(alice);
        usdc.transfer(bob, 0);
        eq(usdc.balanceOf(bob), 1_000, "bob");
    }

    function test_aTransferToTheSenderChangesNothing() public {
        vm.prank(alice);
        usdc.transfer(alice, 400);
        eq(usdc.balanceOf(alice), 1_000, "alice");
    }

    function test_exceedingTheBalanceReverts() public {
        refuses("ERC20: transfer amount exceeds balance");
        vm.prank(alice);
        usdc.transfer(bob, 1_001);
    }

    function test_theZeroAddressAsReceiverReverts() public {
        refuses("ERC20: transfer to the zero address");
        vm.prank(alice);
        usdc.transfer(address(0), 1);
    }

    function test_theZeroAddressAsSenderReverts() public {
        refuses("ERC20: transfer from the zero address");
        vm.prank(address(0));
        usdc.transfer(bob, 0);
    }

    function test_theTokenAsReceiverReverts() public {
        refusesBlocked();
        vm.prank(alice);
        usdc.transfer(address(usdc), 1);
    }

    function test_callingWhilePausedReverts() public {
        pause();
        refusesPaused();
        vm.prank(alice);
        usdc.transfer(bob, 1);
    }

    function test_aBlockedSenderReverts() public {
        block_(alice);
        refusesBlocked();
        vm.prank(alice);
        usdc.transfer(bob, 1);
    }

    function test_aBlockedReceiverReverts() public {
        block_(bob);
        refusesBlocked();
        vm.prank(alice);
        usdc.transfer(bob, 1);
    }

    function testFuzz_aTransferMovesExactlyItsValue(uint256 value) public {
        value = clamp(value, 0, 1_000);
        vm.prank(alice);
        usdc.transfer(bob, value);
        eq(usdc.balanceOf(alice), 1_000 - value, "alice");
        eq(usdc.balanceOf(bob), value, "bob");
    }
}
