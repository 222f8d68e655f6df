// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {TestUSDC} from "../../TestUSDC.sol";
import {TokenFixture} from "./TokenFixture.t.sol";

contract RemoveMinterTest is TokenFixture {
    function setUp() public override {
        super.setUp();
        vm.prank(masterMinter);
        usdc.configureMinter(minter, 9);
    }

    function test_theMasterMinterRemovesAMinterEvenDuringAPause() public {
        pause();
        expectLog(address(usdc));
        emit TestUSDC.MinterRemoved(minter);
        vm.prank(masterMinter);
        eq(usdc.removeMinter(minter), true, "answer");
        eq(usdc.isMinter(minter), false, "is no minter");
        eq(usdc.minterAllowance(minter), 0, "minter allowance");
    }

    function test_onlyTheMasterMinterMayCall() public {
        refuses("FiatToken: caller is not the masterMinter");
        vm.prank(owner);
        usdc.removeMinter(minter);
    }
}
