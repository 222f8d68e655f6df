// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPurchaseRegistrar} from "../../interfaces/IPurchaseRegistrar.sol";
import {Fixture} from "../Fixture.t.sol";

/// @title StatesTest
/// @notice Tries each call by each party in each state of a purchase, its funding and its program. A call that breaks one rule
/// reverts with the error of this rule; a call that breaks none succeeds. Calls that break several rules are left out.
contract StatesTest is Fixture {
    enum Paid {
        Nothing,
        Part,
        All
    }

    enum Claim {
        None,
        Filed,
        Refunded
    }

    enum Circumstance {
        Plain,
        Revoked,
        Enrolled,
        Paused,
        RevokedAndPaused,
        WithoutBounds,
        WithoutOperator,
        WithCode
    }

    struct Situation {
        Circumstance circumstance;
        bool direct;
        Paid paid;
        Claim claim;
        IPurchaseRegistrar.Status status;
    }

    /// @dev Ends a situation, and undoes all of it.
    error Undone(bool success, bytes returned);
    error Differs(string call, address sender, Situation situation, bytes4 expected, bytes returned);

    uint256 private constant PART = AMOUNT / 2;
    uint256 private constant OTHER = CAP - PART + 1;
    uint256 private constant NEXT = PART - 1;
    bytes32 private constant NEXT_REF = keccak256("mer_next");

    Situation private situation;
    bytes32 private id;
    bytes32 private other;
    /// The rules that the next call breaks: how many, and the error of the last one.
    uint256 private brokenRules;
    bytes4 private brokenError;

    function test_plain() public {
        tryAll(Circumstance.Plain);
    }

    function test_withARevokedFunding() public {
        tryAll(Circumstance.Revoked);
    }

    function test_afterANewEnrollment() public {
        tryAll(Circumstance.Enrolled);
    }

    function test_duringAPause() public {
        tryAll(Circumstance.Paused);
    }

    function test_withARevokedFundingDuringAPause() public {
        tryAll(Circumstance.RevokedAndPaused);
    }

    function test_withoutBounds() public {
        tryAll(Circumstance.WithoutBounds);
    }

    function test_withoutAnOperator() public {
        tryAll(Circumstance.WithoutOperator);
    }

    function test_withWalletsThatHaveCode() public {
        tryAll(Circumstance.WithCode);
    }

    // States

    function tryAll(Circumstance circumstance) private {
        for (uint256 i = 0; i < 2 * 3 * 3 * 3; ++i) {
            Situation memory tried = Situation({
                circumstance: circumstance,
                direct: i % 2 == 1,
                paid: Paid(i / 2 % 3),
                claim: Claim(i / 6 % 3),
                status: IPurchaseRegistrar.Status(1 + i / 18)
            });
            if (!isReachable(tried)) continue;
            try this.trySituation(tried) {
                eq(true, false, "the situation ends with an error");
            } catch (bytes memory reason) {
                if (bytes4(reason) != Undone.selector) bubble(reason);
            }
        }
    }

    function isReachable(Situation memory tried) private pure returns (bool) {
        if (tried.paid == Paid.Nothing && tried.claim != Claim.None) return false;
        if (tried.paid == Paid.All && tried.status != IPurchaseRegistrar.Status.Open) return false;
        return !(tried.direct && tried.status == IPurchaseRegistrar.Status.Withdrawn);
    }

    function trySituation(Situation calldata tried) external {
        vm.warp(START);
        situation = tried;
        reach();
        tryPayments();
        tryClaims();
        tryRefunds();
        tryEnds();
        tryProgram();
        tryNewPurchases();
        tryEnrollments();
        tryRefundsOfTheRest();
        revert Undone(true, "");
    }

    function reach() private {
        if (situation.circumstance == Circumstance.WithCode) giveCode();
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        purchase.salt = keccak256("other");
        purchase.amount = OTHER;
        other = register(purchase);
        pay(other, OTHER);
        claim(other);
        id = situation.direct ? register(commitment()) : offer();
        if (situation.paid == Paid.Part) pay(id, PART);
        if (situation.paid == Paid.All) pay(id, AMOUNT);
        if (situation.claim != Claim.None) claim(id);
        if (situation.claim == Claim.Refunded) collectRefund(id, 1, DECISION);
        if (situation.status == IPurchaseRegistrar.Status.Withdrawn) {
            vm.prank(operator);
            registrar.withdrawOffer(id);
        }
        if (situation.status == IPurchaseRegistrar.Status.Expired) {
            vm.warp(PAY_DEADLINE + 1);
            registrar.expire(id);
        }
        changeCircumstance(situation.circumstance);
    }

    function giveCode() private {
        address[6] memory all = parties();
        for (uint256 i = 0; i < all.length; ++i) {
            vm.etch(all[i], hex"00");
        }
    }

    function changeCircumstance(Circumstance circumstance) private {
        if (isRevoked()) revoke();
        if (circumstance == Circumstance.Enrolled) {
            IPurchaseRegistrar.FundingAuthorization memory authorization = newAuthorization(merchant);
            bytes memory signature = signFunding(authorization);
            vm.prank(merchant);
            registrar.enroll(authorization, signature);
        }
        if (isPaused()) pause();
        if (circumstance == Circumstance.WithoutBounds) {
            vm.prank(admin);
            registrar.setBounds(PROGRAM, operator, signer, IPurchaseRegistrar.Bounds(0, 0, 0));
        }
        if (circumstance == Circumstance.WithoutOperator) {
            vm.prank(admin);
            registrar.setBounds(PROGRAM, address(0), signer, bounds());
        }
    }

    function parties() private view returns (address[6] memory) {
        return [admin, operator, merchant, buyer, beneficiary, stranger];
    }

    function newAuthorization(address wallet)
        private
        view
        returns (IPurchaseRegistrar.FundingAuthorization memory authorization)
    {
        authorization = fundingAuthorization();
        authorization.wallet = wallet;
        authorization.merchantRef = NEXT_REF;
        authorization.cap = 2 * CAP;
    }

    function isRevoked() private view returns (bool) {
        Circumstance circumstance = situation.circumstance;
        return circumstance == Circumstance.Revoked || circumstance == Circumstance.RevokedAndPaused
            || circumstance == Circumstance.Enrolled;
    }

    function isPaused() private view returns (bool) {
        return situation.circumstance == Circumstance.Paused
            || situation.circumstance == Circumstance.RevokedAndPaused;
    }

    function currentOperator() private view returns (address) {
        return situation.circumstance == Circumstance.WithoutOperator ? address(0) : operator;
    }

    function paid() private view returns (uint256) {
        return situation.paid == Paid.Nothing ? 0 : situation.paid == Paid.Part ? PART : AMOUNT;
    }

    function isOpen() private view returns (bool) {
        return situation.status == IPurchaseRegistrar.Status.Open;
    }

    /// @dev The earliest second in which this situation's calls are made.
    function current() private view returns (uint256) {
        return situation.status == IPurchaseRegistrar.Status.Expired ? PAY_DEADLINE + 1 : START;
    }

    // Calls

    function breaks(bool isBroken, bytes4 selector) private {
        if (!isBroken) return;
        ++brokenRules;
        brokenError = selector;
    }

    /// @dev Makes a call, undoes it, and compares its outcome with the rules that it breaks.
    function attempt(string memory name, address sender, uint256 time, bytes memory data) private {
        (uint256 broken, bytes4 expected) = (brokenRules, brokenError);
        brokenRules = 0;
        if (broken > 1 || time < current()) return;
        vm.warp(time);
        (bool success, bytes memory returned) = undo(sender, data, broken == 0);
        if (success != (broken == 0) || (broken == 1 && bytes4(returned) != expected)) {
            revert Differs(name, sender, situation, broken == 0 ? bytes4(0) : expected, returned);
        }
        vm.warp(current());
    }

    function undo(address sender, bytes memory data, bool books)
        private
        returns (bool success, bytes memory returned)
    {
        try this.callAndUndo(sender, data, books) {}
        catch (bytes memory reason) {
            if (bytes4(reason) != Undone.selector) bubble(reason);
            assembly ("memory-safe") {
                let length := sub(mload(reason), 4)
                reason := add(reason, 4)
                mstore(reason, length)
            }
            (success, returned) = abi.decode(reason, (bool, bytes));
        }
    }

    function callAndUndo(address sender, bytes calldata data, bool books) external {
        vm.prank(sender);
        (bool success, bytes memory returned) = address(registrar).call(data);
        if (success && books) checkBooks();
        revert Undone(success, returned);
    }

    /// @dev The open offers are what is outstanding of the offer, and refunds count under the funding of their purchases.
    function checkBooks() private view {
        IPurchaseRegistrar.PurchaseState memory state = registrar.purchase(id);
        bool counts = state.route == IPurchaseRegistrar.Route.Offer && state.status == IPurchaseRegistrar.Status.Open;
        IPurchaseRegistrar.PurchaseState memory next = registrar.purchase(registrar.hashPurchase(nextPurchase()));
        uint256 nextOffer = next.route == IPurchaseRegistrar.Route.Offer ? NEXT : 0;
        eq(openOffers(), (counts ? AMOUNT - state.paid : 0) + nextOffer, "the open offers");
        eq(
            registrar.funding(PROGRAM, MERCHANT_REF).collected,
            state.refunded + registrar.purchase(other).refunded,
            "the collected refunds"
        );
    }

    function bubble(bytes memory reason) private pure {
        assembly ("memory-safe") {
            revert(add(reason, 0x20), mload(reason))
        }
    }

    function tryPayments() private {
        address[6] memory all = parties();
        for (uint256 i = 0; i < all.length; ++i) {
            tryPayment(all[i], START, 1);
        }
        tryPayment(buyer, PAY_DEADLINE, 1);
        tryPayment(buyer, PAY_DEADLINE + 1, 1);
        tryPayment(buyer, START, AMOUNT - PART);
        tryPayment(buyer, START, AMOUNT - PART + 1);
    }

    function tryPayment(address sender, uint256 time, uint256 amount) private {
        breaks(!isOpen(), IPurchaseRegistrar.WrongStatus.selector);
        breaks(sender != buyer, IPurchaseRegistrar.WrongCaller.selector);
        breaks(situation.claim == Claim.Refunded, IPurchaseRegistrar.AlreadyRefunded.selector);
        breaks(isPaused(), IPurchaseRegistrar.ProgramPaused.selector);
        breaks(time > PAY_DEADLINE, IPurchaseRegistrar.DeadlinePassed.selector);
        breaks(amount > AMOUNT - paid(), IPurchaseRegistrar.AmountOutOfRange.selector);
        attempt("pay", sender, time, abi.encodeCall(registrar.pay, (id, amount)));
    }

    function tryClaims() private {
        address[6] memory all = parties();
        for (uint256 i = 0; i < all.length; ++i) {
            tryClaim(all[i], current());
        }
        tryClaim(beneficiary, CLAIM_DEADLINE);
        tryClaim(beneficiary, CLAIM_DEADLINE + 1);
    }

    function tryClaim(address sender, uint256 time) private {
        breaks(sender != beneficiary, IPurchaseRegistrar.WrongCaller.selector);
        breaks(time > CLAIM_DEADLINE, IPurchaseRegistrar.DeadlinePassed.selector);
        breaks(situation.paid == Paid.Nothing, IPurchaseRegistrar.NothingPaid.selector);
        breaks(situation.claim == Claim.Filed, IPurchaseRegistrar.AlreadyClaimed.selector);
        breaks(situation.claim == Claim.Refunded, IPurchaseRegistrar.AlreadyRefunded.selector);
        attempt("claim", sender, time, abi.encodeCall(registrar.claim, (id, CLAIM_HASH)));
    }

    function tryRefunds() private {
        address[6] memory all = parties();
        for (uint256 i = 0; i < all.length; ++i) {
            tryRefund(all[i], current(), 1, CAP);
        }
        tryRefund(operator, FUNDING_UNTIL, 1, CAP);
        tryRefund(operator, FUNDING_UNTIL + 1, 1, CAP);
        tryRefund(operator, current(), PART, CAP);
        tryRefund(operator, current(), PART + 1, CAP);
    }

    /// @dev The refund of the other purchase is not undone.
    function tryRefundsOfTheRest() private {
        if (currentOperator() == address(0)) return;
        collectRefund(other, OTHER, DECISION);
        tryRefund(operator, current(), CAP - OTHER, CAP - OTHER);
        tryRefund(operator, current(), CAP - OTHER + 1, CAP - OTHER);
    }

    function tryRefund(address sender, uint256 time, uint256 award, uint256 rest) private {
        breaks(sender != currentOperator(), IPurchaseRegistrar.WrongCaller.selector);
        breaks(situation.claim == Claim.None, IPurchaseRegistrar.NotClaimed.selector);
        breaks(situation.claim == Claim.Refunded, IPurchaseRegistrar.AlreadyRefunded.selector);
        breaks(award > paid(), IPurchaseRegistrar.AmountOutOfRange.selector);
        breaks(time > FUNDING_UNTIL, IPurchaseRegistrar.DeadlinePassed.selector);
        breaks(award > rest, IPurchaseRegistrar.FundingInsufficient.selector);
        attempt("collectRefund", sender, time, abi.encodeCall(registrar.collectRefund, (id, award, DECISION)));
    }

    function tryEnds() private {
        address[6] memory all = parties();
        for (uint256 i = 0; i < all.length; ++i) {
            breaks(!isOpen(), IPurchaseRegistrar.WrongStatus.selector);
            breaks(situation.direct, IPurchaseRegistrar.WrongRoute.selector);
            breaks(all[i] != currentOperator(), IPurchaseRegistrar.WrongCaller.selector);
            breaks(
                situation.circumstance == Circumstance.WithoutBounds, IPurchaseRegistrar.DeadlinePassed.selector
            );
            breaks(situation.paid == Paid.All, IPurchaseRegistrar.NothingOutstanding.selector);
            attempt("withdrawOffer", all[i], current(), abi.encodeCall(registrar.withdrawOffer, (id)));
        }
        for (uint256 i = 0; i < all.length; ++i) {
            tryExpiry(all[i], PAY_DEADLINE + 1);
        }
        tryExpiry(stranger, PAY_DEADLINE);
    }

    function tryExpiry(address sender, uint256 time) private {
        breaks(!isOpen(), IPurchaseRegistrar.WrongStatus.selector);
        breaks(time == PAY_DEADLINE, IPurchaseRegistrar.DeadlineNotPassed.selector);
        breaks(situation.paid == Paid.All, IPurchaseRegistrar.NothingOutstanding.selector);
        attempt("expire", sender, time, abi.encodeCall(registrar.expire, (id)));
    }

    function tryProgram() private {
        address[6] memory all = parties();
        for (uint256 i = 0; i < all.length; ++i) {
            breaks(all[i] != admin, IPurchaseRegistrar.WrongCaller.selector);
            attempt("setPaused", all[i], current(), abi.encodeCall(registrar.setPaused, (PROGRAM, !isPaused())));
            breaks(all[i] != admin, IPurchaseRegistrar.WrongCaller.selector);
            bytes memory data = abi.encodeCall(registrar.setBounds, (PROGRAM, operator, signer, bounds()));
            attempt("setBounds", all[i], current(), data);
            breaks(all[i] != merchant, IPurchaseRegistrar.WrongCaller.selector);
            breaks(isRevoked(), IPurchaseRegistrar.AlreadyRevoked.selector);
            data = abi.encodeCall(registrar.revokeFunding, (PROGRAM, MERCHANT_REF));
            attempt("revokeFunding", all[i], current(), data);
        }
    }

    function nextPurchase() private view returns (IPurchaseRegistrar.Purchase memory purchase) {
        purchase = commitment();
        purchase.salt = keccak256("next");
        purchase.amount = NEXT;
        purchase.offerDeadline = PAY_DEADLINE + 1;
        purchase.payDeadline = PAY_DEADLINE + 1;
    }

    function tryNewPurchases() private {
        IPurchaseRegistrar.Purchase memory purchase = nextPurchase();
        bytes memory signature = signPurchase(purchase);
        bool without = situation.circumstance == Circumstance.WithoutBounds;
        bool unfunded = isRevoked() && situation.circumstance != Circumstance.Enrolled;
        address[6] memory all = parties();
        for (uint256 i = 0; i < all.length; ++i) {
            breaks(all[i] != merchant, IPurchaseRegistrar.WrongCaller.selector);
            breaks(isPaused(), IPurchaseRegistrar.ProgramPaused.selector);
            breaks(unfunded, IPurchaseRegistrar.NotEnrolled.selector);
            attempt("register", all[i], current(), abi.encodeCall(registrar.register, (purchase, signature)));
            // Without bounds, an offer breaks several rules.
            if (without) continue;
            breaks(all[i] != currentOperator(), IPurchaseRegistrar.WrongCaller.selector);
            breaks(isPaused(), IPurchaseRegistrar.ProgramPaused.selector);
            breaks(unfunded, IPurchaseRegistrar.NotEnrolled.selector);
            attempt("offer", all[i], current(), abi.encodeCall(registrar.offer, (purchase, signature)));
        }
    }

    function tryEnrollments() private {
        IPurchaseRegistrar.FundingAuthorization memory authorization = newAuthorization(stranger);
        authorization.merchantRef = keccak256("mer_stranger");
        bytes memory signature = signFunding(authorization);
        address[6] memory all = parties();
        for (uint256 i = 0; i < all.length; ++i) {
            breaks(all[i] != stranger, IPurchaseRegistrar.WrongCaller.selector);
            breaks(isPaused(), IPurchaseRegistrar.ProgramPaused.selector);
            attempt("enroll", all[i], current(), abi.encodeCall(registrar.enroll, (authorization, signature)));
        }
    }
}
