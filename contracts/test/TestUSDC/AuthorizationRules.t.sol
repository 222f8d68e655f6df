// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {TestUSDC} from "../../TestUSDC.sol";
import {ContractSigner} from "../../adversaries/ContractSigner.sol";
import {TokenFixture} from "./TokenFixture.t.sol";

/// @title AuthorizationRules
/// @notice The rules that `transferWithAuthorization` and `receiveWithAuthorization` share. The test of each runs them all.
abstract contract AuthorizationRules is TokenFixture {
    uint256 internal constant AFTER = START - 1;
    uint256 internal constant BEFORE = START + 1;

    function typehash() internal view virtual returns (bytes32);
    function otherTypehash() internal view virtual returns (bytes32);
    function execute(address from, uint256 value, uint256 before, bytes memory signature) internal virtual;
    function executeSplit(address from, uint256 value, uint256 before, bytes memory signature) internal virtual;

    function signed(uint256 key, address from, uint256 value, uint256 before) internal view returns (bytes memory) {
        return sign(key, keccak256(abi.encode(typehash(), from, bob, value, AFTER, before, NONCE)));
    }

    function test_aSignatureMovesTheValue() public {
        bytes memory signature = signed(ALICE_KEY, alice, 5, BEFORE);
        expectLog(address(usdc));
        emit TestUSDC.AuthorizationUsed(alice, NONCE);
        expectLog(address(usdc));
        emit IERC20.Transfer(alice, bob, 5);
        executeSplit(alice, 5, BEFORE, signature);
        eq(usdc.balanceOf(bob), 5, "bob");
        eq(usdc.authorizationState(alice, NONCE), true, "the nonce is used");
    }

    function test_aSignatureAsBytesDoesTheSame() public {
        execute(alice, 5, BEFORE, signed(ALICE_KEY, alice, 5, BEFORE));
        eq(usdc.balanceOf(bob), 5, "bob");
    }

    function test_anAuthorizationIsUsedOnce() public {
        bytes memory signature = signed(ALICE_KEY, alice, 5, BEFORE);
        execute(alice, 5, BEFORE, signature);
        refuses("FiatTokenV2: authorization is used or canceled");
        execute(alice, 5, BEFORE, signature);
    }

    function test_noncesAreSeparateForEachAuthorizer() public {
        execute(alice, 5, BEFORE, signed(ALICE_KEY, alice, 5, BEFORE));
        eq(usdc.authorizationState(bob, NONCE), false, "bob's nonce is unused");
    }

    function test_aNonceIsComparedWhole() public {
        uint8[2] memory bits = [0, 255];
        for (uint256 i = 0; i < bits.length; ++i) {
            bytes32 other = NONCE ^ bytes32(1 << uint256(bits[i]));
            bytes32 cancellation = keccak256(abi.encode(usdc.CANCEL_AUTHORIZATION_TYPEHASH(), alice, other));
            usdc.cancelAuthorization(alice, other, sign(ALICE_KEY, cancellation));
        }
        execute(alice, 5, BEFORE, signed(ALICE_KEY, alice, 5, BEFORE));
        eq(usdc.balanceOf(bob), 5, "bob");
    }

    function test_anEndOfZeroHasPassed() public {
        bytes memory signature = signed(ALICE_KEY, alice, 5, 0);
        refuses("FiatTokenV2: authorization is expired");
        execute(alice, 5, 0, signature);
    }

    function test_bothBoundsAreStrict() public {
        bytes memory signature = signed(ALICE_KEY, alice, 5, BEFORE);
        vm.warp(AFTER);
        refuses("FiatTokenV2: authorization is not yet valid");
        execute(alice, 5, BEFORE, signature);
        vm.warp(BEFORE);
        refuses("FiatTokenV2: authorization is expired");
        execute(alice, 5, BEFORE, signature);
        vm.warp(BEFORE - 1);
        execute(alice, 5, BEFORE, signature);
        eq(usdc.balanceOf(bob), 5, "bob");
    }

    function test_anotherSignerReverts() public {
        bytes memory signature = signed(ALICE_KEY + 1, alice, 5, BEFORE);
        refuses("FiatTokenV2: invalid signature");
        execute(alice, 5, BEFORE, signature);
    }

    function test_aSignatureOfTheOtherAuthorizationReverts() public {
        bytes memory signature =
            sign(ALICE_KEY, keccak256(abi.encode(otherTypehash(), alice, bob, uint256(5), AFTER, BEFORE, NONCE)));
        refuses("FiatTokenV2: invalid signature");
        execute(alice, 5, BEFORE, signature);
    }

    function test_aChangedFieldReverts() public {
        bytes memory signature = signed(ALICE_KEY, alice, 5, BEFORE);
        refuses("FiatTokenV2: invalid signature");
        execute(alice, 6, BEFORE, signature);
        refuses("FiatTokenV2: invalid signature");
        execute(alice, 5, BEFORE + 1, signature);
    }

    function test_aHighSReverts() public {
        bytes memory signature = malleate(signed(ALICE_KEY, alice, 5, BEFORE));
        refuses("ECRecover: invalid signature 's' value");
        execute(alice, 5, BEFORE, signature);
    }

    function test_exceedingTheBalanceReverts() public {
        bytes memory signature = signed(ALICE_KEY, alice, 1_001, BEFORE);
        refuses("ERC20: transfer amount exceeds balance");
        execute(alice, 1_001, BEFORE, signature);
        eq(usdc.authorizationState(alice, NONCE), false, "the nonce stays unused");
    }

    function test_aContractPayerIsCheckedWithERC1271() public {
        ContractSigner wallet = new ContractSigner(alice);
        usdc.faucet(address(wallet), 10);
        bytes memory signature = signed(ALICE_KEY, address(wallet), 5, BEFORE);
        wallet.setBehavior(ContractSigner.Behavior.RefusesAll);
        refuses("FiatTokenV2: invalid signature");
        execute(address(wallet), 5, BEFORE, signature);
        wallet.setBehavior(ContractSigner.Behavior.ChecksOwner);
        executeSplit(address(wallet), 5, BEFORE, signature);
        eq(usdc.balanceOf(bob), 5, "bob");
    }

    function test_bothOverloadsRevertWhilePaused() public {
        bytes memory signature = signed(ALICE_KEY, alice, 5, BEFORE);
        pause();
        refusesPaused();
        execute(alice, 5, BEFORE, signature);
        refusesPaused();
        executeSplit(alice, 5, BEFORE, signature);
    }

    function test_aBlockedPayerReverts() public {
        bytes memory signature = signed(ALICE_KEY, alice, 5, BEFORE);
        block_(alice);
        refusesBlocked();
        execute(alice, 5, BEFORE, signature);
        refusesBlocked();
        executeSplit(alice, 5, BEFORE, signature);
    }

    function test_aBlockedPayeeReverts() public {
        bytes memory signature = signed(ALICE_KEY, alice, 5, BEFORE);
        block_(bob);
        refusesBlocked();
        execute(alice, 5, BEFORE, signature);
        refusesBlocked();
        executeSplit(alice, 5, BEFORE, signature);
    }
}
