// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {RegistrarInvariants} from "../conformance/RegistrarInvariants.t.sol";
import {IPurchaseRegistrar} from "../interfaces/IPurchaseRegistrar.sol";
import {UupsProxy} from "../proxies/UupsProxy.sol";
import {Assertions} from "./Assertions.t.sol";
import {LedgerRegistrar} from "./LedgerRegistrar.t.sol";

/// @title Deployer
/// @notice Deploys the registrar contract from its artifact, which is a mutant's while mutants are tried.
contract Deployer is Assertions {
    function deploy() external returns (IPurchaseRegistrar) {
        return newRegistrar();
    }
}

contract PurchaseRegistrarInvariantsTest is RegistrarInvariants {
    function deployRegistrar() internal override returns (IPurchaseRegistrar) {
        return new Deployer().deploy();
    }
}

contract LedgerRegistrarInvariantsTest is RegistrarInvariants {
    function deployRegistrar() internal override returns (IPurchaseRegistrar) {
        bytes memory initialize = abi.encodeCall(LedgerRegistrar.initialize, (address(this)));
        return IPurchaseRegistrar(address(new UupsProxy(address(new LedgerRegistrar()), initialize)));
    }
}
