// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice The cheatcodes that the script uses.
interface Cheatcodes {
    function rpc(string calldata method, string calldata params) external returns (bytes memory);
    function toString(bytes calldata value) external pure returns (string memory);
}

/// @notice Takes a snapshot of the whole sandbox over its chain RPC, mines blocks, and restores the snapshot.
contract Snapshot {
    Cheatcodes private constant vm = Cheatcodes(address(uint160(uint256(keccak256("hevm cheat code")))));

    function run() external returns (bool isRestored) {
        bytes memory before = vm.rpc("eth_blockNumber", "[]");
        string memory id = vm.toString(vm.rpc("evm_snapshot", "[]"));
        vm.rpc("anvil_mine", "[3]");
        require(keccak256(vm.rpc("eth_blockNumber", "[]")) != keccak256(before), "No block was mined.");
        vm.rpc("evm_revert", string.concat('["', id, '"]'));
        return keccak256(vm.rpc("eth_blockNumber", "[]")) == keccak256(before);
    }
}
