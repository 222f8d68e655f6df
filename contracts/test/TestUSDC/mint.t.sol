// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {TestUSDC} from "../../TestUSDC.sol";
import {TokenFixture} from "./TokenFixture.t.sol";

contract MintTest is TokenFixture {
    function setUp() public override {
        super.setUp();
        vm.prank(masterMinter);
        usdc.configureMinter(minter, 100);
    }

    function test_mintingReducesTheMintersAllowance() public {
        expectLog(address(usdc));
        emit TestUSDC.Mint(minter, bob, 100);
        expectLog(address(usdc));
        emit IERC20.Transfer(address(0), bob, 100);
        vm.prank(minter);
        eq(usdc.mint(bob, 100), true, "answer");
        eq(usdc.balanceOf(bob), 100, "bob");
        eq(usdc.totalSupply(), 1_100, "supply");
        eq(usdc.minterAllowance(minter), 0, "minter allowance");
    }

    function test_theUnusedAllowanceRemains() public {
        vm.prank(minter);
        usdc.mint(bob, 30);
        eq(usdc.minterAllowance(minter), 70, "minter allowance");
    }

    function test_exceedingTheAllowanceReverts() public {
        refuses("FiatToken: mint amount exceeds minterAllowance");
        vm.prank(minter);
        usdc.mint(bob, 101);
    }

    function test_onlyMintersMint() public {
        refuses("FiatToken: caller is not a minter");
        vm.prank(owner);
        usdc.mint(bob, 1);
    }

    function test_mintingZeroReverts() public {
        refuses("FiatToken: mint amount not greater than 0");
        vm.prank(minter);
        usdc.mint(bob, 0);
    }

    function test_oneUnitIsMinted() public {
        vm.prank(minter);
        usdc.mint(bob, 1);
        eq(usdc.balanceOf(bob), 1, "bob");
    }

    function test_theZeroAddressAsReceiverReverts() public {
        refuses("FiatToken: mint to the zero address");
        vm.prank(minter);
        usdc.mint(address(0), 1);
    }

    function test_callingWhilePausedReverts() public {
        pause();
        refusesPaused();
        vm.prank(minter);
        usdc.mint(bob, 1);
    }

    function test_aBlockedMinterReverts() public {
        block_(minter);
        refusesBlocked();
        vm.prank(minter);
        usdc.mint(bob, 1);
    }

    function test_aBlockedReceiverReverts() public {
        block_(bob);
        refusesBlocked();
        vm.prank(minter);
        usdc.mint(bob, 1);
    }
}
