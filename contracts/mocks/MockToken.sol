// SPDX-License-Identifier: MIT
pragma solidity >=0.8.4;

/// @title MockToken
/// @notice A token for tests, which anyone may mint, and which can be hostile.
contract MockToken {
    /// @notice How `transferFrom` behaves.
    enum Mode {
        /// Moves the amount and returns true.
        Honest,
        /// Moves one unit less than it takes.
        Fee,
        /// Moves nothing and returns true.
        MovesNothing,
        /// Moves the amount and returns false.
        ReturnsFalse,
        /// Calls its caller back with `callback` before it moves the amount, and passes on a revert.
        CallsBack
    }

    string public constant name = "Mock token";
    string public constant symbol = "MOCK";
    uint8 public constant decimals = 6;

    Mode public mode;
    bytes public callback;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    /// @notice Chooses how `transferFrom` behaves from now on.
    function setMode(Mode newMode, bytes calldata newCallback) external {
        mode = newMode;
        callback = newCallback;
    }

    function mint(address to, uint256 amount) external {
        totalSupply += amount;
        balanceOf[to] += amount;
        emit Transfer(address(0), to, amount);
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        allowance[msg.sender][spender] = amount;
        emit Approval(msg.sender, spender, amount);
        return true;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        move(msg.sender, to, amount, amount);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        if (mode == Mode.CallsBack) {
            (bool success, bytes memory reason) = msg.sender.call(callback);
            if (!success) {
                assembly {
                    revert(add(reason, 0x20), mload(reason))
                }
            }
        }
        allowance[from][msg.sender] -= amount;
        if (mode != Mode.MovesNothing) move(from, to, amount, mode == Mode.Fee ? amount - 1 : amount);
        return mode != Mode.ReturnsFalse;
    }

    function move(address from, address to, uint256 taken, uint256 given) private {
        balanceOf[from] -= taken;
        balanceOf[to] += given;
        emit Transfer(from, to, given);
    }
}
