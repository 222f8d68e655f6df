// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {TestUSDC} from "../../TestUSDC.sol";
import {TokenFixture} from "./TokenFixture.t.sol";

contract ConfigureMinterTest is TokenFixture {
    function test_theMasterMinterAddsAMinter() public {
        expectLog(address(usdc));
        emit TestUSDC.MinterConfigured(minter, 9);
        vm.prank(masterMinter);
        eq(usdc.configureMinter(minter, 9), true, "answer");
        eq(usdc.isMinter(minter), true, "is a minter");
        eq(usdc.minterAllowance(minter), 9, "minter allowance");
    }

    function test_anAllowanceIsReplaced() public {
        vm.prank(masterMinter);
        usdc.configureMinter(minter, 9);
        vm.prank(masterMinter);
        usdc.configureMinter(minter, 4);
        eq(usdc.minterAllowance(minter), 4, "minter allowance");
    }

    function test_onlyTheMasterMinterMayCall() public {
        refuses("FiatToken: caller is not the masterMinter");
        vm.prank(owner);
        usdc.configureMinter(minter, 9);
    }

    function test_callingWhilePausedReverts() public {
        pause();
        refusesPaused();
        vm.prank(masterMinter);
        usdc.configureMinter(minter, 9);
    }
}
