// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPurchaseRegistrar} from "../../interfaces/IPurchaseRegistrar.sol";
import {Fixture} from "../Fixture.t.sol";

contract SetBoundsTest is Fixture {
    function test_theAdminReplacesOperatorSignerAndBounds() public {
        IPurchaseRegistrar.Bounds memory next =
            IPurchaseRegistrar.Bounds({maxPurchase: 1, openBudget: 2, validUntil: 3});
        expectLog(address(registrar));
        emit IPurchaseRegistrar.BoundsSet(PROGRAM, stranger, buyer, next);
        vm.prank(admin);
        registrar.setBounds(PROGRAM, stranger, buyer, next);

        IPurchaseRegistrar.ProgramState memory state = registrar.programState(PROGRAM);
        eq(state.admin, admin, "the admin stays");
        eq(state.operator, stranger, "operator");
        eq(state.commitmentSigner, buyer, "signer");
        eq(state.bounds.maxPurchase, 1, "largest purchase");
        eq(state.bounds.openBudget, 2, "budget");
        eq(state.bounds.validUntil, 3, "valid until");
    }

    function test_boundsThatChangeNothingAreLoggedToo() public {
        expectLog(address(registrar));
        emit IPurchaseRegistrar.BoundsSet(PROGRAM, operator, signer, bounds());
        vm.prank(admin);
        registrar.setBounds(PROGRAM, operator, signer, bounds());
    }

    function test_boundsAboveUint128Revert() public {
        IPurchaseRegistrar.Bounds memory wide = bounds();
        wide.maxPurchase = uint256(type(uint128).max) + 1;
        refusesAmount("maxPurchase", wide.maxPurchase, 0, type(uint128).max);
        vm.prank(admin);
        registrar.setBounds(PROGRAM, operator, signer, wide);
        wide = bounds();
        wide.openBudget = uint256(type(uint128).max) + 1;
        refusesAmount("openBudget", wide.openBudget, 0, type(uint128).max);
        vm.prank(admin);
        registrar.setBounds(PROGRAM, operator, signer, wide);
    }

    function test_newBoundsKeepTheOpenOffers() public {
        offer();
        vm.prank(admin);
        registrar.setBounds(PROGRAM, operator, signer, bounds());
        eq(openOffers(), AMOUNT, "open offers");
    }

    function test_newBoundsDoNotEndAPause() public {
        pause();
        vm.prank(admin);
        registrar.setBounds(PROGRAM, operator, signer, bounds());
        eq(registrar.programState(PROGRAM).paused, true, "paused");
    }

    function test_onlyTheAdminSetsBounds() public {
        onlyFor(admin, abi.encodeCall(registrar.setBounds, (PROGRAM, operator, signer, bounds())));
    }

    function test_theProgramMustBeOpen() public {
        refuses(abi.encodeWithSelector(IPurchaseRegistrar.ProgramNotOpen.selector, keccak256("prg_other")));
        vm.prank(admin);
        registrar.setBounds(keccak256("prg_other"), operator, signer, bounds());
    }

    function test_trailingCalldataReverts() public {
        refusesTrailing(admin, abi.encodeCall(registrar.setBounds, (PROGRAM, operator, signer, bounds())));
    }

    function test_theFormerOperatorAndSignerLoseTheirRights() public {
        bytes32 id = offer();
        vm.prank(admin);
        registrar.setBounds(PROGRAM, stranger, merchant, bounds());
        refusesCaller(operator, stranger);
        vm.prank(operator);
        registrar.withdrawOffer(id);

        IPurchaseRegistrar.Purchase memory next = commitment();
        next.salt = keccak256("next");
        bytes memory signature = signPurchase(next);
        refuses(
            abi.encodeWithSelector(
                IPurchaseRegistrar.InvalidSignature.selector, merchant, registrar.hashPurchase(next)
            )
        );
        vm.prank(stranger);
        registrar.offer(next, signature);
    }
}
