// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Vm
/// @notice The cheatcodes of Hardhat's test runner that these tests use.
interface Vm {
    struct Log {
        bytes32[] topics;
        bytes data;
        address emitter;
    }

    function addr(uint256 privateKey) external pure returns (address);
    function assume(bool condition) external pure;
    function chainId(uint256 newChainId) external;
    function deal(address account, uint256 balance) external;
    function etch(address target, bytes calldata code) external;
    function expectEmit(bool topic1, bool topic2, bool topic3, bool data, address emitter) external;
    function expectRevert() external;
    function expectRevert(bytes calldata revertData) external;
    function getCode(string calldata artifact) external view returns (bytes memory creationCode);
    function getRecordedLogs() external returns (Log[] memory logs);
    function label(address account, string calldata newLabel) external;
    function load(address target, bytes32 slot) external view returns (bytes32 word);
    function parseBytes(string calldata text) external pure returns (bytes memory);
    function parseJsonString(string calldata json, string calldata key) external pure returns (string memory);
    function prank(address sender) external;
    function prank(address sender, address origin) external;
    function readFile(string calldata path) external view returns (string memory);
    function recordLogs() external;
    function replace(string calldata text, string calldata from, string calldata to)
        external
        pure
        returns (string memory);
    function sign(uint256 privateKey, bytes32 digest) external pure returns (uint8 v, bytes32 r, bytes32 s);
    function startPrank(address sender) external;
    function startPrank(address sender, address origin) external;
    function stopPrank() external;
    function store(address target, bytes32 slot, bytes32 word) external;
    function toString(address account) external pure returns (string memory);
    function warp(uint256 newTimestamp) external;
}
