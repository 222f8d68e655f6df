// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

/// @title ContractSigner
/// @notice An ERC-1271 signer that checks its owner's signature, accepts or refuses every signature, returns too few bytes, or
/// reverts, as configured.
contract ContractSigner is IERC1271 {
    enum Behavior {
        ChecksOwner,
        AcceptsAll,
        RefusesAll,
        ReturnsShort,
        Reverting
    }

    address public immutable owner;
    Behavior public behavior;

    constructor(address owner_) {
        owner = owner_;
    }

    function setBehavior(Behavior behavior_) external {
        behavior = behavior_;
    }

    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        if (behavior == Behavior.Reverting) revert("ContractSigner: no");
        if (behavior == Behavior.ReturnsShort) {
            assembly ("memory-safe") {
                mstore(0, shl(224, 0x1626ba7e))
                return(0, 4)
            }
        }
        bool valid = behavior == Behavior.AcceptsAll;
        if (behavior == Behavior.ChecksOwner) {
            (address recovered, ECDSA.RecoverError err,) = ECDSA.tryRecoverCalldata(digest, signature);
            valid = err == ECDSA.RecoverError.NoError && recovered == owner;
        }
        return valid ? IERC1271.isValidSignature.selector : bytes4(0xffffffff);
    }
}
