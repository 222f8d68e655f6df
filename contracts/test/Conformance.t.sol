// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {RegistrarConformance} from "../conformance/RegistrarConformance.t.sol";
import {IPurchaseRegistrar} from "../interfaces/IPurchaseRegistrar.sol";
import {UupsProxy} from "../proxies/UupsProxy.sol";
import {PurchaseRegistrar} from "../PurchaseRegistrar.sol";
import {LedgerRegistrar} from "./LedgerRegistrar.t.sol";

contract PurchaseRegistrarConformanceTest is RegistrarConformance {
    function deployRegistrar() internal override returns (IPurchaseRegistrar) {
        return new PurchaseRegistrar();
    }
}

contract LedgerRegistrarConformanceTest is RegistrarConformance {
    function deployRegistrar() internal override returns (IPurchaseRegistrar) {
        bytes memory initialize = abi.encodeCall(LedgerRegistrar.initialize, (address(this)));
        return IPurchaseRegistrar(address(new UupsProxy(address(new LedgerRegistrar()), initialize)));
    }
}
