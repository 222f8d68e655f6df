// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {RegistrarConformance} from "routing-sandbox/contracts/conformance/RegistrarConformance.t.sol";
import {IPurchaseRegistrar} from "routing-sandbox/contracts/interfaces/IPurchaseRegistrar.sol";

import {MyRegistrar} from "../src/MyRegistrar.sol";

/// @notice Runs the tests of the package on your registrar contract.
contract MyRegistrarTest is RegistrarConformance {
    function deployRegistrar() internal override returns (IPurchaseRegistrar) {
        return IPurchaseRegistrar(address(new MyRegistrar()));
    }
}
