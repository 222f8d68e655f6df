// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPurchaseRegistrar} from "../../interfaces/IPurchaseRegistrar.sol";
import {Fixture} from "../Fixture.t.sol";

contract SetPausedTest is Fixture {
    function test_theAdminPausesAndUnpauses() public {
        expectLog(address(registrar));
        emit IPurchaseRegistrar.PausedSet(PROGRAM, true);
        vm.prank(admin);
        registrar.setPaused(PROGRAM, true);
        eq(registrar.programState(PROGRAM).paused, true, "paused");

        expectLog(address(registrar));
        emit IPurchaseRegistrar.PausedSet(PROGRAM, false);
        vm.prank(admin);
        registrar.setPaused(PROGRAM, false);
        eq(registrar.programState(PROGRAM).paused, false, "unpaused");
    }

    function test_onlyTheAdminPauses() public {
        onlyFor(admin, abi.encodeCall(registrar.setPaused, (PROGRAM, true)));
    }

    function test_theProgramMustBeOpen() public {
        refuses(abi.encodeWithSelector(IPurchaseRegistrar.ProgramNotOpen.selector, keccak256("prg_other")));
        registrar.setPaused(keccak256("prg_other"), true);
    }

    function test_trailingCalldataReverts() public {
        refusesTrailing(admin, abi.encodeCall(registrar.setPaused, (PROGRAM, true)));
    }

    function test_aBoolOtherThanZeroOrOneReverts() public {
        bytes memory data = abi.encodeCall(registrar.setPaused, (PROGRAM, true));
        data[data.length - 1] = 0x02;
        refusesRaw(admin, data, "");
    }

    function test_claimsAndRefundsContinueDuringAPause() public {
        bytes32 id = offer();
        pay(id, 1_000_000);
        IPurchaseRegistrar.Purchase memory second = commitment();
        second.salt = keccak256("second");
        bytes32 withdrawn = offer(second);
        pause();

        claim(id);
        collectRefund(id, 1_000_000, DECISION);
        vm.prank(operator);
        registrar.withdrawOffer(withdrawn);
        revoke();
        vm.warp(PAY_DEADLINE + 1);
        registrar.expire(id);
        eq(openOffers(), 0, "the budget is given back");
        eq(usdc.balanceOf(beneficiary), 1_000_000, "the refund arrives");
    }
}
