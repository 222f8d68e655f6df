// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ICommonErrors} from "./interfaces/ICommonErrors.sol";

/// @title CanonicalCalldata
/// @notice Reverts if the calldata is not the canonical ABI encoding of its arguments.
/// @dev Solidity's decoder accepts trailing bytes, gaps and shared offsets, so many byte strings decode to the same call. With
/// this check exactly one does, and a service can compare a transaction's calldata with the expected call byte by byte. Dirty
/// high bits of an address, bool, uint8 or uint64 need no check here: the decoder reverts on them, with empty revert data.
abstract contract CanonicalCalldata is ICommonErrors {
    /// @dev For functions whose arguments are static and encode to `words` words. The decoder reverts on shorter calldata.
    modifier canonical(uint256 words) {
        uint256 expected = 4 + 32 * words;
        if (msg.data.length != expected) revert NonCanonicalLength(msg.data.length, expected);
        _;
    }

    /// @dev Returns whether calldata is the canonical encoding of `words` words of static arguments, followed by `last`. Dirty bits
    /// of the static arguments are the decoder's: it reverts on them where they are read.
    function _isCanonical(uint256 words, bytes calldata last) internal pure returns (bool canonicalEncoding) {
        assembly ("memory-safe") {
            // After the selector: the static words, the offset of `last`, its length, its bytes, and zeros up to a whole word.
            let start := add(4, mul(32, add(words, 2)))
            let end := add(start, last.length)
            canonicalEncoding :=
                and(
                    eq(last.offset, start),
                    and(
                        eq(calldatasize(), add(start, and(add(last.length, 31), not(31)))),
                        // Beyond the calldata this reads zeros.
                        iszero(calldataload(end))
                    )
                )
        }
    }

    /// @dev Returns whether calldata is the canonical encoding of two arrays.
    function _isCanonical(bytes32[] calldata first, uint256[] calldata second)
        internal
        pure
        returns (bool canonicalEncoding)
    {
        assembly ("memory-safe") {
            // After the selector: both offsets, then each array's length and elements.
            let end := add(100, mul(32, first.length))
            canonicalEncoding :=
                and(
                    eq(first.offset, 100),
                    and(
                        eq(second.offset, add(end, 32)),
                        eq(calldatasize(), add(second.offset, mul(32, second.length)))
                    )
                )
        }
    }

    /// @dev Reverts with the hashes of both encodings. `encoded` is the canonical one, including the selector.
    function _revertNonCanonical(bytes memory encoded) internal pure {
        revert NonCanonicalEncoding(keccak256(msg.data), keccak256(encoded));
    }
}
