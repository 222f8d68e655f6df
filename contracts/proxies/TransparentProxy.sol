// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {
    TransparentUpgradeableProxy
} from "@openzeppelin/contracts/proxy/transparent/TransparentUpgradeableProxy.sol";

/// @title TransparentProxy
/// @notice The proxy of a registrar contract that a proxy admin upgrades (transparent).
contract TransparentProxy is TransparentUpgradeableProxy {
    /// @param implementation The registrar contract.
    /// @param owner The owner of the proxy admin, which this constructor deploys.
    /// @param data The call of `initialize`; empty for none.
    constructor(address implementation, address owner, bytes memory data)
        TransparentUpgradeableProxy(implementation, owner, data)
    {}

    /// @dev A registrar contract may have no `initialize`.
    function _unsafeAllowUninitialized() internal pure override returns (bool) {
        return true;
    }
}
