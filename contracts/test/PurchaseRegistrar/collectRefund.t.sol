// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPurchaseRegistrar} from "../../interfaces/IPurchaseRegistrar.sol";
import {Fixture} from "../Fixture.t.sol";

contract CollectRefundTest is Fixture {
    function test_theRegistrarCollects() public {
        bytes32 id = claimed();
        expectLog(address(registrar));
        emit IPurchaseRegistrar.RefundCollected(id, beneficiary, DECISION, 4, MERCHANT_REF, 7, 7);
        vm.prank(operator);
        registrar.collectRefund(id, 7, DECISION);
        IPurchaseRegistrar.PurchaseState memory state = registrar.purchase(id);
        eq(state.refunded, 7, "refunded");
        eq(state.sequence, 4, "sequence");
        eq(state.claimHash, CLAIM_HASH, "the claim hash stays readable");
        eq(state.decisionHash, DECISION, "decision hash");
        eq(registrar.decisionUsed(DECISION), true, "the decision is used");
        eq(registrar.funding(PROGRAM, MERCHANT_REF).collected, 7, "collected");
        eq(usdc.balanceOf(beneficiary), 7, "the beneficiary's balance");
        eq(usdc.balanceOf(merchant), 1_000_000_000 + AMOUNT - 7, "the merchant's balance");
    }

    function test_whatIsCollectedAddsUp() public {
        bytes32 id = claimed();
        collectRefund(id, 7, DECISION);
        bytes32 second = claimedWith("second", AMOUNT);
        expectLog(address(registrar));
        emit IPurchaseRegistrar.RefundCollected(
            second, beneficiary, keccak256("second decision"), 4, MERCHANT_REF, 5, 12
        );
        collectRefund(second, 5, keccak256("second decision"));
        eq(registrar.funding(PROGRAM, MERCHANT_REF).collected, 12, "collected");
    }

    function test_onlyTheRegistrarCollects() public {
        bytes32 id = claimed();
        refusesCaller(admin, operator);
        vm.prank(admin);
        registrar.collectRefund(id, 1, DECISION);
    }

    function test_theRegistrarCollectsUntilItsLastSecond() public {
        bytes32 id = claimed();
        boundsUntil(START + 10);
        vm.warp(START + 10);
        collectRefund(id, 1, DECISION);
        eq(usdc.balanceOf(beneficiary), 1, "the refund arrives");
    }

    function test_theRegistrarDoesNotCollectAfterItsLastSecond() public {
        bytes32 id = claimed();
        boundsUntil(START + 10);
        vm.warp(START + 11);
        refusesTime(START + 10);
        vm.prank(operator);
        registrar.collectRefund(id, 1, DECISION);
    }

    function boundsUntil(uint64 validUntil) private {
        IPurchaseRegistrar.Bounds memory next = bounds();
        next.validUntil = validUntil;
        vm.prank(admin);
        registrar.setBounds(PROGRAM, operator, signer, next);
    }

    function test_anUnknownPurchaseIsNotRefunded() public {
        refusesUnknown(keccak256("nothing"));
        vm.prank(operator);
        registrar.collectRefund(keccak256("nothing"), 1, DECISION);
    }

    function test_aRefundNeedsAClaim() public {
        bytes32 id = offer();
        pay(id, AMOUNT);
        refuses(abi.encodeWithSelector(IPurchaseRegistrar.NotClaimed.selector, id));
        vm.prank(operator);
        registrar.collectRefund(id, 1, DECISION);
    }

    function test_aPurchaseIsRefundedOnce() public {
        bytes32 id = claimed();
        collectRefund(id, 1, DECISION);
        refuses(abi.encodeWithSelector(IPurchaseRegistrar.AlreadyRefunded.selector, id, DECISION));
        vm.prank(operator);
        registrar.collectRefund(id, 1, keccak256("another decision"));
    }

    function test_aDecisionIsCarriedOutOnce() public {
        bytes32 id = claimed();
        bytes32 second = claimedWith("second", 10);
        collectRefund(id, 1, DECISION);
        refuses(abi.encodeWithSelector(IPurchaseRegistrar.DecisionAlreadyUsed.selector, DECISION));
        vm.prank(operator);
        registrar.collectRefund(second, 1, DECISION);
    }

    function test_zeroIsNoDecision() public {
        bytes32 id = claimed();
        refusesZero();
        vm.prank(operator);
        registrar.collectRefund(id, 1, bytes32(0));
    }

    function test_zeroIsNoAward() public {
        bytes32 id = claimed();
        refusesAmount(0, 1, AMOUNT);
        vm.prank(operator);
        registrar.collectRefund(id, 0, DECISION);
    }

    function test_everythingThatWasPaidMayBeAwarded() public {
        bytes32 id = claimed();
        collectRefund(id, AMOUNT, DECISION);
        eq(usdc.balanceOf(beneficiary), AMOUNT, "the refund arrives");
    }

    function test_noMoreThanWasPaidIsAwarded() public {
        bytes32 id = offer();
        pay(id, 10);
        claim(id);
        refusesAmount(11, 1, 10);
        vm.prank(operator);
        registrar.collectRefund(id, 11, DECISION);
    }

    function test_theFundingsLastSecondCounts() public {
        bytes32 id = claimed();
        vm.warp(FUNDING_UNTIL);
        collectRefund(id, 1, DECISION);
        eq(usdc.balanceOf(beneficiary), 1, "the refund arrives");
    }

    function test_afterTheFundingsLastSecondNothingIsCollected() public {
        bytes32 id = claimed();
        vm.warp(FUNDING_UNTIL + 1);
        refusesTime(FUNDING_UNTIL);
        vm.prank(operator);
        registrar.collectRefund(id, 1, DECISION);
    }

    function test_theCapIsNeverExceeded() public {
        bytes32 first = claimedWith("first", AMOUNT);
        bytes32 second = claimedWith("second", AMOUNT);
        bytes32 third = claimedWith("third", AMOUNT);
        collectRefund(first, AMOUNT, keccak256("first decision"));
        collectRefund(second, AMOUNT, keccak256("second decision"));
        refuses(
            abi.encodeWithSelector(
                IPurchaseRegistrar.FundingInsufficient.selector, CAP - 2 * AMOUNT + 1, CAP - 2 * AMOUNT
            )
        );
        vm.prank(operator);
        registrar.collectRefund(third, CAP - 2 * AMOUNT + 1, keccak256("third decision"));
        collectRefund(third, CAP - 2 * AMOUNT, keccak256("third decision"));
        eq(registrar.funding(PROGRAM, MERCHANT_REF).collected, CAP, "collected");
    }

    function test_aDirectPurchaseIsRefundedByTheRegistrarToo() public {
        bytes32 id = register(commitment());
        pay(id, AMOUNT);
        claim(id);
        collectRefund(id, AMOUNT, DECISION);
        eq(usdc.balanceOf(beneficiary), AMOUNT, "the refund arrives");
    }

    function test_anAllowanceToTheRegistrarFundsNoRefund() public {
        bytes32 id = claimed();
        vm.prank(merchant);
        usdc.approve(address(source), 0);
        vm.prank(merchant);
        usdc.approve(address(registrar), AMOUNT);
        refuses("ERC20: transfer amount exceeds allowance");
        vm.prank(operator);
        registrar.collectRefund(id, 1, DECISION);
        eq(registrar.purchase(id).refunded, 0, "refunded");
        eq(registrar.decisionUsed(DECISION), false, "the decision is unused");
        eq(registrar.funding(PROGRAM, MERCHANT_REF).collected, 0, "collected");
    }

    function test_trailingCalldataIsRefused() public {
        refusesTrailing(operator, abi.encodeCall(registrar.collectRefund, (claimed(), 1, DECISION)));
    }

    function testFuzz_theAwardIsWithinPaidAndCap(uint256 paid, uint256 before, uint256 award) public {
        paid = clamp(paid, 1, MAX_PURCHASE);
        before = clamp(before, 1, MAX_PURCHASE);
        award = clamp(award, 0, MAX_PURCHASE + 1);
        bytes32 first = claimedWith("first", before);
        bytes32 second;
        second = claimedWith("second", paid);
        collectRefund(first, before, keccak256("before"));
        bool fits = award > 0 && award <= paid && before + award <= CAP;
        vm.prank(operator);
        (bool success,) = address(registrar).call(abi.encodeCall(registrar.collectRefund, (second, award, DECISION)));
        eq(success, fits, "within paid and cap");
        eq(usdc.balanceOf(beneficiary), before + (fits ? award : 0), "the beneficiary's balance");
        eq(registrar.funding(PROGRAM, MERCHANT_REF).collected, before + (fits ? award : 0), "collected");
    }

    function claimedWith(string memory salt, uint256 amount) private returns (bytes32 id) {
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        purchase.salt = keccak256(bytes(salt));
        purchase.amount = amount;
        id = offer(purchase);
        pay(id, amount);
        claim(id);
    }
}
