// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {PurchaseRegistrar} from "routing-sandbox/contracts/PurchaseRegistrar.sol";

/// @notice Your registrar contract. This one is the sandbox's own: replace it with yours.
contract MyRegistrar is PurchaseRegistrar {}
