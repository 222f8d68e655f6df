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

    function test_trailingCalldataReverts() public {
        refusesTrailing(buyer, abi.encodeCall(registrar.pay, (offer(), 1)));
    }
}
