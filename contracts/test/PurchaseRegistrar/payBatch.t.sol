// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPurchaseRegistrar} from "../../interfaces/IPurchaseRegistrar.sol";
import {Vm} from "../Vm.t.sol";
import {PaymentRules} from "./PaymentRules.t.sol";

contract PayBatchTest is PaymentRules {
    /// @dev A batch of one.
    function call(bytes32 id, uint256 amount) internal view override returns (bytes memory) {
        bytes32[] memory ids = new bytes32[](1);
        ids[0] = id;
        uint256[] memory amounts = new uint256[](1);
        amounts[0] = amount;
        return abi.encodeCall(registrar.payBatch, (ids, amounts));
    }

    function three() private returns (bytes32[] memory ids, uint256[] memory amounts) {
        return offered(3);
    }

    function offered(uint256 count) private returns (bytes32[] memory ids, uint256[] memory amounts) {
        ids = new bytes32[](count);
        amounts = new uint256[](count);
        for (uint256 i = 0; i < count; ++i) {
            IPurchaseRegistrar.Purchase memory purchase = commitment();
            purchase.amount = 100 + i;
            purchase.salt = bytes32(i);
            ids[i] = offer(purchase);
            amounts[i] = 100 + i;
        }
    }

    function test_theBuyerPaysSeveral() public {
        (bytes32[] memory ids, uint256[] memory amounts) = three();
        amounts[1] = 50;
        for (uint256 i = 0; i < 3; ++i) {
            expectLog(address(registrar));
            emit IPurchaseRegistrar.PurchasePaid(ids[i], buyer, merchant, 2, amounts[i], amounts[i]);
        }
        vm.prank(buyer);
        registrar.payBatch(ids, amounts);
        eq(usdc.balanceOf(merchant), 1_000_000_000 + 252, "the merchant's balance");
        for (uint256 i = 0; i < 3; ++i) {
            eq(registrar.purchase(ids[i]).paid, amounts[i], "paid");
        }
        eq(openOffers(), 51, "open offers");
    }

    /// @dev A token's log for each payment, so that each can be found by its amount.
    function test_everyPaymentIsATransferOfItsOwn() public {
        (bytes32[] memory ids, uint256[] memory amounts) = three();
        vm.recordLogs();
        vm.prank(buyer);
        registrar.payBatch(ids, amounts);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        uint256 transfers;
        for (uint256 i = 0; i < logs.length; ++i) {
            if (logs[i].emitter != address(usdc)) continue;
            if (logs[i].topics[0] != keccak256("Transfer(address,address,uint256)")) continue;
            eq(abi.decode(logs[i].data, (uint256)), amounts[transfers++], "the transferred amount");
        }
        eq(transfers, 3, "transfers");
    }

    function test_aPurchaseTakesMorePaymentsThanANumberOfEightBitsCounts() public {
        bytes32 id = offer();
        bytes32[] memory ids = new bytes32[](300);
        uint256[] memory amounts = new uint256[](300);
        for (uint256 i = 0; i < ids.length; ++i) {
            (ids[i], amounts[i]) = (id, 1);
        }
        vm.prank(buyer);
        registrar.payBatch(ids, amounts);
        eq(registrar.purchase(id).sequence, 301, "sequence");
        eq(registrar.purchase(id).paid, 300, "paid");
    }

    function test_onePurchaseMayOccurTwice() public {
        (bytes32[] memory ids, uint256[] memory amounts) = three();
        ids[2] = ids[0];
        amounts[0] = 60;
        amounts[2] = 40;
        vm.prank(buyer);
        registrar.payBatch(ids, amounts);
        eq(registrar.purchase(ids[0]).paid, 100, "paid");
        eq(registrar.purchase(ids[0]).sequence, 3, "sequence");
    }

    function test_aBatchPaysTwentyFivePurchases() public {
        (bytes32[] memory ids, uint256[] memory amounts) = offered(25);
        vm.prank(buyer);
        registrar.payBatch(ids, amounts);
        for (uint256 i = 0; i < 25; ++i) {
            eq(registrar.purchase(ids[i]).paid, 100 + i, "paid");
        }
    }

    function test_oneFailedPaymentRevertsTheBatch() public {
        (bytes32[] memory ids, uint256[] memory amounts) = three();
        amounts[2] += 1;
        refusesAmount("amount", 103, 1, 102);
        vm.prank(buyer);
        registrar.payBatch(ids, amounts);
        eq(registrar.purchase(ids[0]).paid, 0, "paid");
    }

    function test_onlyTheBuyerOfAllPays() public {
        (bytes32[] memory ids, uint256[] memory amounts) = three();
        refusesCaller(stranger, buyer);
        vm.prank(stranger);
        registrar.payBatch(ids, amounts);
    }

    function test_fewerAmountsThanPurchasesRevert() public {
        (bytes32[] memory ids,) = three();
        uint256[] memory amounts = new uint256[](2);
        amounts[0] = 1;
        amounts[1] = 1;
        refuses(abi.encodeWithSelector(IPurchaseRegistrar.BatchLengths.selector, 3, 2));
        vm.prank(buyer);
        registrar.payBatch(ids, amounts);
    }

    function test_moreAmountsThanPurchasesRevert() public {
        (, uint256[] memory amounts) = three();
        bytes32[] memory ids = new bytes32[](1);
        refuses(abi.encodeWithSelector(IPurchaseRegistrar.BatchLengths.selector, 1, 3));
        vm.prank(buyer);
        registrar.payBatch(ids, amounts);
    }

    function test_anEmptyBatchReverts() public {
        refuses(abi.encodeWithSelector(IPurchaseRegistrar.BatchLengths.selector, 0, 0));
        vm.prank(buyer);
        registrar.payBatch(new bytes32[](0), new uint256[](0));
    }

    function test_anotherEncodingReverts() public {
        (bytes32[] memory ids, uint256[] memory amounts) = three();
        bytes memory canonicalCall = abi.encodeCall(registrar.payBatch, (ids, amounts));
        refusesOtherEncoding(buyer, abi.encodePacked(canonicalCall, bytes1(0)), canonicalCall);
        refusesOtherEncoding(buyer, abi.encodePacked(canonicalCall, bytes32(0)), canonicalCall);
        // The arrays in reverse order, with the offsets adjusted.
        bytes memory swapped = abi.encodePacked(
            registrar.payBatch.selector,
            abi.encode(0xc0, 0x40),
            abi.encode(uint256(3), amounts[0], amounts[1], amounts[2]),
            abi.encode(uint256(3), ids[0], ids[1], ids[2])
        );
        refusesOtherEncoding(buyer, swapped, canonicalCall);
        succeedsRaw(buyer, canonicalCall);
    }

    function test_anotherEncodingFromAContractReverts() public {
        vm.etch(buyer, hex"00");
        test_anotherEncodingReverts();
    }

    function test_oneArrayForBothArgumentsReverts() public {
        bytes32[] memory ids = new bytes32[](1);
        ids[0] = bytes32(uint256(7));
        uint256[] memory amounts = new uint256[](1);
        amounts[0] = 7;
        bytes memory shared = abi.encodePacked(registrar.payBatch.selector, abi.encode(0x40, 0x40, 1, 7));
        refusesOtherEncoding(buyer, shared, abi.encodeCall(registrar.payBatch, (ids, amounts)));
        // The array that is left, where the amounts are in the canonical encoding.
        shared = abi.encodePacked(registrar.payBatch.selector, abi.encode(0x80, 0x80, 1, 5, 1, 7));
        refusesOtherEncoding(buyer, shared, abi.encodeCall(registrar.payBatch, (ids, amounts)));
    }
}
