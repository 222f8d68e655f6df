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

    /// @dev For functions with dynamic arguments. `encoded` is the canonical encoding, including the selector.
    function _requireCanonical(bytes memory encoded) internal pure {
        bytes32 actual = keccak256(msg.data);
        bytes32 expected = keccak256(encoded);
        if (actual != expected) revert NonCanonicalEncoding(actual, expected);
    }
}
