// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {TestUSDC} from "../../TestUSDC.sol";
import {TokenFixture} from "./TokenFixture.t.sol";

contract BlacklistTest is TokenFixture {
    function test_theBlocklisterBlocksAndUnblocks() public {
        expectLog(address(usdc));
        emit TestUSDC.Blacklisted(alice);
        vm.prank(blacklister);
        usdc.blacklist(alice);
        eq(usdc.isBlacklisted(alice), true, "blocked");
        eq(usdc.balanceOf(alice), 1_000, "the balance stays");
        expectLog(address(usdc));
        emit TestUSDC.UnBlacklisted(alice);
        vm.prank(blacklister);
        usdc.unBlacklist(alice);
        eq(usdc.isBlacklisted(alice), false, "unblocked");
        eq(usdc.balanceOf(alice), 1_000, "the balance stays");
    }

    function test_blockingIsIdempotent() public {
        block_(alice);
        block_(alice);
        eq(usdc.isBlacklisted(alice), true, "blocked");
        vm.prank(blacklister);
        usdc.unBlacklist(bob);
        eq(usdc.isBlacklisted(bob), false, "unblocked");
    }

    function test_theTokensOwnAddressCanBeUnblocked() public {
        vm.prank(blacklister);
        usdc.unBlacklist(address(usdc));
        vm.prank(alice);
        usdc.transfer(address(usdc), 1);
        eq(usdc.balanceOf(address(usdc)), 1, "the token");
    }

    function test_onlyTheBlocklisterMayCall() public {
        refuses("Blacklistable: caller is not the blacklister");
        vm.prank(owner);
        usdc.blacklist(alice);
        refuses("Blacklistable: caller is not the blacklister");
        vm.prank(owner);
        usdc.unBlacklist(alice);
    }
}
