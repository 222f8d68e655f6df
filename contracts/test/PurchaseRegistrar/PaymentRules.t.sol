// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IPurchaseRegistrar} from "../../interfaces/IPurchaseRegistrar.sol";
import {Fixture} from "../Fixture.t.sol";
import {Vm} from "../Vm.t.sol";

/// @title PaymentRules
/// @notice The rules that `pay`, `payBatch` and `payWithPermit` share. The test of each runs them all.
abstract contract PaymentRules is Fixture {
    /// @dev The calldata with which the buyer pays `amount` of a purchase.
    function call(bytes32 id, uint256 amount) internal view virtual returns (bytes memory);

    function submit(address sender, bytes32 id, uint256 amount) internal returns (bool success, bytes memory answer) {
        bytes memory data = call(id, amount);
        vm.prank(sender);
        return address(registrar).call(data);
    }

    function accepts(bytes32 id, uint256 amount) internal {
        (bool success,) = submit(buyer, id, amount);
        eq(success, true, "the payment is accepted");
    }

    function rejects(bytes32 id, uint256 amount, bytes memory reason) internal {
        rejectsFrom(buyer, id, amount, reason);
    }

    function rejectsFrom(address sender, bytes32 id, uint256 amount, bytes memory reason) internal {
        bytes32 before = trace(id);
        (bool success, bytes memory answer) = submit(sender, id, amount);
        eq(success, false, "the payment is refused");
        eq(keccak256(answer), keccak256(reason), "the reason");
        eq(trace(id), before, "nothing changed");
    }

    /// @dev The state that a reverted payment must not change.
    function trace(bytes32 id) internal view returns (bytes32) {
        return keccak256(
            abi.encode(
                registrar.purchase(id),
                registrar.programState(PROGRAM),
                usdc.balanceOf(buyer),
                usdc.balanceOf(merchant),
                usdc.allowance(buyer, address(registrar)),
                usdc.nonces(buyer)
            )
        );
    }

    function outOfRange(uint256 actual, uint256 max) internal pure returns (bytes memory) {
        return abi.encodeWithSelector(IPurchaseRegistrar.AmountOutOfRange.selector, "amount", actual, 1, max);
    }

    function wrongStatus(bytes32 id, IPurchaseRegistrar.Status actual) internal pure returns (bytes memory) {
        return abi.encodeWithSelector(
            IPurchaseRegistrar.WrongStatus.selector, id, actual, IPurchaseRegistrar.Status.Open
        );
    }

    function test_aLoweredBudgetStopsNoPayment() public {
        bytes32 id = offer();
        IPurchaseRegistrar.Purchase memory second = commitment();
        second.salt = keccak256("direct");
        bytes32 direct = register(second);
        vm.prank(admin);
        registrar.setBounds(PROGRAM, operator, signer, IPurchaseRegistrar.Bounds(0, 0, START));
        accepts(id, 1);
        accepts(direct, 1);
    }

    function test_theBuyerPays() public {
        bytes32 id = offer();
        bytes memory data = call(id, AMOUNT);
        expectLog(address(registrar));
        emit IPurchaseRegistrar.PurchasePaid(id, buyer, merchant, 2, AMOUNT, AMOUNT);
        vm.prank(buyer);
        (bool success,) = address(registrar).call(data);
        eq(success, true, "the payment is accepted");
        eq(usdc.balanceOf(buyer), 1_000_000_000 - AMOUNT, "the buyer's balance");
        eq(usdc.balanceOf(merchant), 1_000_000_000 + AMOUNT, "the merchant's balance");
        eq(registrar.purchase(id).paid, AMOUNT, "paid");
        eq(registrar.purchase(id).sequence, 2, "sequence");
        eq(openOffers(), 0, "open offers");
    }

    function test_partialPaymentsAddUp() public {
        bytes32 id = offer();
        accepts(id, 1);
        bytes memory data = call(id, 2);
        expectLog(address(registrar));
        emit IPurchaseRegistrar.PurchasePaid(id, buyer, merchant, 3, 2, 3);
        vm.prank(buyer);
        (bool success,) = address(registrar).call(data);
        eq(success, true, "the payment is accepted");
        eq(registrar.purchase(id).paid, 3, "paid");
        eq(openOffers(), AMOUNT - 3, "open offers");
    }

    function test_thePaymentIsLoggedBeforeItsTransfer() public {
        bytes32 id = offer();
        bytes memory data = call(id, AMOUNT);
        vm.recordLogs();
        vm.prank(buyer);
        (bool success,) = address(registrar).call(data);
        eq(success, true, "the payment is accepted");
        Vm.Log[] memory logs = vm.getRecordedLogs();
        eq(logs[0].emitter, address(registrar), "the first emitter");
        eq(logs[0].topics[0], IPurchaseRegistrar.PurchasePaid.selector, "the first log");
        Vm.Log memory last = logs[logs.length - 1];
        eq(last.emitter, address(usdc), "the last emitter");
        eq(last.topics[0], IERC20.Transfer.selector, "the last log");
        uint256 payments;
        for (uint256 i = 0; i < logs.length; ++i) {
            if (logs[i].emitter == address(registrar)) ++payments;
        }
        eq(payments, 1, "one payment log");
    }

    function test_payingADirectPurchaseDoesNotChangeTheOpenOffers() public {
        offer();
        IPurchaseRegistrar.Purchase memory second = commitment();
        second.salt = keccak256("direct");
        bytes32 id = register(second);
        accepts(id, AMOUNT);
        eq(openOffers(), AMOUNT, "open offers");
        eq(registrar.purchase(id).paid, AMOUNT, "paid");
    }

    function test_onlyTheBuyerPays() public {
        bytes32 id = offer();
        address[] memory others = everyoneBut(buyer);
        for (uint256 i = 0; i < others.length; ++i) {
            rejectsFrom(
                others[i],
                id,
                1,
                abi.encodeWithSelector(IPurchaseRegistrar.WrongCaller.selector, others[i], buyer)
            );
        }
    }

    function test_payingAnUnknownPurchaseReverts() public {
        bytes32 id = keccak256("nothing");
        rejects(id, 1, abi.encodeWithSelector(IPurchaseRegistrar.UnknownPurchase.selector, id));
    }

    function test_aPauseStopsPayments() public {
        bytes32 id = offer();
        pause();
        rejects(id, 1, abi.encodeWithSelector(IPurchaseRegistrar.ProgramPaused.selector, PROGRAM));
    }

    function test_aPauseStopsPaymentsOfADirectPurchaseToo() public {
        bytes32 id = register(commitment());
        pause();
        rejects(id, 1, abi.encodeWithSelector(IPurchaseRegistrar.ProgramPaused.selector, PROGRAM));
    }

    function test_aPaymentInTheLastSecondSucceeds() public {
        bytes32 id = offer();
        vm.warp(PAY_DEADLINE);
        accepts(id, AMOUNT);
        eq(registrar.purchase(id).paid, AMOUNT, "paid");
    }

    function test_aPaymentOneSecondAfterTheDeadlineReverts() public {
        bytes32 id = offer();
        vm.warp(PAY_DEADLINE + 1);
        rejects(
            id,
            1,
            abi.encodeWithSelector(IPurchaseRegistrar.DeadlinePassed.selector, PAY_DEADLINE + 1, PAY_DEADLINE)
        );
    }

    function test_theEndOfTheBoundsDoesNotStopPayments() public {
        bytes32 id = offer();
        IPurchaseRegistrar.Bounds memory none;
        vm.prank(admin);
        registrar.setBounds(PROGRAM, address(0), signer, none);
        accepts(id, AMOUNT);
        eq(openOffers(), 0, "open offers");
    }

    function test_aRevocationDoesNotStopPayments() public {
        bytes32 id = offer();
        revoke();
        accepts(id, AMOUNT);
        eq(registrar.purchase(id).paid, AMOUNT, "paid");
    }

    function test_aZeroPaymentReverts() public {
        bytes32 id = offer();
        rejects(id, 0, outOfRange(0, AMOUNT));
    }

    function test_payingMoreThanTheAmountReverts() public {
        bytes32 id = offer();
        rejects(id, AMOUNT + 1, outOfRange(AMOUNT + 1, AMOUNT));
    }

    function test_payingMoreThanTheOutstandingAmountReverts() public {
        bytes32 id = offer();
        accepts(id, AMOUNT - 5);
        rejects(id, 6, outOfRange(6, 5));
    }

    function test_payingAFullyPaidPurchaseReverts() public {
        bytes32 id = offer();
        accepts(id, AMOUNT);
        rejects(id, 1, outOfRange(1, 0));
    }

    function test_anAmountThatOverflowsReverts() public {
        bytes32 id = offer();
        accepts(id, 5);
        rejects(id, type(uint256).max - 3, outOfRange(type(uint256).max - 3, AMOUNT - 5));
    }

    function test_payingARefundedPurchaseReverts() public {
        bytes32 id = offer();
        accepts(id, 5);
        claim(id);
        collectRefund(id, 1, DECISION);
        rejects(id, 1, abi.encodeWithSelector(IPurchaseRegistrar.AlreadyRefunded.selector, id, DECISION));
    }

    function test_payingAClaimedPurchaseSucceeds() public {
        bytes32 id = offer();
        accepts(id, 5);
        claim(id);
        accepts(id, AMOUNT - 5);
        eq(registrar.purchase(id).paid, AMOUNT, "paid");
        eq(registrar.purchase(id).claimHash, CLAIM_HASH, "the claim stays");
    }

    function test_payingAWithdrawnOfferReverts() public {
        bytes32 id = offer();
        vm.prank(operator);
        registrar.withdrawOffer(id);
        rejects(id, 1, wrongStatus(id, IPurchaseRegistrar.Status.Withdrawn));
    }

    function test_payingAnExpiredPurchaseReverts() public {
        bytes32 id = offer();
        vm.warp(PAY_DEADLINE + 1);
        registrar.expire(id);
        vm.warp(START);
        rejects(id, 1, wrongStatus(id, IPurchaseRegistrar.Status.Expired));
    }

    function test_aRevertingTransferLeavesTheStateUnchanged() public {
        bytes32 id = offer();
        vm.prank(admin);
        usdc.blacklist(merchant);
        rejects(id, AMOUNT, abi.encodeWithSignature("Error(string)", "Blacklistable: account is blacklisted"));
    }

    function test_payingWithoutTheBalanceReverts() public {
        bytes32 id = offer();
        vm.prank(buyer);
        usdc.transfer(stranger, 1_000_000_000);
        rejects(id, AMOUNT, abi.encodeWithSignature("Error(string)", "ERC20: transfer amount exceeds balance"));
    }

    function test_aDirectTransferIsNotRecordedAsPayment() public {
        bytes32 id = offer();
        vm.prank(buyer);
        usdc.transfer(merchant, AMOUNT);
        eq(registrar.purchase(id).paid, 0, "paid");
        accepts(id, AMOUNT);
    }

    function test_sendingEtherReverts() public {
        bytes memory data = call(offer(), 1);
        vm.deal(buyer, 1);
        vm.prank(buyer);
        (bool success, bytes memory answer) = address(registrar).call{value: 1}(data);
        eq(success, false, "refused");
        eq(answer.length, 0, "by the dispatcher");
    }

    function testFuzz_partialPaymentsNeverExceedTheAmount(uint256[6] memory parts) public {
        bytes32 id = offer();
        uint256 expected;
        for (uint256 i = 0; i < parts.length; ++i) {
            uint256 part = clamp(parts[i], 0, AMOUNT);
            bool fits = part > 0 && expected + part <= AMOUNT;
            (bool success,) = submit(buyer, id, part);
            eq(success, fits, "a part is accepted while it is outstanding");
            if (fits) expected += part;
            IPurchaseRegistrar.Figures memory figures = registrar.figures(id);
            eq(figures.paid, expected, "paid");
            eq(figures.paid + figures.outstanding, AMOUNT, "paid and outstanding make the amount");
            eq(openOffers(), AMOUNT - expected, "open offers");
            eq(usdc.balanceOf(merchant), 1_000_000_000 + expected, "the merchant's balance");
        }
    }

    function testFuzz_onlyTheBuyerPays(address caller) public {
        vm.assume(caller != buyer);
        bytes32 id = offer();
        rejectsFrom(caller, id, 1, abi.encodeWithSelector(IPurchaseRegistrar.WrongCaller.selector, caller, buyer));
    }
}
