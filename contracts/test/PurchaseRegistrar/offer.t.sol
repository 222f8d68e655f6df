// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPurchaseRegistrar} from "../../interfaces/IPurchaseRegistrar.sol";
import {Fixture} from "../Fixture.t.sol";

import {CommitmentRules} from "./CommitmentRules.t.sol";

contract OfferTest is CommitmentRules {
    function sender() internal view override returns (address) {
        return operator;
    }

    function call(IPurchaseRegistrar.Purchase memory purchase, bytes memory signature)
        internal
        view
        override
        returns (bytes memory)
    {
        return abi.encodeCall(registrar.offer, (purchase, signature));
    }

    function mostAmount() internal pure override returns (uint256) {
        return MAX_PURCHASE;
    }

    function test_theOperatorOffers() public {
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        bytes memory signature = signPurchase(purchase);
        bytes32 id = registrar.hashPurchase(purchase);
        expectLog(address(registrar));
        emit IPurchaseRegistrar.PurchaseOffered(id, PROGRAM, buyer, 1, purchase);
        vm.prank(operator);
        eq(registrar.offer(purchase, signature), id, "the answer is the id");
        eq(uint8(registrar.purchase(id).route), uint8(IPurchaseRegistrar.Route.Offer), "route");
        eq(openOffers(), AMOUNT, "open offers");
    }

    function test_onlyTheOperatorOffers() public {
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        bytes memory signature = signPurchase(purchase);
        onlyFor(operator, abi.encodeCall(registrar.offer, (purchase, signature)));
    }

    function test_offeringInTheBoundsLastSecondSucceeds() public {
        boundsUntil(START + 10);
        vm.warp(START + 10);
        accepts(commitment());
    }

    function test_offeringAfterTheBoundsLastSecondReverts() public {
        boundsUntil(START + 10);
        vm.warp(START + 11);
        rejects(
            commitment(),
            abi.encodeWithSelector(IPurchaseRegistrar.DeadlinePassed.selector, START + 11, START + 10)
        );
    }

    function boundsUntil(uint64 validUntil) private {
        IPurchaseRegistrar.Bounds memory next = bounds();
        next.validUntil = validUntil;
        vm.prank(admin);
        registrar.setBounds(PROGRAM, operator, signer, next);
    }

    function test_offeringTheLargestPurchaseSucceeds() public {
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        purchase.amount = MAX_PURCHASE;
        accepts(purchase);
    }

    function test_offeringAboveTheLargestPurchaseReverts() public {
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        purchase.amount = MAX_PURCHASE + 1;
        rejects(
            purchase,
            abi.encodeWithSelector(
                IPurchaseRegistrar.AmountOutOfRange.selector, "amount", MAX_PURCHASE + 1, 1, MAX_PURCHASE
            )
        );
    }

    function test_theBudgetMayBeUsedUpExactly() public {
        offerAmount(MAX_PURCHASE, "first");
        offerAmount(OPEN_BUDGET - MAX_PURCHASE, "second");
        eq(openOffers(), OPEN_BUDGET, "open offers");
    }

    function test_anOfferAboveTheBudgetReverts() public {
        offerAmount(MAX_PURCHASE, "first");
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        purchase.amount = OPEN_BUDGET - MAX_PURCHASE + 1;
        rejects(
            purchase,
            abi.encodeWithSelector(
                IPurchaseRegistrar.BudgetExceeded.selector, purchase.amount, OPEN_BUDGET - MAX_PURCHASE
            )
        );
    }

    function test_openOffersDoNotWrapAroundTheLargestBudget() public {
        uint256 max = type(uint128).max;
        IPurchaseRegistrar.Purchase memory purchase = inAProgramWithoutLimits(max);
        purchase.amount = max - 1;
        accepts(purchase);
        purchase.salt = keccak256("second");
        purchase.amount = 3;
        rejects(purchase, abi.encodeWithSelector(IPurchaseRegistrar.BudgetExceeded.selector, 3, 1));
        purchase.amount = 1;
        accepts(purchase);
        eq(registrar.programState(purchase.program).openOffers, max, "open offers");
    }

    /// @dev A purchase in a program with the largest bounds and a funding with the largest cap.
    function inAProgramWithoutLimits(uint256 max) private returns (IPurchaseRegistrar.Purchase memory purchase) {
        IPurchaseRegistrar.FundingAuthorization memory authorization = fundingAuthorization();
        authorization.program = keccak256("prg_other");
        authorization.cap = max;
        registrar.openProgram(
            authorization.program,
            operator,
            signer,
            IPurchaseRegistrar.Bounds({maxPurchase: max, openBudget: max, validUntil: BOUNDS_UNTIL})
        );
        bytes memory signature = signFunding(authorization);
        vm.prank(merchant);
        registrar.enroll(authorization, signature);
        purchase = commitment();
        purchase.program = authorization.program;
    }

    function test_aBudgetBelowTheOpenOffersAllowsNoOffer() public {
        offerAmount(MAX_PURCHASE, "first");
        IPurchaseRegistrar.Bounds memory lower = bounds();
        lower.openBudget = MAX_PURCHASE - 1;
        vm.prank(admin);
        registrar.setBounds(PROGRAM, operator, signer, lower);
        rejects(
            commitment(), abi.encodeWithSelector(IPurchaseRegistrar.BudgetExceeded.selector, AMOUNT, 0)
        );
    }

    function test_aPaymentReleasesBudget() public {
        bytes32 id = offerAmount(MAX_PURCHASE, "first");
        offerAmount(OPEN_BUDGET - MAX_PURCHASE, "second");
        pay(id, 10);
        offerAmount(10, "third");
        eq(openOffers(), OPEN_BUDGET, "open offers");
    }

    function test_programsHaveSeparateBudgets() public {
        bytes32 program = keccak256("prg_other");
        registrar.openProgram(program, operator, signer, bounds());
        offer();
        eq(registrar.programState(program).openOffers, 0, "the other program's");
        eq(openOffers(), AMOUNT, "this program's");
    }

    function offerAmount(uint256 amount, string memory salt) private returns (bytes32) {
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        purchase.amount = amount;
        purchase.salt = keccak256(bytes(salt));
        return offer(purchase);
    }

    function testFuzz_openOffersNeverExceedTheBudget(uint256[8] memory amounts) public {
        uint256 expected;
        for (uint256 i = 0; i < amounts.length; ++i) {
            IPurchaseRegistrar.Purchase memory purchase = commitment();
            purchase.amount = clamp(amounts[i], 1, MAX_PURCHASE);
            purchase.salt = bytes32(i);
            bytes memory signature = signPurchase(purchase);
            bool fits = expected + purchase.amount <= OPEN_BUDGET;
            vm.prank(operator);
            (bool success,) = address(registrar).call(call(purchase, signature));
            eq(success, fits, "an offer is accepted while the budget lasts");
            if (fits) expected += purchase.amount;
            eq(openOffers(), expected, "open offers");
        }
    }
}
