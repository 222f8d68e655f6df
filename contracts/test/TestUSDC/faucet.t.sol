// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {TestUSDC} from "../../TestUSDC.sol";
import {TokenFixture} from "./TokenFixture.t.sol";

contract FaucetTest is TokenFixture {
    function test_anyoneMintsToAnyone() public {
        expectLog(address(usdc));
        emit TestUSDC.Mint(carol, bob, 7);
        expectLog(address(usdc));
        emit IERC20.Transfer(address(0), bob, 7);
        vm.prank(carol);
        usdc.faucet(bob, 7);
        eq(usdc.balanceOf(bob), 7, "bob");
        eq(usdc.totalSupply(), 1_007, "supply");
    }

    function test_callingWhilePausedReverts() public {
        pause();
        refusesPaused();
        usdc.faucet(bob, 7);
    }

    function test_aBlockedReceiverReverts() public {
        block_(bob);
        refusesBlocked();
        usdc.faucet(bob, 7);
    }

    function test_aBlockedCallerMintsToo() public {
        block_(carol);
        vm.prank(carol);
        usdc.faucet(bob, 7);
        eq(usdc.balanceOf(bob), 7, "bob");
    }

    function test_theZeroAddressAsReceiverReverts() public {
        refuses("FiatToken: mint to the zero address");
        usdc.faucet(address(0), 7);
    }

    function test_aBalanceAbove255BitsReverts() public {
        usdc.faucet(bob, (1 << 255) - 1);
        eq(usdc.balanceOf(bob), (1 << 255) - 1, "bob");
        eq(usdc.isBlacklisted(bob), false, "not blocked");
        refuses("FiatTokenV2_2: Balance exceeds (2^255 - 1)");
        usdc.faucet(bob, 1);
    }

    function test_theSupplyDoesNotOverflow() public {
        refuses("SafeMath: addition overflow");
        usdc.faucet(bob, type(uint256).max);
    }
}
