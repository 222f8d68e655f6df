// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {TestUSDC} from "../../TestUSDC.sol";
import {TokenFixture} from "./TokenFixture.t.sol";

contract BurnTest is TokenFixture {
    function setUp() public override {
        super.setUp();
        vm.prank(masterMinter);
        usdc.configureMinter(minter, 0);
        usdc.faucet(minter, 100);
    }

    function test_aMinterBurnsItsOwn() public {
        expectLog(address(usdc));
        emit TestUSDC.Burn(minter, 60);
        expectLog(address(usdc));
        emit IERC20.Transfer(minter, address(0), 60);
        vm.prank(minter);
        usdc.burn(60);
        eq(usdc.balanceOf(minter), 40, "minter");
        eq(usdc.totalSupply(), 1_040, "supply");
    }

    function test_burningMoreThanTheBalanceReverts() public {
        refuses("FiatToken: burn amount exceeds balance");
        vm.prank(minter);
        usdc.burn(101);
        vm.prank(minter);
        usdc.burn(100);
        eq(usdc.balanceOf(minter), 0, "minter");
    }

    function test_burningZeroReverts() public {
        refuses("FiatToken: burn amount not greater than 0");
        vm.prank(minter);
        usdc.burn(0);
    }

    function test_oneUnitIsBurned() public {
        vm.prank(minter);
        usdc.burn(1);
        eq(usdc.balanceOf(minter), 99, "minter");
    }

    function test_onlyMintersBurn() public {
        refuses("FiatToken: caller is not a minter");
        vm.prank(alice);
        usdc.burn(1);
    }

    function test_callingWhilePausedReverts() public {
        pause();
        refusesPaused();
        vm.prank(minter);
        usdc.burn(1);
    }

    function test_aBlockedMinterReverts() public {
        block_(minter);
        refusesBlocked();
        vm.prank(minter);
        usdc.burn(1);
    }
}
