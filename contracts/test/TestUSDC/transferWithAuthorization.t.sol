// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {AuthorizationRules} from "./AuthorizationRules.t.sol";

contract TransferWithAuthorizationTest is AuthorizationRules {
    function typehash() internal view override returns (bytes32) {
        return usdc.TRANSFER_WITH_AUTHORIZATION_TYPEHASH();
    }

    function otherTypehash() internal view override returns (bytes32) {
        return usdc.RECEIVE_WITH_AUTHORIZATION_TYPEHASH();
    }

    /// @dev Called by any account.
    function execute(address from, uint256 value, uint256 before, bytes memory signature) internal override {
        vm.prank(carol);
        usdc.transferWithAuthorization(from, bob, value, AFTER, before, NONCE, signature);
    }

    function executeSplit(address from, uint256 value, uint256 before, bytes memory signature) internal override {
        (uint8 v, bytes32 r, bytes32 s) = split(signature);
        vm.prank(carol);
        usdc.transferWithAuthorization(from, bob, value, AFTER, before, NONCE, v, r, s);
    }
}
