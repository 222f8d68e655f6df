// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {RegistrarConformance} from "routing-sandbox/contracts/conformance/RegistrarConformance.t.sol";
import {RegistrarInvariants} from "routing-sandbox/contracts/conformance/RegistrarInvariants.t.sol";
import {IPurchaseRegistrar} from "routing-sandbox/contracts/interfaces/IPurchaseRegistrar.sol";

import {MyRegistrar} from "../src/MyRegistrar.sol";

/// @notice Tries each rule of a registrar contract once.
contract MyRegistrarTest is RegistrarConformance {
    function deployRegistrar() internal override returns (IPurchaseRegistrar) {
        return IPurchaseRegistrar(address(new MyRegistrar()));
    }
}

/// @notice Tries random calls by many parties, and checks the invariants after each.
contract MyRegistrarInvariantsTest is RegistrarInvariants {
    function deployRegistrar() internal override returns (IPurchaseRegistrar) {
        return IPurchaseRegistrar(address(new MyRegistrar()));
    }
}
