// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {TestUSDC} from "../../TestUSDC.sol";
import {TokenFixture} from "./TokenFixture.t.sol";

contract PauseTest is TokenFixture {
    function test_thePauserPausesAndUnpauses() public {
        expectLog(address(usdc));
        emit TestUSDC.Pause();
        vm.prank(pauser);
        usdc.pause();
        eq(usdc.paused(), true, "paused");
        expectLog(address(usdc));
        emit TestUSDC.Unpause();
        vm.prank(pauser);
        usdc.unpause();
        eq(usdc.paused(), false, "unpaused");
        vm.prank(alice);
        usdc.transfer(bob, 1);
        eq(usdc.balanceOf(bob), 1, "transfers continue");
    }

    function test_onlyThePauserMayCall() public {
        refuses("Pausable: caller is not the pauser");
        vm.prank(owner);
        usdc.pause();
        refuses("Pausable: caller is not the pauser");
        vm.prank(owner);
        usdc.unpause();
    }
}
