// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPurchaseRegistrar} from "../../interfaces/IPurchaseRegistrar.sol";
import {Fixture} from "../Fixture.t.sol";

import {CommitmentRules} from "./CommitmentRules.t.sol";

contract RegisterTest is CommitmentRules {
    function sender() internal view override returns (address) {
        return merchant;
    }

    function call(IPurchaseRegistrar.Purchase memory purchase, bytes memory signature)
        internal
        view
        override
        returns (bytes memory)
    {
        return abi.encodeCall(registrar.register, (purchase, signature));
    }

    function mostAmount() internal pure override returns (uint256) {
        return type(uint128).max;
    }

    function test_theMerchantRegisters() public {
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        bytes memory signature = signPurchase(purchase);
        bytes32 id = registrar.hashPurchase(purchase);
        expectLog(address(registrar));
        emit IPurchaseRegistrar.PurchaseRegistered(id, PROGRAM, buyer, 1, purchase);
        vm.prank(merchant);
        eq(registrar.register(purchase, signature), id, "the answer is the id");
        eq(uint8(registrar.purchase(id).route), uint8(IPurchaseRegistrar.Route.Direct), "route");
        eq(openOffers(), 0, "no budget is taken");
    }

    function test_onlyTheMerchantRegisters() public {
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        bytes memory signature = signPurchase(purchase);
        onlyFor(merchant, abi.encodeCall(registrar.register, (purchase, signature)));
    }

    function test_anotherEnrolledMerchantCannotRegister() public {
        IPurchaseRegistrar.FundingAuthorization memory authorization = fundingAuthorization();
        authorization.wallet = stranger;
        authorization.merchantRef = keccak256("mer_other");
        bytes memory signature = signFunding(authorization);
        vm.prank(stranger);
        registrar.enroll(authorization, signature);
        test_onlyTheMerchantRegisters();
    }

    function test_boundsDoNotApply() public {
        IPurchaseRegistrar.Bounds memory none;
        vm.prank(admin);
        registrar.setBounds(PROGRAM, address(0), signer, none);
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        purchase.amount = CAP;
        accepts(purchase);
        eq(openOffers(), 0, "open offers");
    }

    function test_registeringWithoutEnrollmentReverts() public {
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        purchase.merchant = stranger;
        bytes memory signature = signPurchase(purchase);
        refuses(abi.encodeWithSelector(IPurchaseRegistrar.NotEnrolled.selector, PROGRAM, stranger));
        vm.prank(stranger);
        registrar.register(purchase, signature);
    }

    function test_aRegisteredPurchaseCannotBeOffered() public {
        bytes32 id = register(commitment());
        bytes memory signature = signPurchase(commitment());
        refuses(abi.encodeWithSelector(IPurchaseRegistrar.PurchaseExists.selector, id));
        vm.prank(operator);
        registrar.offer(commitment(), signature);
    }
}
