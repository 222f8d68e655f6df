// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title ContractWallet
/// @notice A contract wallet that forwards calls: one, several, one whose failure it ignores, or one by `delegatecall`.
contract ContractWallet {
    struct Call {
        address target;
        bytes data;
    }

    error CallFailed(address target, bytes reason);

    /// @notice Accepts every signature (ERC-1271), including the signature of a permit.
    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4) {
        return this.isValidSignature.selector;
    }

    /// @notice Makes one call and reverts if it fails.
    function forward(address target, bytes calldata data) external payable returns (bytes memory) {
        return _call(target, data);
    }

    /// @notice Makes several calls and reverts if one of them fails.
    function multicall(Call[] calldata calls) external payable {
        for (uint256 i = 0; i < calls.length; ++i) {
            _call(calls[i].target, calls[i].data);
        }
    }

    /// @notice Makes one call and does not revert if it fails.
    function attempt(address target, bytes calldata data) external payable returns (bool success) {
        (success,) = target.call(data);
    }

    /// @notice Makes one `delegatecall`, in the context of this wallet, and reverts if it fails.
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
/// @notice Makes one call from its constructor, when it has no code yet.
contract ConstructorCaller {
    error CallFailed(bytes reason);

    constructor(address target, bytes memory data) payable {
        (bool success, bytes memory returned) = target.call{value: msg.value}(data);
        if (!success) revert CallFailed(returned);
    }
}
