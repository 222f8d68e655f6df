// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPurchaseRegistrar} from "../../interfaces/IPurchaseRegistrar.sol";
import {Fixture} from "../Fixture.t.sol";

/// @title BatchRulesTest
/// @notice Pays batches of three purchases, of which one breaks a rule: the first, the second or the third. The whole batch
/// reverts with the error of this rule. The other two are of another merchant, in another program, and can be paid.
contract BatchRulesTest is Fixture {
    bytes32 private constant OTHER_PROGRAM = keccak256("prg_other");

    address private otherMerchant = account("other merchant");
    address private otherBuyer = account("other buyer");
    bytes32 private id;
    uint256 private mates;

    function setUp() public override {
        super.setUp();
        vm.prank(admin);
        registrar.openProgram(OTHER_PROGRAM, operator, signer, bounds());
        IPurchaseRegistrar.FundingAuthorization memory authorization = fundingAuthorization();
        authorization.program = OTHER_PROGRAM;
        authorization.wallet = otherMerchant;
        bytes memory signature = signFunding(authorization);
        vm.prank(otherMerchant);
        registrar.enroll(authorization, signature);
        for (uint256 i = 0; i < 2; ++i) {
            address payer = i == 0 ? otherBuyer : beneficiary;
            usdc.faucet(payer, 100);
            vm.prank(payer);
            usdc.approve(address(registrar), 100);
        }
        id = offer();
    }

    function mate(address payer) private returns (bytes32) {
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        purchase.program = OTHER_PROGRAM;
        purchase.merchant = otherMerchant;
        purchase.buyer = payer;
        purchase.beneficiary = stranger;
        purchase.payDeadline = CLAIM_DEADLINE;
        purchase.salt = bytes32(++mates);
        return register(purchase);
    }

    /// @dev A batch of three with a payment at one place.
    function batchOf(address payer, uint256 place, bytes32 paid, uint256 amount) private returns (bytes memory) {
        bytes32[] memory ids = new bytes32[](3);
        uint256[] memory amounts = new uint256[](3);
        for (uint256 i = 0; i < 3; ++i) {
            (ids[i], amounts[i]) = i == place ? (paid, amount) : (mate(payer), i + 1);
        }
        return abi.encodeCall(registrar.payBatch, (ids, amounts));
    }

    function refusesAtEachPlace(address payer, uint256 amount, bytes memory reason) private {
        for (uint256 place = 0; place < 3; ++place) {
            uint256 time = block.timestamp;
            vm.warp(START);
            bytes memory batch = batchOf(payer, place, id, amount);
            vm.warp(time);
            refusesRaw(payer, batch, reason);
        }
    }

    function test_eachPaymentGoesToItsMerchant() public {
        for (uint256 place = 0; place < 3; ++place) {
            uint256 before = usdc.balanceOf(merchant);
            succeedsRaw(buyer, batchOf(buyer, place, id, 10));
            eq(usdc.balanceOf(merchant), before + 10, "the merchant's balance");
        }
        // 1 to 3, but for the amount of the place.
        eq(usdc.balanceOf(otherMerchant), 3 * 6 - 6, "the other merchant's balance");
        eq(registrar.purchase(id).paid, 30, "paid");
    }

    function test_theWithdrawnPurchase() public {
        vm.prank(operator);
        registrar.withdrawOffer(id);
        bytes4 selector = IPurchaseRegistrar.WrongStatus.selector;
        refusesAtEachPlace(
            buyer,
            1,
            abi.encodeWithSelector(
                selector, id, IPurchaseRegistrar.Status.Withdrawn, IPurchaseRegistrar.Status.Open
            )
        );
    }

    function test_theUnknownPurchase() public {
        id = keccak256("unknown");
        refusesAtEachPlace(buyer, 1, abi.encodeWithSelector(IPurchaseRegistrar.UnknownPurchase.selector, id));
    }

    function test_thePurchaseOfAnotherBuyer() public {
        pay(id, 1);
        bytes4 selector = IPurchaseRegistrar.WrongCaller.selector;
        refusesAtEachPlace(otherBuyer, 1, abi.encodeWithSelector(selector, otherBuyer, buyer));
        refusesAtEachPlace(beneficiary, 1, abi.encodeWithSelector(selector, beneficiary, buyer));
    }

    function test_theRefundedPurchase() public {
        pay(id, 1);
        claim(id);
        collectRefund(id, 1, DECISION);
        refusesAtEachPlace(
            buyer, 1, abi.encodeWithSelector(IPurchaseRegistrar.AlreadyRefunded.selector, id, DECISION)
        );
    }

    function test_thePausedProgram() public {
        pause();
        refusesAtEachPlace(buyer, 1, abi.encodeWithSelector(IPurchaseRegistrar.ProgramPaused.selector, PROGRAM));
    }

    function test_theLatePayment() public {
        vm.warp(PAY_DEADLINE + 1);
        bytes4 selector = IPurchaseRegistrar.DeadlinePassed.selector;
        refusesAtEachPlace(buyer, 1, abi.encodeWithSelector(selector, PAY_DEADLINE + 1, PAY_DEADLINE));
    }

    function test_thePaymentOfZeroOrTooMuch() public {
        bytes4 selector = IPurchaseRegistrar.AmountOutOfRange.selector;
        refusesAtEachPlace(buyer, 0, abi.encodeWithSelector(selector, "amount", 0, 1, AMOUNT));
        refusesAtEachPlace(buyer, AMOUNT + 1, abi.encodeWithSelector(selector, "amount", AMOUNT + 1, 1, AMOUNT));
    }

    function test_thePurchaseThatIsPaidTwice() public {
        bytes32[] memory ids = new bytes32[](3);
        (ids[0], ids[1], ids[2]) = (id, mate(buyer), id);
        uint256[] memory amounts = new uint256[](3);
        (amounts[0], amounts[1], amounts[2]) = (AMOUNT - 1, 1, 2);
        refusesRaw(
            buyer,
            abi.encodeCall(registrar.payBatch, (ids, amounts)),
            abi.encodeWithSelector(IPurchaseRegistrar.AmountOutOfRange.selector, "amount", 2, 1, 1)
        );
    }

    function test_thePaymentAboveTheAllowance() public {
        vm.prank(buyer);
        usdc.approve(address(registrar), 9);
        refusesAtEachPlace(
            buyer, 10, abi.encodeWithSignature("Error(string)", "ERC20: transfer amount exceeds allowance")
        );
    }

    function test_theBlockedMerchant() public {
        vm.prank(admin);
        usdc.blacklist(merchant);
        refusesAtEachPlace(
            buyer, 1, abi.encodeWithSignature("Error(string)", "Blacklistable: account is blacklisted")
        );
    }
}
