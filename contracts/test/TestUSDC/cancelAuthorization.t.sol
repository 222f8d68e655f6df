// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {TestUSDC} from "../../TestUSDC.sol";
import {ContractSigner} from "../../adversaries/ContractSigner.sol";
import {TokenFixture} from "./TokenFixture.t.sol";

contract CancelAuthorizationTest is TokenFixture {
    function signed(uint256 key, address authorizer) private view returns (bytes memory) {
        return sign(key, keccak256(abi.encode(usdc.CANCEL_AUTHORIZATION_TYPEHASH(), authorizer, NONCE)));
    }

    function test_anUnusedNonceIsCanceled() public {
        (uint8 v, bytes32 r, bytes32 s) = split(signed(ALICE_KEY, alice));
        expectLog(address(usdc));
        emit TestUSDC.AuthorizationCanceled(alice, NONCE);
        usdc.cancelAuthorization(alice, NONCE, v, r, s);
        eq(usdc.authorizationState(alice, NONCE), true, "the nonce is unusable");
    }

    function test_usingACanceledAuthorizationReverts() public {
        usdc.cancelAuthorization(alice, NONCE, signed(ALICE_KEY, alice));
        bytes memory signature = sign(
            ALICE_KEY,
            keccak256(
                abi.encode(usdc.TRANSFER_WITH_AUTHORIZATION_TYPEHASH(), alice, bob, 5, 0, START + 1, NONCE)
            )
        );
        refuses("FiatTokenV2: authorization is used or canceled");
        usdc.transferWithAuthorization(alice, bob, 5, 0, START + 1, NONCE, signature);
    }

    function test_aNonceIsCanceledOnce() public {
        bytes memory signature = signed(ALICE_KEY, alice);
        usdc.cancelAuthorization(alice, NONCE, signature);
        refuses("FiatTokenV2: authorization is used or canceled");
        usdc.cancelAuthorization(alice, NONCE, signature);
    }

    function test_onlyTheAuthorizerCancels() public {
        bytes memory signature = signed(ALICE_KEY + 1, alice);
        refuses("FiatTokenV2: invalid signature");
        usdc.cancelAuthorization(alice, NONCE, signature);
    }

    function test_aContractAuthorizerIsCheckedWithERC1271() public {
        ContractSigner wallet = new ContractSigner(alice);
        usdc.cancelAuthorization(address(wallet), NONCE, signed(ALICE_KEY, address(wallet)));
        eq(usdc.authorizationState(address(wallet), NONCE), true, "the nonce is unusable");
    }

    function test_bothOverloadsRevertWhilePaused() public {
        bytes memory signature = signed(ALICE_KEY, alice);
        (uint8 v, bytes32 r, bytes32 s) = split(signature);
        pause();
        refusesPaused();
        usdc.cancelAuthorization(alice, NONCE, signature);
        refusesPaused();
        usdc.cancelAuthorization(alice, NONCE, v, r, s);
    }
}
