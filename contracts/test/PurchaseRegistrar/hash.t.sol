// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPurchaseRegistrar} from "../../interfaces/IPurchaseRegistrar.sol";
import {Fixture} from "../Fixture.t.sol";

/// @dev Computes the digests a second time, step by step as in EIP-712.
contract HashTest is Fixture {
    bytes32 private constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");

    function digest(bytes32 structHash) private view returns (bytes32) {
        bytes32 domain = keccak256(
            abi.encode(
                DOMAIN_TYPEHASH, keccak256("PurchaseRegistrar"), keccak256("1"), block.chainid, address(registrar)
            )
        );
        return keccak256(abi.encodePacked(hex"1901", domain, structHash));
    }

    function test_hashPurchase() public view {
        eq(registrar.hashPurchase(commitment()), digest(structHashOf(commitment())), "digest");
    }

    function test_hashPurchaseOnAnotherChain() public {
        bytes32 here = registrar.hashPurchase(commitment());
        vm.chainId(block.chainid + 1);
        eq(registrar.hashPurchase(commitment()), digest(structHashOf(commitment())), "digest");
        eq(registrar.hashPurchase(commitment()) == here, false, "another id");
    }

    function structHashOf(IPurchaseRegistrar.Purchase memory p) private pure returns (bytes32) {
        bytes memory head = abi.encode(
            keccak256(
                "Purchase(bytes32 program,bytes32 purchaseRef,address merchant,address buyer,address beneficiary,address token,uint256 amount,bytes32 termsHash,uint64 offerDeadline,uint64 payDeadline,uint64 claimDeadline,bytes32 salt)"
            ),
            p.program,
            p.purchaseRef,
            p.merchant,
            p.buyer,
            p.beneficiary
        );
        return keccak256(
            abi.encodePacked(
                head,
                abi.encode(
                    p.token, p.amount, p.termsHash, p.offerDeadline, p.payDeadline, p.claimDeadline, p.salt
                )
            )
        );
    }

    function test_hashFunding() public view {
        IPurchaseRegistrar.FundingAuthorization memory a = fundingAuthorization();
        bytes32 structHash = keccak256(
            abi.encode(
                keccak256(
                    "FundingAuthorization(bytes32 program,bytes32 merchantRef,address wallet,address token,uint256 cap,uint64 validUntil,bytes32 salt)"
                ),
                a.program,
                a.merchantRef,
                a.wallet,
                a.token,
                a.cap,
                a.validUntil,
                a.salt
            )
        );
        eq(registrar.hashFunding(a), digest(structHash), "digest");
    }

    function test_hashClaim() public view {
        bytes32 structHash = keccak256(
            abi.encode(
                keccak256(
                    "Claim(bytes32 commitment,address beneficiary,uint256 requestedAmount,bytes32 reasonHash)"
                ),
                keccak256("purchase"),
                beneficiary,
                uint256(9),
                keccak256("reason")
            )
        );
        IPurchaseRegistrar.Claim memory claimData =
            IPurchaseRegistrar.Claim(keccak256("purchase"), beneficiary, 9, keccak256("reason"));
        eq(registrar.hashClaim(claimData), digest(structHash), "digest");
    }
}
