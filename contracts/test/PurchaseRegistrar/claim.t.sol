// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPurchaseRegistrar} from "../../interfaces/IPurchaseRegistrar.sol";
import {Fixture} from "../Fixture.t.sol";

contract ClaimTest is Fixture {
    function test_theBeneficiaryClaims() public {
        bytes32 id = offer();
        pay(id, 1);
        expectLog(address(registrar));
        emit IPurchaseRegistrar.PurchaseClaimed(id, beneficiary, 3, CLAIM_HASH);
        vm.prank(beneficiary);
        registrar.claim(id, CLAIM_HASH);
        IPurchaseRegistrar.PurchaseState memory state = registrar.purchase(id);
        eq(state.claimHash, CLAIM_HASH, "claim hash");
        eq(state.decisionHash, bytes32(0), "no decision");
        eq(state.sequence, 3, "sequence");
    }

    function test_onlyTheBeneficiaryClaims() public {
        bytes32 id = offer();
        pay(id, 1);
        onlyFor(beneficiary, abi.encodeCall(registrar.claim, (id, CLAIM_HASH)));
    }

    function test_claimingAnUnknownPurchaseReverts() public {
        refusesUnknown(keccak256("nothing"));
        vm.prank(beneficiary);
        registrar.claim(keccak256("nothing"), CLAIM_HASH);
    }

    function test_aClaimNeedsAPayment() public {
        bytes32 id = offer();
        refuses(abi.encodeWithSelector(IPurchaseRegistrar.NothingPaid.selector, id));
        vm.prank(beneficiary);
        registrar.claim(id, CLAIM_HASH);
    }

    function test_aClaimInTheLastSecondSucceeds() public {
        bytes32 id = offer();
        pay(id, AMOUNT);
        vm.warp(CLAIM_DEADLINE);
        claim(id);
        eq(registrar.purchase(id).claimHash, CLAIM_HASH, "claim hash");
    }

    function test_aClaimOneSecondAfterTheDeadlineReverts() public {
        bytes32 id = offer();
        pay(id, AMOUNT);
        vm.warp(CLAIM_DEADLINE + 1);
        refusesTime(CLAIM_DEADLINE);
        vm.prank(beneficiary);
        registrar.claim(id, CLAIM_HASH);
    }

    function test_aPurchaseIsClaimedOnce() public {
        bytes32 id = claimed();
        refuses(abi.encodeWithSelector(IPurchaseRegistrar.AlreadyClaimed.selector, id, CLAIM_HASH));
        vm.prank(beneficiary);
        registrar.claim(id, keccak256("another claim"));
    }

    function test_aRefundedPurchaseIsNotClaimedAgain() public {
        bytes32 id = claimed();
        collectRefund(id, 1, DECISION);
        refuses(abi.encodeWithSelector(IPurchaseRegistrar.AlreadyRefunded.selector, id, DECISION));
        vm.prank(beneficiary);
        registrar.claim(id, keccak256("another claim"));
    }

    function test_aZeroClaimHashReverts() public {
        bytes32 id = offer();
        pay(id, 1);
        refusesZero();
        vm.prank(beneficiary);
        registrar.claim(id, bytes32(0));
    }

    function test_aClaimDoesNotStopPayments() public {
        bytes32 id = offer();
        pay(id, 1);
        claim(id);
        pay(id, AMOUNT - 1);
        eq(registrar.purchase(id).paid, AMOUNT, "paid");
        eq(registrar.purchase(id).sequence, 4, "sequence");
    }

    function test_trailingCalldataReverts() public {
        bytes32 id = offer();
        pay(id, 1);
        refusesTrailing(beneficiary, abi.encodeCall(registrar.claim, (id, CLAIM_HASH)));
    }
}
