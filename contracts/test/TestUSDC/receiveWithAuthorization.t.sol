// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {AuthorizationRules} from "./AuthorizationRules.t.sol";

contract ReceiveWithAuthorizationTest is AuthorizationRules {
    function typehash() internal view override returns (bytes32) {
        return usdc.RECEIVE_WITH_AUTHORIZATION_TYPEHASH();
    }

    function otherTypehash() internal view override returns (bytes32) {
        return usdc.TRANSFER_WITH_AUTHORIZATION_TYPEHASH();
    }

    /// @dev Called by the payee.
    function execute(address from, uint256 value, uint256 before, bytes memory signature) internal override {
        vm.prank(bob);
        usdc.receiveWithAuthorization(from, bob, value, AFTER, before, NONCE, signature);
    }

    function executeSplit(address from, uint256 value, uint256 before, bytes memory signature) internal override {
        (uint8 v, bytes32 r, bytes32 s) = split(signature);
        vm.prank(bob);
        usdc.receiveWithAuthorization(from, bob, value, AFTER, before, NONCE, v, r, s);
    }

    function test_onlyThePayeeCalls() public {
        bytes memory signature = signed(ALICE_KEY, alice, 5, BEFORE);
        (uint8 v, bytes32 r, bytes32 s) = split(signature);
        refuses("FiatTokenV2: caller must be the payee");
        vm.prank(carol);
        usdc.receiveWithAuthorization(alice, bob, 5, AFTER, BEFORE, NONCE, signature);
        refuses("FiatTokenV2: caller must be the payee");
        vm.prank(carol);
        usdc.receiveWithAuthorization(alice, bob, 5, AFTER, BEFORE, NONCE, v, r, s);
    }
}
