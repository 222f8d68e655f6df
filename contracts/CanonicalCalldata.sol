// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ICommonErrors} from "./interfaces/ICommonErrors.sol";

/// @title CanonicalCalldata
/// @notice Refuses calldata that decodes to the right arguments without being their canonical ABI encoding.
/// @dev Solidity's decoder accepts trailing bytes, gaps and shared offsets, so many byte strings decode to one call. A service
/// that compares a transaction's bytes with the call that it expects needs exactly one. Dirty high bits of an address, a
/// bool, a uint8 or a uint64 need no check here: the decoder refuses them before a function's body runs, with empty revert data.
abstract contract CanonicalCalldata is ICommonErrors {
    /// @dev For functions with static arguments of `words` words; the decoder refuses shorter calldata.
    modifier canonical(uint256 words) {
        uint256 expected = 4 + 32 * words;
        if (msg.data.length != expected) revert NonCanonicalLength(msg.data.length, expected);
        _;
    }

    /// @dev For functions with dynamic arguments: `encoded` is their canonical encoding, selector included.
    function _requireCanonical(bytes memory encoded) internal pure {
        bytes32 actual = keccak256(msg.data);
        bytes32 expected = keccak256(encoded);
        if (actual != expected) revert NonCanonicalEncoding(actual, expected);
    }
}
