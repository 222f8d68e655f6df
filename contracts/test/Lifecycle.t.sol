// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPurchaseRegistrar} from "../interfaces/IPurchaseRegistrar.sol";
import {Fixture} from "./Fixture.t.sol";

/// @title Lifecycle
/// @notice One purchase from its offer to its refund, with all balances checked.
contract LifecycleTest is Fixture {
    function test_anOfferIsPaidClaimedAndRefunded() public {
        bytes32 id = offer();
        eq(openOffers(), AMOUNT, "an offer takes from the budget");

        pay(id, 10_000_000);
        eq(openOffers(), AMOUNT - 10_000_000, "a payment gives back to the budget");
        pay(id, AMOUNT - 10_000_000);
        eq(openOffers(), 0, "a paid offer gives back everything");
        eq(usdc.balanceOf(merchant), 1_000_000_000 + AMOUNT, "the merchant is paid");

        claim(id);
        collectRefund(id, 20_000_000, DECISION);
        eq(usdc.balanceOf(merchant), 1_000_000_000 + AMOUNT - 20_000_000, "the merchant refunds");
        eq(usdc.balanceOf(beneficiary), 20_000_000, "the beneficiary receives");
        eq(usdc.balanceOf(address(registrar)), 0, "nothing stays in the registrar");
        eq(usdc.balanceOf(address(source)), 0, "nothing stays in the funding source");

        IPurchaseRegistrar.PurchaseState memory state = registrar.purchase(id);
        eq(uint8(state.status), uint8(IPurchaseRegistrar.Status.Open), "status");
        eq(state.sequence, 5, "sequence");
        eq(state.paid, AMOUNT, "paid");
        eq(state.refunded, 20_000_000, "refunded");
        eq(state.claimHash, bytes32(0), "the claim hash is in the event");
        eq(state.decisionHash, DECISION, "decision hash");
        eq(registrar.funding(PROGRAM, MERCHANT_REF).collected, 20_000_000, "collected");
    }
}
