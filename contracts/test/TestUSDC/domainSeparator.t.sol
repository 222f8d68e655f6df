// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {TokenFixture} from "./TokenFixture.t.sol";

contract DomainSeparatorTest is TokenFixture {
    function separator() private view returns (bytes32) {
        return keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
                keccak256("USDC"),
                keccak256("2"),
                block.chainid,
                address(usdc)
            )
        );
    }

    function test_domainSeparatorIsTheHashOfTheDomain() public view {
        eq(usdc.DOMAIN_SEPARATOR(), separator(), "separator");
    }

    function test_domainSeparatorFollowsTheChainId() public {
        bytes32 before = usdc.DOMAIN_SEPARATOR();
        vm.chainId(block.chainid + 1);
        eq(usdc.DOMAIN_SEPARATOR(), separator(), "separator");
        eq(usdc.DOMAIN_SEPARATOR() == before, false, "another one");
    }

    function test_theTypeHashesAreThePublishedOnes() public view {
        eq(
            usdc.TRANSFER_WITH_AUTHORIZATION_TYPEHASH(),
            0x7c7c6cdb67a18743f49ec6fa9b35f50d52ed05cbed4cc592e13b44501c1a2267,
            "transfer"
        );
        eq(
            usdc.RECEIVE_WITH_AUTHORIZATION_TYPEHASH(),
            0xd099cc98ef71107a616c4f0f941f04c322d8e254fe26b3c6668db87aae413de8,
            "receive"
        );
        eq(
            usdc.CANCEL_AUTHORIZATION_TYPEHASH(),
            0x158b0a9edf7a828aad02f63cd515c68ef2f50ba807396f6d12842833a1597429,
            "cancel"
        );
        eq(
            usdc.PERMIT_TYPEHASH(),
            0x6e71edae12b1b97f4d1f60370fef10105fa2faae0126114a169c64845d6126c9,
            "permit"
        );
    }
}
