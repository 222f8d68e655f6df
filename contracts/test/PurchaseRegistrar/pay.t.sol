// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {PaymentRules} from "./PaymentRules.t.sol";

contract PayTest is PaymentRules {
    function call(bytes32 id, uint256 amount) internal view override returns (bytes memory) {
        return abi.encodeCall(registrar.pay, (id, amount));
    }

    function test_anAllowanceToTheFundingSourceDoesNotPay() public {
        bytes32 id = offer();
        vm.prank(buyer);
        usdc.approve(address(registrar), 0);
        vm.prank(buyer);
        usdc.approve(address(source), AMOUNT);
        refuses("ERC20: transfer amount exceeds allowance");
        vm.prank(buyer);
        registrar.pay(id, AMOUNT);
    }

    /// @dev Event 2^32 of a purchase cannot be counted, so it reverts.
    function test_theSequenceCountsToTheLargestUint32() public {
        bytes32 id = offer();
        setSequence(id, type(uint32).max - 1);
        accepts(id, 1);
        eq(registrar.purchase(id).sequence, type(uint32).max, "sequence");
        rejects(id, 1, abi.encodeWithSignature("Panic(uint256)", 0x11));
    }

    /// @dev The sequence is above the paid amount, in the purchase's first slot.
    function setSequence(bytes32 id, uint32 sequence) private {
        uint256 mappingSlot;
        bytes32 slot;
        do {
            slot = keccak256(abi.encode(id, mappingSlot++));
        } while (vm.load(address(registrar), slot) == 0);
        uint256 others = uint256(vm.load(address(registrar), slot)) & ~(uint256(type(uint32).max) << 128);
        vm.store(address(registrar), slot, bytes32(others | (uint256(sequence) << 128)));
    }

    function test_trailingCalldataReverts() public {
        refusesTrailing(buyer, abi.encodeCall(registrar.pay, (offer(), 1)));
    }
}
