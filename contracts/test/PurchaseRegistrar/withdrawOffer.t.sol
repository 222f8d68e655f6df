// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPurchaseRegistrar} from "../../interfaces/IPurchaseRegistrar.sol";
import {Fixture} from "../Fixture.t.sol";

contract WithdrawOfferTest is Fixture {
    function test_theOperatorWithdraws() public {
        bytes32 id = offer();
        pay(id, 5_000_000);
        expectLog(address(registrar));
        emit IPurchaseRegistrar.OfferWithdrawn(id, PROGRAM, 3, AMOUNT - 5_000_000);
        vm.prank(operator);
        registrar.withdrawOffer(id);
        eq(uint8(registrar.purchase(id).status), uint8(IPurchaseRegistrar.Status.Withdrawn), "status");
        eq(registrar.purchase(id).sequence, 3, "sequence");
        eq(openOffers(), 0, "exactly the unpaid part is released");
    }

    function test_onlyTheUnpaidPartOfThisOfferIsReleased() public {
        bytes32 id = offer();
        IPurchaseRegistrar.Purchase memory second = commitment();
        second.salt = keccak256("second");
        second.amount = 7;
        offer(second);
        vm.prank(operator);
        registrar.withdrawOffer(id);
        eq(openOffers(), 7, "the other offer's part stays");
    }

    function test_payingAWithdrawnOfferReverts() public {
        bytes32 id = offer();
        withdraw(id);
        refusesStatus(id, IPurchaseRegistrar.Status.Withdrawn);
        vm.prank(buyer);
        registrar.pay(id, 1);
    }

    function test_paymentsBeforeAWithdrawalCanBeClaimedAndRefunded() public {
        bytes32 id = offer();
        pay(id, 5);
        withdraw(id);
        claim(id);
        collectRefund(id, 5, DECISION);
        eq(usdc.balanceOf(beneficiary), 5, "the refund arrives");
    }

    function test_onlyTheOperatorWithdraws() public {
        onlyFor(operator, abi.encodeCall(registrar.withdrawOffer, (offer())));
    }

    function test_withdrawingInTheBoundsLastSecondSucceeds() public {
        bytes32 id = offer();
        vm.warp(BOUNDS_UNTIL);
        withdraw(id);
        eq(openOffers(), 0, "released");
    }

    function test_withdrawingAfterTheBoundsLastSecondReverts() public {
        bytes32 id = offer();
        vm.warp(BOUNDS_UNTIL + 1);
        refusesTime(BOUNDS_UNTIL);
        vm.prank(operator);
        registrar.withdrawOffer(id);
    }

    function test_withdrawingAnUnknownPurchaseReverts() public {
        refusesUnknown(keccak256("nothing"));
        vm.prank(operator);
        registrar.withdrawOffer(keccak256("nothing"));
    }

    function test_withdrawingADirectPurchaseReverts() public {
        bytes32 id = register(commitment());
        refuses(
            abi.encodeWithSelector(
                IPurchaseRegistrar.WrongRoute.selector,
                id,
                IPurchaseRegistrar.Route.Direct,
                IPurchaseRegistrar.Route.Offer
            )
        );
        vm.prank(operator);
        registrar.withdrawOffer(id);
    }

    function test_anOfferIsWithdrawnOnce() public {
        bytes32 id = offer();
        withdraw(id);
        refusesStatus(id, IPurchaseRegistrar.Status.Withdrawn);
        vm.prank(operator);
        registrar.withdrawOffer(id);
    }

    function test_withdrawingAnExpiredOfferReverts() public {
        bytes32 id = offer();
        vm.warp(PAY_DEADLINE + 1);
        registrar.expire(id);
        refusesStatus(id, IPurchaseRegistrar.Status.Expired);
        vm.prank(operator);
        registrar.withdrawOffer(id);
    }

    function test_withdrawingAPaidOfferReverts() public {
        bytes32 id = offer();
        pay(id, AMOUNT);
        refuses(abi.encodeWithSelector(IPurchaseRegistrar.NothingOutstanding.selector, id));
        vm.prank(operator);
        registrar.withdrawOffer(id);
    }

    function test_trailingCalldataReverts() public {
        refusesTrailing(operator, abi.encodeCall(registrar.withdrawOffer, (offer())));
    }

    function withdraw(bytes32 id) private {
        vm.prank(operator);
        registrar.withdrawOffer(id);
    }

    function refusesStatus(bytes32 id, IPurchaseRegistrar.Status actual) private {
        refuses(
            abi.encodeWithSelector(
                IPurchaseRegistrar.WrongStatus.selector, id, actual, IPurchaseRegistrar.Status.Open
            )
        );
    }
}
