// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title UpgradeableProxy
/// @notice A proxy that anyone may upgrade, for example between a check and the call that relies on the check.
contract UpgradeableProxy {
    address private _implementation;

    constructor(address implementation) {
        _implementation = implementation;
    }

    /// @notice Replaces the implementation.
    function upgradeTo(address implementation) external {
        _implementation = implementation;
    }

    fallback() external {
        address implementation = _implementation;
        assembly ("memory-safe") {
            let data := mload(0x40)
            calldatacopy(data, 0, calldatasize())
            let success := delegatecall(gas(), implementation, data, calldatasize(), 0, 0)
            returndatacopy(data, 0, returndatasize())
            if iszero(success) { revert(data, returndatasize()) }
            return(data, returndatasize())
        }
    }
}
