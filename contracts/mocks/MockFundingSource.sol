// SPDX-License-Identifier: MIT
pragma solidity >=0.8.4;

/// @title MockFundingSource
/// @notice A funding source for tests, which anyone may draw on, and which can be hostile.
/// @dev A test can put its code at the address of another funding source with the cheatcode `etch`: its storage is far from the
/// slots that the compiler assigns.
contract MockFundingSource {
    /// @notice How `draw` behaves.
    enum Mode {
        /// Transfers the amount.
        Honest,
        /// Transfers one unit more.
        DrawsMore,
        /// Transfers one unit less.
        DrawsLess,
        /// Transfers nothing and does not revert.
        DrawsNothing,
        /// Reverts with `DrawRefused`.
        Reverts,
        /// Calls its caller back with `callback` before it transfers the amount, and passes on a revert.
        CallsBack
    }

    struct State {
        Mode mode;
        bytes callback;
        address registrar;
    }

    /// @notice The funding source refuses to draw: its mode is `Reverts`.
    error DrawRefused();

    /// @notice The token has refused the transfer.
    error TransferFailed();

    bytes32 private constant STATE = keccak256("routing-sandbox.MockFundingSource");

    /// @notice Chooses how `draw` behaves from now on.
    function setMode(Mode newMode, bytes calldata newCallback) external {
        state().mode = newMode;
        state().callback = newCallback;
    }

    /// @notice Chooses what `registrar()` returns.
    function setRegistrar(address newRegistrar) external {
        state().registrar = newRegistrar;
    }

    /// @notice Returns the chosen registrar contract, which need not be the caller of `draw`.
    function registrar() external view returns (address) {
        return state().registrar;
    }

    /// @notice Transfers tokens from `from` to `to`, with the allowance that `from` gave to this contract, as the mode says.
    function draw(address token, address from, address to, uint256 amount) external {
        Mode mode = state().mode;
        if (mode == Mode.Reverts) revert DrawRefused();
        if (mode == Mode.DrawsNothing) return;
        if (mode == Mode.CallsBack) callBack();
        uint256 drawn = mode == Mode.DrawsMore ? amount + 1 : mode == Mode.DrawsLess ? amount - 1 : amount;
        (bool success,) =
            token.call(abi.encodeWithSignature("transferFrom(address,address,uint256)", from, to, drawn));
        if (!success) revert TransferFailed();
    }

    function callBack() private {
        (bool success, bytes memory reason) = msg.sender.call(state().callback);
        if (!success) {
            assembly {
                revert(add(reason, 0x20), mload(reason))
            }
        }
    }

    function state() private pure returns (State storage place) {
        bytes32 slot = STATE;
        assembly {
            place.slot := slot
        }
    }
}
