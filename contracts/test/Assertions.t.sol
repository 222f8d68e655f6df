// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {PurchaseRegistrar} from "../PurchaseRegistrar.sol";
import {TestUSDC} from "../TestUSDC.sol";
import {Vm} from "./Vm.t.sol";

/// @title Assertions
/// @notice Assertions with the actual and the expected value, and helpers around the cheatcodes.
abstract contract Assertions {
    /// @dev The address of the test runner's cheatcodes.
    Vm internal constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));

    error Unequal(string what, uint256 actual, uint256 expected);

    function eq(uint256 actual, uint256 expected, string memory what) internal pure {
        if (actual != expected) revert Unequal(what, actual, expected);
    }

    function eq(address actual, address expected, string memory what) internal pure {
        eq(uint160(actual), uint160(expected), what);
    }

    function eq(bytes32 actual, bytes32 expected, string memory what) internal pure {
        eq(uint256(actual), uint256(expected), what);
    }

    function eq(bool actual, bool expected, string memory what) internal pure {
        eq(actual ? 1 : 0, expected ? 1 : 0, what);
    }

    function eq(string memory actual, string memory expected, string memory what) internal pure {
        eq(keccak256(bytes(actual)), keccak256(bytes(expected)), what);
    }

    function account(string memory name) internal returns (address result) {
        result = vm.addr(keyOf(name));
        vm.label(result, name);
    }

    /// @dev The private key of `account(name)`.
    function keyOf(string memory name) internal pure returns (uint256) {
        return uint256(keccak256(bytes(name))) >> 1;
    }

    /// @dev Expects the next emitted event as the next log of `emitter`, with equal topics and data.
    function expectLog(address emitter) internal {
        vm.expectEmit(true, true, true, true, emitter);
    }

    /// @dev Deploys from the artifact, so that tests contain no copy of a contract's bytecode and compile faster.
    function create(string memory name, bytes memory arguments) internal returns (address deployed) {
        bytes memory code = abi.encodePacked(vm.getCode(name), arguments);
        assembly ("memory-safe") {
            deployed := create(0, add(code, 0x20), mload(code))
            if iszero(deployed) {
                returndatacopy(0, 0, returndatasize())
                revert(0, returndatasize())
            }
        }
    }

    function newRegistrar() internal returns (PurchaseRegistrar) {
        return PurchaseRegistrar(create("PurchaseRegistrar", ""));
    }

    function newUSDC(
        string memory name,
        string memory symbol,
        address owner,
        address masterMinter,
        address pauser,
        address blacklister
    ) internal returns (TestUSDC) {
        bytes memory arguments = abi.encode(name, symbol, owner, masterMinter, pauser, blacklister);
        return TestUSDC(create("TestUSDC", arguments));
    }

    function clamp(uint256 value, uint256 min, uint256 max) internal pure returns (uint256) {
        return min + value % (max - min + 1);
    }
}
