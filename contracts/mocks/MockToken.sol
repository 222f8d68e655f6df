// SPDX-License-Identifier: MIT
pragma solidity >=0.8.4;

/// @title MockToken
/// @notice A token for tests, which anyone may mint, and which can be hostile.
contract MockToken {
    /// @notice How `transfer` and `transferFrom` behave.
    enum Mode {
        /// Moves the amount and returns true.
        Honest,
        /// Moves one unit less than it takes.
        Fee,
        /// Moves nothing and returns true.
        MovesNothing,
        /// Moves the amount and returns false.
        ReturnsFalse,
        /// Calls its caller back with `callback` before it moves the amount, also from `permit`, and passes on a revert.
        CallsBack,
        /// Moves one unit more than it takes.
        Bonus,
        /// Moves the amount and returns nothing, as early tokens do.
        ReturnsNothing,
        /// Moves the amount and returns true, followed by 64 KiB.
        ReturnsHugeData,
        /// Reverts with `TransferRefused`.
        RevertsWithError
    }

    /// @notice The token refuses a transfer: its mode is `RevertsWithError`.
    error TransferRefused(address from, address to, uint256 amount);

    /// @notice The token is paused.
    error TokenPaused();

    /// @notice The token blocks this account.
    error AccountBlocked(address account);

    string public constant name = "Mock token";
    string public constant symbol = "MOCK";
    uint8 public decimals = 6;

    Mode public mode;
    bytes public callback;
    bool public paused;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    mapping(address => bool) public blocked;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    /// @notice Chooses how transfers behave from now on.
    function setMode(Mode newMode, bytes calldata newCallback) external {
        mode = newMode;
        callback = newCallback;
    }

    /// @notice Changes `decimals`, which is 6 at first.
    function setDecimals(uint8 newDecimals) external {
        decimals = newDecimals;
    }

    /// @notice Makes every transfer revert, or ends this.
    function setPaused(bool isPaused) external {
        paused = isPaused;
    }

    /// @notice Makes every transfer from and to one account revert, or ends this.
    function setBlocked(address account, bool isBlocked) external {
        blocked[account] = isBlocked;
    }

    /// @notice Changes a balance without a transfer, as a rebasing token does.
    function setBalance(address account, uint256 amount) external {
        totalSupply = totalSupply - balanceOf[account] + amount;
        balanceOf[account] = amount;
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

    /// @notice Sets an allowance as an EIP-2612 permit does, but accepts any signature and any deadline.
    function permit(address owner, address spender, uint256 amount, uint256, uint8, bytes32, bytes32) external {
        if (mode == Mode.CallsBack) callBack();
        allowance[owner][spender] = amount;
        emit Approval(owner, spender, amount);
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        if (mode == Mode.CallsBack) callBack();
        return moveAndReturn(msg.sender, to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        if (mode == Mode.CallsBack) callBack();
        allowance[from][msg.sender] -= amount;
        return moveAndReturn(from, to, amount);
    }

    function moveAndReturn(address from, address to, uint256 amount) private returns (bool) {
        if (paused) revert TokenPaused();
        if (blocked[from]) revert AccountBlocked(from);
        if (blocked[to]) revert AccountBlocked(to);
        if (mode == Mode.RevertsWithError) revert TransferRefused(from, to, amount);
        if (mode == Mode.Fee) move(from, to, amount, amount - 1);
        else if (mode == Mode.Bonus) move(from, to, amount, amount + 1);
        else if (mode != Mode.MovesNothing) move(from, to, amount, amount);
        if (mode == Mode.ReturnsNothing) {
            assembly {
                return(0, 0)
            }
        }
        if (mode == Mode.ReturnsHugeData) {
            assembly {
                let data := mload(0x40)
                mstore(data, 1)
                return(data, 0x10020)
            }
        }
        return mode != Mode.ReturnsFalse;
    }

    function move(address from, address to, uint256 taken, uint256 given) private {
        balanceOf[from] -= taken;
        balanceOf[to] += given;
        totalSupply = totalSupply - taken + given;
        emit Transfer(from, to, given);
    }

    function callBack() private {
        (bool success, bytes memory reason) = msg.sender.call(callback);
        if (!success) {
            assembly {
                revert(add(reason, 0x20), mload(reason))
            }
        }
    }
}
