// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {TestUSDC} from "../../TestUSDC.sol";
import {HostileToken} from "../../adversaries/HostileToken.sol";
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

    function rescues(HostileToken.Behavior behavior) private returns (HostileToken token) {
        token = new HostileToken();
        token.mint(address(usdc), 5);
        token.setBehavior(behavior);
        vm.prank(owner);
        usdc.updateRescuer(carol);
    }

    function test_aTokenWithoutReturnValueIsRescued() public {
        HostileToken token = rescues(HostileToken.Behavior.ReturnsNothing);
        vm.prank(carol);
        usdc.rescueERC20(IERC20(address(token)), bob, 5);
        eq(token.balanceOf(bob), 5, "bob");
    }

    function test_anyReturnValueExceptZeroIsTrue() public {
        HostileToken token = rescues(HostileToken.Behavior.ReturnsTwo);
        vm.prank(carol);
        usdc.rescueERC20(IERC20(address(token)), bob, 5);
        eq(token.balanceOf(bob), 5, "bob");
    }

    function test_aReturnValueOfFalseReverts() public {
        HostileToken token = rescues(HostileToken.Behavior.ReturnsFalse);
        refuses("SafeERC20: ERC20 operation did not succeed");
        vm.prank(carol);
        usdc.rescueERC20(IERC20(address(token)), bob, 5);
        eq(token.balanceOf(bob), 0, "bob");
    }

    function test_theOtherTokensRevertReasonIsForwarded() public {
        HostileToken token = rescues(HostileToken.Behavior.Reverting);
        refuses("HostileToken: no");
        vm.prank(carol);
        usdc.rescueERC20(IERC20(address(token)), bob, 5);
    }

    function test_aRevertWithoutReasonGetsAReason() public {
        rescues(HostileToken.Behavior.Standard);
        // One byte of code, an invalid instruction.
        vm.etch(bob, hex"fe");
        refuses("SafeERC20: low-level call failed");
        vm.prank(carol);
        usdc.rescueERC20(IERC20(bob), carol, 5);
    }

    function test_aRevertReasonOfOneByteIsForwarded() public {
        rescues(HostileToken.Behavior.Standard);
        // Reverts with one byte.
        vm.etch(bob, hex"60016000fd");
        vm.expectRevert(hex"00");
        vm.prank(carol);
        usdc.rescueERC20(IERC20(bob), carol, 5);
    }

    function test_aReturnValueOfOneByteReverts() public {
        rescues(HostileToken.Behavior.Standard);
        // Returns one byte.
        vm.etch(bob, hex"60016000f3");
        vm.expectRevert(bytes(""));
        vm.prank(carol);
        usdc.rescueERC20(IERC20(bob), carol, 5);
    }

    function test_anAccountWithoutCodeReverts() public {
        rescues(HostileToken.Behavior.Standard);
        refuses("Address: call to non-contract");
        vm.prank(carol);
        usdc.rescueERC20(IERC20(bob), carol, 5);
    }

    function test_theTokenHoldsNothingOfItsOwnToRescue() public {
        rescues(HostileToken.Behavior.Standard);
        refusesBlocked();
        vm.prank(carol);
        usdc.rescueERC20(IERC20(address(usdc)), bob, 0);
    }

    function test_onlyTheRescuerMayCall() public {
        refuses("Rescuable: caller is not the rescuer");
        vm.prank(owner);
        usdc.rescueERC20(IERC20(address(usdc)), bob, 0);
    }
}
