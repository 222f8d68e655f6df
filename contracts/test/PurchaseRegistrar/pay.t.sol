// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPurchaseRegistrar} from "../../interfaces/IPurchaseRegistrar.sol";
import {Fixture} from "../Fixture.t.sol";

contract PayTest is Fixture {
    function test_theBuyerPays() public {
        bytes32 id = offer();
        expectLog(address(registrar));
        emit IPurchaseRegistrar.PurchasePaid(id, buyer, merchant, 2, address(usdc), AMOUNT, AMOUNT);
        vm.prank(buyer);
        registrar.pay(id, AMOUNT);
        eq(usdc.balanceOf(buyer), 1_000_000_000 - AMOUNT, "the buyer's balance");
        eq(usdc.balanceOf(merchant), 1_000_000_000 + AMOUNT, "the merchant's balance");
        eq(registrar.purchase(id).paid, AMOUNT, "paid");
        eq(registrar.purchase(id).sequence, 2, "sequence");
        eq(openOffers(), 0, "open offers");
    }

    function test_partsAddUp() public {
        bytes32 id = offer();
        pay(id, 1);
        expectLog(address(registrar));
        emit IPurchaseRegistrar.PurchasePaid(id, buyer, merchant, 3, address(usdc), 2, 3);
        pay(id, 2);
        eq(registrar.purchase(id).paid, 3, "paid");
        eq(openOffers(), AMOUNT - 3, "open offers");
    }

    function test_aDirectPurchaseLeavesTheBudgetAlone() public {
        offer();
        IPurchaseRegistrar.Purchase memory second = commitment();
        second.salt = keccak256("direct");
        bytes32 id = register(second);
        pay(id, AMOUNT);
        eq(openOffers(), AMOUNT, "open offers");
        eq(registrar.purchase(id).paid, AMOUNT, "paid");
    }

    function test_onlyTheBuyerPays() public {
        bytes32 id = offer();
        refusesCaller(beneficiary, buyer);
        vm.prank(beneficiary);
        registrar.pay(id, 1);
    }

    function test_anUnknownPurchaseIsNotPaid() public {
        refusesUnknown(keccak256("nothing"));
        vm.prank(buyer);
        registrar.pay(keccak256("nothing"), 1);
    }

    function test_aPauseStopsPayments() public {
        bytes32 id = offer();
        pause();
        refusesPaused();
        vm.prank(buyer);
        registrar.pay(id, 1);
    }

    function test_theLastSecondOfThePayDeadlineCounts() public {
        bytes32 id = offer();
        vm.warp(PAY_DEADLINE);
        pay(id, AMOUNT);
        eq(registrar.purchase(id).paid, AMOUNT, "paid");
    }

    function test_oneSecondAfterThePayDeadlineIsLate() public {
        bytes32 id = offer();
        vm.warp(PAY_DEADLINE + 1);
        refusesTime(PAY_DEADLINE);
        vm.prank(buyer);
        registrar.pay(id, 1);
    }

    function test_zeroIsNoPayment() public {
        bytes32 id = offer();
        refusesAmount(0, 1, AMOUNT);
        vm.prank(buyer);
        registrar.pay(id, 0);
    }

    function test_nobodyPaysMoreThanTheAmount() public {
        bytes32 id = offer();
        refusesAmount(AMOUNT + 1, 1, AMOUNT);
        vm.prank(buyer);
        registrar.pay(id, AMOUNT + 1);
    }

    function test_nobodyPaysMoreThanWhatIsOutstanding() public {
        bytes32 id = offer();
        pay(id, AMOUNT - 5);
        refusesAmount(6, 1, 5);
        vm.prank(buyer);
        registrar.pay(id, 6);
    }

    function test_aPaidPurchaseTakesNothingMore() public {
        bytes32 id = offer();
        pay(id, AMOUNT);
        refusesAmount(1, 1, 0);
        vm.prank(buyer);
        registrar.pay(id, 1);
    }

    function test_anAmountThatWouldWrapIsRefused() public {
        bytes32 id = offer();
        pay(id, 5);
        refusesAmount(type(uint256).max - 3, 1, AMOUNT - 5);
        vm.prank(buyer);
        registrar.pay(id, type(uint256).max - 3);
    }

    function test_anAllowanceToTheFundingSourceDoesNotPay() public {
        bytes32 id = offer();
        vm.prank(buyer);
        usdc.approve(address(registrar), 0);
        vm.prank(buyer);
        usdc.approve(address(source), AMOUNT);
        refuses("ERC20: transfer amount exceeds allowance");
        vm.prank(buyer);
        registrar.pay(id, AMOUNT);
    }

    function test_aRevertingTransferLeavesNoTrace() public {
        bytes32 id = offer();
        vm.prank(admin);
        usdc.blacklist(merchant);
        refuses("Blacklistable: account is blacklisted");
        vm.prank(buyer);
        registrar.pay(id, AMOUNT);
        eq(registrar.purchase(id).paid, 0, "paid");
        eq(registrar.purchase(id).sequence, 1, "sequence");
        eq(openOffers(), AMOUNT, "open offers");
    }

    function test_aDirectTransferIsNoPayment() public {
        bytes32 id = offer();
        vm.prank(buyer);
        usdc.transfer(merchant, AMOUNT);
        eq(registrar.purchase(id).paid, 0, "paid");
    }

    function test_noEtherIsTaken() public {
        bytes32 id = offer();
        vm.deal(buyer, 1);
        vm.prank(buyer);
        (bool success,) = address(registrar).call{value: 1}(abi.encodeCall(registrar.pay, (id, 1)));
        eq(success, false, "refused");
    }

    function test_trailingCalldataIsRefused() public {
        refusesTrailing(buyer, abi.encodeCall(registrar.pay, (offer(), 1)));
    }

    function testFuzz_partsNeverExceedTheAmount(uint256[6] memory parts) public {
        bytes32 id = offer();
        uint256 expected;
        for (uint256 i = 0; i < parts.length; ++i) {
            uint256 part = clamp(parts[i], 0, AMOUNT);
            bool fits = part > 0 && expected + part <= AMOUNT;
            vm.prank(buyer);
            (bool success,) = address(registrar).call(abi.encodeCall(registrar.pay, (id, part)));
            eq(success, fits, "a part is accepted while it is outstanding");
            if (fits) expected += part;
            IPurchaseRegistrar.Figures memory figures = registrar.figures(id);
            eq(figures.paid, expected, "paid");
            eq(figures.paid + figures.outstanding, AMOUNT, "paid and outstanding make the amount");
            eq(openOffers(), AMOUNT - expected, "open offers");
            eq(usdc.balanceOf(merchant), 1_000_000_000 + expected, "the merchant's balance");
        }
    }

    function testFuzz_nobodyElsePays(address caller) public {
        vm.assume(caller != buyer);
        bytes32 id = offer();
        refusesCaller(caller, buyer);
        vm.prank(caller);
        registrar.pay(id, 1);
    }
}
