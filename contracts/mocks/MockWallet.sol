// SPDX-License-Identifier: MIT
pragma solidity >=0.8.4;

/// @title MockWallet
/// @notice A contract wallet for tests, which anyone may use, and whose answer to a signature (ERC-1271) can be chosen.
contract MockWallet {
    /// @notice How `isValidSignature` answers.
    enum Mode {
        /// Accepts every signature.
        Accepts,
        /// Refuses every signature.
        Denies,
        /// Reverts with `SignatureRefused`.
        Reverts,
        /// Uses all the gas that it gets.
        BurnsGas
    }

    /// @notice The wallet refuses to answer: its mode is `Reverts`.
    error SignatureRefused();

    Mode public mode;

    /// @notice Chooses how `isValidSignature` answers from now on.
    function setMode(Mode newMode) external {
        mode = newMode;
    }

    /// @notice Answers as the mode says, whatever the digest and the signature are.
    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        if (mode == Mode.Reverts) revert SignatureRefused();
        if (mode == Mode.BurnsGas) {
            assembly {
                invalid()
            }
        }
        return mode == Mode.Accepts ? this.isValidSignature.selector : bytes4(0xffffffff);
    }

    /// @notice Makes one call from this wallet, and passes on a revert.
    function execute(address target, bytes calldata data) external payable returns (bytes memory) {
        (bool success, bytes memory returned) = target.call{value: msg.value}(data);
        if (!success) {
            assembly {
                revert(add(returned, 0x20), mload(returned))
            }
        }
        return returned;
    }
}
