// SPDX-License-Identifier: MIT
pragma solidity >=0.8.4;

import {IPurchaseRegistrar} from "../interfaces/IPurchaseRegistrar.sol";

/// @title RegistrarHashing
/// @notice Computes the EIP-712 digests that wallets sign, for a registrar contract on a chain.
library RegistrarHashing {
    bytes32 internal constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");

    bytes32 internal constant PURCHASE_TYPEHASH = keccak256(
        "Purchase(bytes32 program,bytes32 purchaseRef,address merchant,address buyer,address beneficiary,address token,uint256 amount,bytes32 termsHash,uint64 offerDeadline,uint64 payDeadline,uint64 claimDeadline,bytes32 salt)"
    );

    bytes32 internal constant FUNDING_TYPEHASH = keccak256(
        "FundingAuthorization(bytes32 program,bytes32 merchantRef,address wallet,address token,uint256 cap,uint64 validUntil,bytes32 salt)"
    );

    bytes32 internal constant CLAIM_TYPEHASH =
        keccak256("Claim(bytes32 commitment,address beneficiary,uint256 requestedAmount,bytes32 reasonHash)");

    /// @notice Returns the domain separator of a registrar contract.
    function domainSeparator(uint256 chainId, address registrar) internal pure returns (bytes32) {
        return keccak256(
            abi.encode(DOMAIN_TYPEHASH, keccak256("PurchaseRegistrar"), keccak256("1"), chainId, registrar)
        );
    }

    /// @notice Returns the digest of a purchase: its id, which the commitment signer signs.
    function hashPurchase(bytes32 separator, IPurchaseRegistrar.Purchase memory purchase)
        internal
        pure
        returns (bytes32)
    {
        return digest(separator, keccak256(abi.encode(PURCHASE_TYPEHASH, purchase)));
    }

    /// @notice Returns the digest of a funding authorization, which the commitment signer signs.
    function hashFunding(bytes32 separator, IPurchaseRegistrar.FundingAuthorization memory authorization)
        internal
        pure
        returns (bytes32)
    {
        return digest(separator, keccak256(abi.encode(FUNDING_TYPEHASH, authorization)));
    }

    /// @notice Returns the digest of a claim, which the beneficiary signs and passes to `claim`.
    function hashClaim(bytes32 separator, IPurchaseRegistrar.Claim memory claimData) internal pure returns (bytes32) {
        return digest(separator, keccak256(abi.encode(CLAIM_TYPEHASH, claimData)));
    }

    /// @notice Returns the EIP-712 digest of a struct hash.
    function digest(bytes32 separator, bytes32 structHash) internal pure returns (bytes32) {
        return keccak256(abi.encodePacked(hex"1901", separator, structHash));
    }
}
