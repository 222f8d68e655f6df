// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPurchaseRegistrar} from "../../interfaces/IPurchaseRegistrar.sol";
import {Fixture} from "../Fixture.t.sol";

contract ExpireTest is Fixture {
    function test_anyoneExpiresAnOfferThatWasNotPaidInTime() public {
        bytes32 id = offer();
        pay(id, 5_000_000);
        vm.warp(PAY_DEADLINE + 1);
        expectLog(address(registrar));
        emit IPurchaseRegistrar.PurchaseExpired(id, PROGRAM, 3, AMOUNT - 5_000_000);
        vm.prank(stranger);
        registrar.expire(id);
        eq(uint8(registrar.purchase(id).status), uint8(IPurchaseRegistrar.Status.Expired), "status");
        eq(registrar.purchase(id).sequence, 3, "sequence");
        eq(openOffers(), 0, "exactly the unpaid part is released");
    }

    function test_aDirectPurchaseReleasesNothing() public {
        offer();
        IPurchaseRegistrar.Purchase memory second = commitment();
        second.salt = keccak256("direct");
        bytes32 id = register(second);
        vm.warp(PAY_DEADLINE + 1);
        expectLog(address(registrar));
        emit IPurchaseRegistrar.PurchaseExpired(id, PROGRAM, 2, 0);
        registrar.expire(id);
        eq(uint8(registrar.purchase(id).status), uint8(IPurchaseRegistrar.Status.Expired), "status");
        eq(openOffers(), AMOUNT, "the offer's part stays");
    }

    function test_expiringInThePayDeadlinesLastSecondReverts() public {
        bytes32 id = offer();
        vm.warp(PAY_DEADLINE);
        refuses(
            abi.encodeWithSelector(IPurchaseRegistrar.DeadlineNotPassed.selector, PAY_DEADLINE, PAY_DEADLINE)
        );
        registrar.expire(id);
        pay(id, 1);
    }

    function test_theErrorHasTheCurrentTimeThenTheDeadline() public {
        bytes32 id = offer();
        vm.warp(PAY_DEADLINE - 7);
        refuses(
            abi.encodeWithSelector(
                IPurchaseRegistrar.DeadlineNotPassed.selector, PAY_DEADLINE - 7, PAY_DEADLINE
            )
        );
        registrar.expire(id);
    }

    function test_payingOneSecondLaterReverts() public {
        bytes32 id = offer();
        vm.warp(PAY_DEADLINE + 1);
        refusesTime(PAY_DEADLINE);
        vm.prank(buyer);
        registrar.pay(id, 1);
        registrar.expire(id);
        eq(uint8(registrar.purchase(id).status), uint8(IPurchaseRegistrar.Status.Expired), "status");
    }

    function test_expiringAnUnknownPurchaseReverts() public {
        refusesUnknown(keccak256("nothing"));
        registrar.expire(keccak256("nothing"));
    }

    function test_aPurchaseExpiresOnce() public {
        bytes32 id = offer();
        vm.warp(PAY_DEADLINE + 1);
        registrar.expire(id);
        refuses(
            abi.encodeWithSelector(
                IPurchaseRegistrar.WrongStatus.selector,
                id,
                IPurchaseRegistrar.Status.Expired,
                IPurchaseRegistrar.Status.Open
            )
        );
        registrar.expire(id);
    }

    function test_expiringAPaidPurchaseReverts() public {
        bytes32 id = offer();
        pay(id, AMOUNT);
        vm.warp(PAY_DEADLINE + 1);
        refuses(abi.encodeWithSelector(IPurchaseRegistrar.NothingOutstanding.selector, id));
        registrar.expire(id);
    }

    function test_paymentsBeforeTheExpiryCanBeClaimed() public {
        bytes32 id = offer();
        pay(id, 5);
        vm.warp(PAY_DEADLINE + 1);
        registrar.expire(id);
        claim(id);
        collectRefund(id, 5, DECISION);
        eq(usdc.balanceOf(beneficiary), 5, "the refund arrives");
    }

    function test_trailingCalldataReverts() public {
        bytes32 id = offer();
        vm.warp(PAY_DEADLINE + 1);
        refusesTrailing(stranger, abi.encodeCall(registrar.expire, (id)));
    }
}
