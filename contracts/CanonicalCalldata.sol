// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title CanonicalCalldata
/// @notice Refuses calldata that decodes to the right arguments without being their ABI encoding.
/// @dev Solidity's decoder accepts trailing bytes, gaps and shared offsets, so many byte strings decode to one call. A service
/// that compares a transaction's bytes with the call that it expects wants exactly one. Dirty high bits of an address, a
/// bool or a uint64 need no check here: the decoder refuses them before a function's body runs, with empty revert data.
abstract contract CanonicalCalldata {
    /// @notice The calldata of a function with static arguments is too long.
    error NonCanonicalLength(uint256 actual, uint256 expected);

    /// @notice The calldata is not the ABI encoding of the arguments that it decodes to; both as keccak256.
    error NonCanonicalEncoding(bytes32 actual, bytes32 expected);

    /// @dev For functions whose arguments fill `words` words of their own; shorter calldata does not decode.
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
