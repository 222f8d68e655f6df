// SPDX-License-Identifier: MIT
pragma solidity >=0.8.4;

/// @title Cheatcodes
/// @notice The cheatcodes that the tests of this folder use; Hardhat and Foundry have them.
interface Cheatcodes {
    struct Log {
        bytes32[] topics;
        bytes data;
        address emitter;
    }

    function addr(uint256 privateKey) external pure returns (address);
    function etch(address target, bytes calldata code) external;
    function getRecordedLogs() external returns (Log[] memory logs);
    function prank(address sender) external;
    function recordLogs() external;
    function sign(uint256 privateKey, bytes32 digest) external pure returns (uint8 v, bytes32 r, bytes32 s);
    function warp(uint256 newTimestamp) external;
}
