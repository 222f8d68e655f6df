// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPurchaseRegistrar} from "../../interfaces/IPurchaseRegistrar.sol";
import {Fixture} from "../Fixture.t.sol";

contract RevokeFundingTest is Fixture {
    function test_theMerchantRevokes() public {
        vm.warp(START + 5);
        expectLog(address(registrar));
        emit IPurchaseRegistrar.FundingRevoked(PROGRAM, MERCHANT_REF, merchant, START + 5);
        vm.prank(merchant);
        registrar.revokeFunding(PROGRAM, MERCHANT_REF);
        eq(registrar.funding(PROGRAM, MERCHANT_REF).revokedAt, START + 5, "revoked at");
        eq(registrar.enrolledAs(PROGRAM, merchant), bytes32(0), "not enrolled");
    }

    function test_aFundingIsFoundByProgramAndReference() public {
        bytes32 nothing = keccak256("nothing");
        refuses(abi.encodeWithSelector(IPurchaseRegistrar.UnknownFunding.selector, nothing, MERCHANT_REF));
        vm.prank(merchant);
        registrar.revokeFunding(nothing, MERCHANT_REF);
        refuses(abi.encodeWithSelector(IPurchaseRegistrar.UnknownFunding.selector, PROGRAM, nothing));
        vm.prank(merchant);
        registrar.revokeFunding(PROGRAM, nothing);
    }

    function test_onlyTheMerchantRevokes() public {
        onlyFor(merchant, abi.encodeCall(registrar.revokeFunding, (PROGRAM, MERCHANT_REF)));
    }

    function test_aFundingIsRevokedOnce() public {
        revoke();
        refuses(abi.encodeWithSelector(IPurchaseRegistrar.AlreadyRevoked.selector, MERCHANT_REF, START));
        vm.prank(merchant);
        registrar.revokeFunding(PROGRAM, MERCHANT_REF);
    }

    function test_aRevocationStopsNewPurchases() public {
        revoke();
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        bytes memory signature = signPurchase(purchase);
        refuses(abi.encodeWithSelector(IPurchaseRegistrar.NotEnrolled.selector, PROGRAM, merchant));
        vm.prank(operator);
        registrar.offer(purchase, signature);
        refuses(abi.encodeWithSelector(IPurchaseRegistrar.NotEnrolled.selector, PROGRAM, merchant));
        vm.prank(merchant);
        registrar.register(purchase, signature);
    }

    function test_aRevocationDoesNotStopRefunds() public {
        bytes32 id = offer();
        revoke();
        pay(id, AMOUNT);
        vm.warp(CLAIM_DEADLINE);
        claim(id);
        vm.warp(FUNDING_UNTIL);
        collectRefund(id, AMOUNT, DECISION);
        eq(usdc.balanceOf(beneficiary), AMOUNT, "the refund arrives");
    }

    function test_aRefundAfterTheEnrolledValidityReverts() public {
        bytes32 id = claimed();
        revoke();
        vm.warp(FUNDING_UNTIL + 1);
        refusesTime(FUNDING_UNTIL);
        vm.prank(operator);
        registrar.collectRefund(id, 1, DECISION);
    }

    /// @dev A purchase is refunded under the funding that was active when the purchase was created.
    function test_aNewEnrollmentDoesNotChangeTheOldFunding() public {
        bytes32 id = claimed();
        revoke();
        IPurchaseRegistrar.FundingAuthorization memory authorization = fundingAuthorization();
        authorization.merchantRef = keccak256("mer_next");
        authorization.cap = 1;
        bytes memory signature = signFunding(authorization);
        vm.prank(merchant);
        registrar.enroll(authorization, signature);
        collectRefund(id, AMOUNT, DECISION);
        eq(registrar.funding(PROGRAM, MERCHANT_REF).collected, AMOUNT, "from the old funding");
        eq(registrar.funding(PROGRAM, authorization.merchantRef).collected, 0, "not from the new one");
    }

    function test_trailingCalldataReverts() public {
        refusesTrailing(merchant, abi.encodeCall(registrar.revokeFunding, (PROGRAM, MERCHANT_REF)));
    }

    function test_theEnrollmentInAnotherProgramRemains() public {
        bytes32 program = keccak256("prg_other");
        registrar.openProgram(program, operator, signer, bounds());
        IPurchaseRegistrar.FundingAuthorization memory authorization = fundingAuthorization();
        authorization.program = program;
        authorization.merchantRef = keccak256("mer_other");
        bytes memory signature = signFunding(authorization);
        vm.prank(merchant);
        registrar.enroll(authorization, signature);
        revoke();
        eq(registrar.enrolledAs(program, merchant), keccak256("mer_other"), "still enrolled");
    }
}
