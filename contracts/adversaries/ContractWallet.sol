// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title ContractWallet
/// @notice A wallet with code, in the shapes through which a payment can look like what it is not: a forwarder, a multicall, a
/// call that is swallowed when it fails, one call too many.
contract ContractWallet {
    struct Call {
        address target;
        bytes data;
    }

    error CallFailed(address target, bytes reason);

    /// @notice Takes every signature for its own (ERC-1271), a permit's included.
    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4) {
        return this.isValidSignature.selector;
    }

    /// @notice Passes one call on and fails with it.
    function forward(address target, bytes calldata data) external payable returns (bytes memory) {
        return _call(target, data);
    }

    /// @notice Passes several calls on and fails with the first that does.
    function multicall(Call[] calldata calls) external payable {
        for (uint256 i = 0; i < calls.length; ++i) {
            _call(calls[i].target, calls[i].data);
        }
    }

    /// @notice Passes one call on and succeeds whatever becomes of it.
    function attempt(address target, bytes calldata data) external payable returns (bool success) {
        (success,) = target.call(data);
    }

    /// @notice Passes one call on in the context of this wallet.
    function delegate(address target, bytes calldata data) external payable returns (bytes memory) {
        (bool success, bytes memory returned) = target.delegatecall(data);
        if (!success) revert CallFailed(target, returned);
        return returned;
    }

    function _call(address target, bytes calldata data) private returns (bytes memory) {
        (bool success, bytes memory returned) = target.call{value: msg.value}(data);
        if (!success) revert CallFailed(target, returned);
        return returned;
    }
}

/// @title ConstructorCaller
/// @notice Makes its one call while it is being created, when it has no code yet.
contract ConstructorCaller {
    error CallFailed(bytes reason);

    constructor(address target, bytes memory data) payable {
        (bool success, bytes memory returned) = target.call{value: msg.value}(data);
        if (!success) revert CallFailed(returned);
    }
}
