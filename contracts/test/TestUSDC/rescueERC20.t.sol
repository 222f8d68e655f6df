// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {TestUSDC} from "../../TestUSDC.sol";
import {TokenFixture} from "./TokenFixture.t.sol";

contract RescueERC20Test is TokenFixture {
    function test_theRescuerWithdrawsAnotherToken() public {
        TestUSDC other = newUSDC("Other", "OTHER", owner, masterMinter, pauser, blacklister);
        other.faucet(address(usdc), 5);
        vm.prank(owner);
        usdc.updateRescuer(carol);
        vm.prank(carol);
        usdc.rescueERC20(IERC20(address(other)), bob, 5);
        eq(other.balanceOf(bob), 5, "bob");
    }

    function test_onlyTheRescuerDoes() public {
        refuses("Rescuable: caller is not the rescuer");
        vm.prank(owner);
        usdc.rescueERC20(IERC20(address(usdc)), bob, 0);
    }
}
