// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IPurchaseRegistrar} from "../../interfaces/IPurchaseRegistrar.sol";
import {Fixture} from "../Fixture.t.sol";
import {Vm} from "../Vm.t.sol";

contract CollectRefundTest is Fixture {
    function test_theOperatorCollects() public {
        bytes32 id = claimed();
        expectLog(address(registrar));
        emit IPurchaseRegistrar.RefundCollected(id, beneficiary, DECISION, 4, CLAIM_HASH, 7, 7);
        vm.prank(operator);
        registrar.collectRefund(id, 7, DECISION);
        IPurchaseRegistrar.PurchaseState memory state = registrar.purchase(id);
        eq(state.refunded, 7, "refunded");
        eq(state.sequence, 4, "sequence");
        eq(state.claimHash, bytes32(0), "the claim hash is in the event");
        eq(state.decisionHash, DECISION, "decision hash");
        eq(registrar.funding(PROGRAM, MERCHANT_REF).collected, 7, "collected");
        eq(usdc.balanceOf(beneficiary), 7, "the beneficiary's balance");
        eq(usdc.balanceOf(merchant), 1_000_000_000 + AMOUNT - 7, "the merchant's balance");
    }

    function test_theRefundIsLoggedBeforeItsTransfer() public {
        bytes32 id = claimed();
        vm.recordLogs();
        collectRefund(id, 7, DECISION);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        eq(logs.length, 2, "two logs");
        eq(logs[0].emitter, address(registrar), "the first emitter");
        eq(logs[0].topics[0], IPurchaseRegistrar.RefundCollected.selector, "the first log");
        eq(logs[1].emitter, address(usdc), "the second emitter");
        eq(logs[1].topics[0], IERC20.Transfer.selector, "the second log");
    }

    function test_collectedTotalAddsUp() public {
        bytes32 id = claimed();
        collectRefund(id, 7, DECISION);
        bytes32 second = claimedWith("second", AMOUNT);
        expectLog(address(registrar));
        emit IPurchaseRegistrar.RefundCollected(
            second, beneficiary, keccak256("second decision"), 4, CLAIM_HASH, 5, 12
        );
        collectRefund(second, 5, keccak256("second decision"));
        eq(registrar.funding(PROGRAM, MERCHANT_REF).collected, 12, "collected");
    }

    function test_onlyTheOperatorCollects() public {
        onlyFor(operator, abi.encodeCall(registrar.collectRefund, (claimed(), 1, DECISION)));
    }

    function test_theEndOfTheBoundsDoesNotBlockARefund() public {
        bytes32 id = claimed();
        vm.prank(admin);
        registrar.setBounds(PROGRAM, operator, signer, IPurchaseRegistrar.Bounds(0, 0, START));
        vm.warp(START + 1);
        collectRefund(id, AMOUNT, DECISION);
        eq(usdc.balanceOf(beneficiary), AMOUNT, "the refund arrives");
    }

    function test_aPauseDoesNotBlockARefund() public {
        bytes32 id = claimed();
        pause();
        collectRefund(id, AMOUNT, DECISION);
        eq(usdc.balanceOf(beneficiary), AMOUNT, "the refund arrives");
    }

    /// @dev When the admin replaces the operator, the new one collects at once and the former one no longer can.
    function test_onlyTheCurrentOperatorCollects() public {
        bytes32 id = claimed();
        vm.prank(admin);
        registrar.setBounds(PROGRAM, stranger, signer, bounds());
        refusesCaller(operator, stranger);
        vm.prank(operator);
        registrar.collectRefund(id, 1, DECISION);
        vm.prank(stranger);
        registrar.collectRefund(id, 1, DECISION);
        eq(usdc.balanceOf(beneficiary), 1, "the refund arrives");
    }

    /// @dev A stranger sees the pending refund and collects a refund with the same decision hash in its own program.
    function test_aStrangerCannotBlockARefund() public {
        bytes32 id = claimed();
        bytes32 burnt = claimedInAStrangersProgram();
        vm.prank(stranger);
        registrar.collectRefund(burnt, 1, DECISION);
        collectRefund(id, AMOUNT, DECISION);
        eq(usdc.balanceOf(beneficiary), AMOUNT, "the refund arrives");
        eq(registrar.purchase(id).decisionHash, DECISION, "its decision");
        eq(registrar.purchase(burnt).decisionHash, DECISION, "the stranger's decision");
        eq(registrar.purchase(burnt).refunded, 1, "the stranger's refund");
    }

    /// @dev The stranger is admin, operator, signer, buyer and beneficiary of its own program, with its own enrolled wallet.
    function claimedInAStrangersProgram() private returns (bytes32 id) {
        address wallet = account("stranger's merchant");
        IPurchaseRegistrar.FundingAuthorization memory authorization = fundingAuthorization();
        authorization.program = keccak256("prg_stranger");
        authorization.wallet = wallet;
        vm.prank(stranger);
        registrar.openProgram(authorization.program, stranger, signer, bounds());
        bytes memory signature = signFunding(authorization);
        vm.prank(wallet);
        registrar.enroll(authorization, signature);
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        purchase.program = authorization.program;
        purchase.merchant = wallet;
        purchase.buyer = stranger;
        purchase.beneficiary = stranger;
        purchase.amount = 1;
        signature = signPurchase(purchase);
        vm.prank(stranger);
        id = registrar.offer(purchase, signature);
        usdc.faucet(stranger, 1);
        vm.startPrank(stranger);
        usdc.approve(address(registrar), 1);
        registrar.pay(id, 1);
        registrar.claim(id, CLAIM_HASH);
        vm.stopPrank();
        vm.prank(wallet);
        usdc.approve(address(source), 1);
    }

    function test_refundingAnUnknownPurchaseReverts() public {
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

    /// @dev A decision hash is stored per purchase; there is no global list of used ones.
    function test_purchasesMayHaveTheSameDecisionHash() public {
        bytes32 id = claimed();
        bytes32 second = claimedWith("second", 10);
        collectRefund(id, 1, DECISION);
        eq(registrar.purchase(second).decisionHash, bytes32(0), "the other purchase has no decision");
        collectRefund(second, 2, DECISION);
        eq(registrar.purchase(id).decisionHash, DECISION, "the first purchase's decision");
        eq(registrar.purchase(second).decisionHash, DECISION, "the second purchase's decision");
        eq(registrar.purchase(id).refunded, 1, "the first refund stays");
        eq(registrar.purchase(second).refunded, 2, "the second refund");
    }

    /// @dev The decision takes the claim's slot.
    function test_aDecisionMayHaveTheHashOfTheClaim() public {
        bytes32 id = claimed();
        collectRefund(id, 1, CLAIM_HASH);
        eq(registrar.purchase(id).decisionHash, CLAIM_HASH, "decision hash");
        eq(registrar.purchase(id).claimHash, bytes32(0), "claim hash");
    }

    function test_aZeroDecisionHashReverts() public {
        bytes32 id = claimed();
        refusesZero();
        vm.prank(operator);
        registrar.collectRefund(id, 1, bytes32(0));
    }

    function test_aZeroAwardReverts() public {
        bytes32 id = claimed();
        refusesAmount("award", 0, 1, AMOUNT);
        vm.prank(operator);
        registrar.collectRefund(id, 0, DECISION);
    }

    function test_theWholePaidAmountCanBeAwarded() public {
        bytes32 id = claimed();
        collectRefund(id, AMOUNT, DECISION);
        eq(usdc.balanceOf(beneficiary), AMOUNT, "the refund arrives");
    }

    function test_anAwardAboveThePaidAmountReverts() public {
        bytes32 id = offer();
        pay(id, 10);
        claim(id);
        refusesAmount("award", 11, 1, 10);
        vm.prank(operator);
        registrar.collectRefund(id, 11, DECISION);
    }

    function test_aRefundInTheFundingsLastSecondSucceeds() public {
        bytes32 id = claimed();
        vm.warp(FUNDING_UNTIL);
        collectRefund(id, 1, DECISION);
        eq(usdc.balanceOf(beneficiary), 1, "the refund arrives");
    }

    function test_aRefundAfterTheFundingsLastSecondReverts() public {
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

    function test_aRefundIsCollectedFromAWithdrawnOffer() public {
        bytes32 id = offer();
        pay(id, 10);
        claim(id);
        vm.prank(operator);
        registrar.withdrawOffer(id);
        collectRefund(id, 10, DECISION);
        eq(registrar.purchase(id).sequence, 5, "sequence");
        eq(uint8(registrar.purchase(id).status), uint8(IPurchaseRegistrar.Status.Withdrawn), "status");
        eq(usdc.balanceOf(beneficiary), 10, "the refund arrives");
    }

    function test_anAwardForARegisteredPurchaseIsAtMostWhatWasPaid() public {
        bytes32 id = register(commitment());
        pay(id, 10);
        claim(id);
        refusesAmount("award", 11, 1, 10);
        collectRefund(id, 11, DECISION);
        collectRefund(id, 10, DECISION);
        eq(usdc.balanceOf(beneficiary), 10, "the refund arrives");
    }

    /// @dev The unpaid amount counts as open until the offer is withdrawn or expires, although it can no longer be paid.
    function test_aRefundDoesNotReleaseBudget() public {
        bytes32 id = offer();
        pay(id, 10);
        claim(id);
        collectRefund(id, 10, DECISION);
        eq(openOffers(), AMOUNT - 10, "the unpaid part");
        vm.prank(operator);
        registrar.withdrawOffer(id);
        eq(openOffers(), 0, "released");
        eq(registrar.purchase(id).refunded, 10, "refunded");
        eq(registrar.purchase(id).decisionHash, DECISION, "decision");
    }

    function test_theOperatorRefundsADirectPurchase() public {
        bytes32 id = register(commitment());
        pay(id, AMOUNT);
        claim(id);
        collectRefund(id, AMOUNT, DECISION);
        eq(usdc.balanceOf(beneficiary), AMOUNT, "the refund arrives");
    }

    function test_anAllowanceToTheRegistrarDoesNotFundARefund() public {
        bytes32 id = claimed();
        vm.prank(merchant);
        usdc.approve(address(source), 0);
        vm.prank(merchant);
        usdc.approve(address(registrar), AMOUNT);
        refuses("ERC20: transfer amount exceeds allowance");
        vm.prank(operator);
        registrar.collectRefund(id, 1, DECISION);
        eq(registrar.purchase(id).refunded, 0, "refunded");
        eq(registrar.purchase(id).decisionHash, bytes32(0), "no decision");
        eq(registrar.funding(PROGRAM, MERCHANT_REF).collected, 0, "collected");
    }

    function test_amountsOfAnyMagnitudeAreStoredWhole() public {
        uint256 amount = uint256(type(uint128).max) / 3;
        IPurchaseRegistrar.FundingAuthorization memory authorization = fundingAuthorization();
        authorization.wallet = account("large merchant");
        authorization.merchantRef = keccak256("mer_large");
        authorization.cap = type(uint128).max;
        bytes memory signature = signFunding(authorization);
        vm.prank(authorization.wallet);
        registrar.enroll(authorization, signature);
        vm.prank(authorization.wallet);
        usdc.approve(address(source), type(uint256).max);
        usdc.faucet(buyer, 2 * amount);
        vm.prank(buyer);
        usdc.approve(address(registrar), type(uint256).max);
        for (uint256 i = 1; i <= 2; ++i) {
            IPurchaseRegistrar.Purchase memory purchase = commitment();
            purchase.merchant = authorization.wallet;
            purchase.amount = amount;
            purchase.salt = bytes32(i);
            bytes32 id = register(purchase);
            pay(id, amount);
            claim(id);
            collectRefund(id, amount - 1, DECISION);
            eq(registrar.purchase(id).amount, amount, "amount");
            eq(registrar.purchase(id).paid, amount, "paid");
            eq(registrar.purchase(id).refunded, amount - 1, "refunded");
            eq(registrar.funding(PROGRAM, authorization.merchantRef).collected, i * (amount - 1), "collected");
        }
    }

    /// @dev All programs of a wallet share its allowance to the funding source.
    function test_theOtherProgramsOfAWalletLeaveWhatItApprovedForThisOne() public {
        bytes32 id = claimed();
        bytes32 program = keccak256("prg_other");
        vm.prank(stranger);
        registrar.openProgram(program, stranger, signer, bounds());
        IPurchaseRegistrar.FundingAuthorization memory authorization = fundingAuthorization();
        authorization.program = program;
        bytes memory signature = signFunding(authorization);
        vm.prank(merchant);
        registrar.enroll(authorization, signature);
        vm.prank(merchant);
        usdc.approve(address(source), 2 * CAP);

        IPurchaseRegistrar.Purchase memory purchase = commitment();
        purchase.program = program;
        purchase.amount = CAP;
        bytes32 other = register(purchase);
        pay(other, CAP);
        claim(other);
        vm.prank(stranger);
        registrar.collectRefund(other, CAP, DECISION);
        eq(registrar.funding(program, MERCHANT_REF).collected, CAP, "the other cap is used up");

        collectRefund(id, AMOUNT, DECISION);
        eq(usdc.balanceOf(beneficiary), CAP + AMOUNT, "both refunds");
        eq(usdc.allowance(merchant, address(source)), CAP - AMOUNT, "what is still approved");
    }

    function test_trailingCalldataReverts() public {
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
