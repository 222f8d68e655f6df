// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC1967Proxy} from "@openzeppelin/contracts/proxy/ERC1967/ERC1967Proxy.sol";

/// @title UupsProxy
/// @notice The proxy of a registrar contract that upgrades itself (UUPS).
contract UupsProxy is ERC1967Proxy {
    /// @param implementation The registrar contract.
    /// @param data The call of `initialize`; empty for none.
    constructor(address implementation, bytes memory data) ERC1967Proxy(implementation, data) {}

    /// @dev A registrar contract may have no `initialize`.
    function _unsafeAllowUninitialized() internal pure override returns (bool) {
        return true;
    }
}
