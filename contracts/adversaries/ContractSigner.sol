// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

/// @title ContractSigner
/// @notice A signer with code that can be honest, say yes to everything, change its mind, answer garbage, or revert.
contract ContractSigner is IERC1271 {
    enum Mood {
        Honest,
        YesToAll,
        NoToAll,
        Short,
        Reverting
    }

    address public immutable owner;
    Mood public mood;

    constructor(address owner_) {
        owner = owner_;
    }

    function setMood(Mood mood_) external {
        mood = mood_;
    }

    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        if (mood == Mood.Reverting) revert("ContractSigner: no");
        if (mood == Mood.Short) {
            assembly ("memory-safe") {
                mstore(0, shl(224, 0x1626ba7e))
                return(0, 4)
            }
        }
        bool valid = mood == Mood.YesToAll;
        if (mood == Mood.Honest) {
            (address recovered, ECDSA.RecoverError err,) = ECDSA.tryRecoverCalldata(digest, signature);
            valid = err == ECDSA.RecoverError.NoError && recovered == owner;
        }
        return valid ? IERC1271.isValidSignature.selector : bytes4(0xffffffff);
    }
}
