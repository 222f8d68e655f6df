// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";

/// @title TestUSDC
/// @notice A dollar token for a local chain. It behaves like USDC (FiatToken v2.2) and adds a faucet that anyone may call.
/// @dev An integration observes the same behavior as with the original: the order of checks, the revert strings and the
/// events. A test makes random calls to both and compares the results. Three properties are often unexpected:
/// - an infinite allowance decreases like any other allowance;
/// - `approve`, `permit`, `increaseAllowance` and `decreaseAllowance` check the pause, but not the blocklist;
/// - both bounds of an EIP-3009 authorization are strict, while the deadline of a permit is inclusive.
///
/// It differs from the original in three ways:
/// - it has no proxy and no initializers: the constructor sets name, symbol and roles, and a call costs about 3,000 gas less;
/// - its storage layout differs: a tool that writes the original's slots (balances at 9, allowances at 10) has no effect;
/// - the decoder reverts on dirty high bits of an address, uint8 or bool, which the original ignores.
contract TestUSDC is IERC20Metadata {
    /// @notice EIP-712 type hash of `TransferWithAuthorization` (EIP-3009).
    bytes32 public constant TRANSFER_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );

    /// @notice EIP-712 type hash of `ReceiveWithAuthorization` (EIP-3009).
    bytes32 public constant RECEIVE_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );

    /// @notice EIP-712 type hash of `CancelAuthorization` (EIP-3009).
    bytes32 public constant CANCEL_AUTHORIZATION_TYPEHASH =
        keccak256("CancelAuthorization(address authorizer,bytes32 nonce)");

    /// @notice EIP-712 type hash of `Permit` (EIP-2612).
    bytes32 public constant PERMIT_TYPEHASH =
        keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");

    bytes32 private constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");

    string private constant VERSION = "2";

    /// @dev The highest bit of a balance's slot, which is set if the account is blocked.
    uint256 private constant BLOCKED = 1 << 255;

    /// @inheritdoc IERC20Metadata
    uint8 public constant decimals = 6;

    /// @notice The fiat currency of the token.
    string public constant currency = "USD";

    /// @inheritdoc IERC20Metadata
    string public name;

    /// @inheritdoc IERC20Metadata
    string public symbol;

    /// @notice The account that may replace the holders of all roles.
    address public owner;

    /// @notice The account that may add and remove minters.
    address public masterMinter;

    /// @notice The account that may block and unblock accounts.
    address public blacklister;

    /// @notice The account that may withdraw other tokens from this contract.
    address public rescuer;

    /// @notice The account that may pause and unpause.
    address public pauser;

    /// @notice Whether transfers, approvals, permits, authorizations, minting and burning are paused.
    bool public paused;

    /// @inheritdoc IERC20
    uint256 public totalSupply;

    /// @inheritdoc IERC20
    mapping(address holder => mapping(address spender => uint256 value)) public allowance;

    /// @notice Whether an account may mint and burn.
    mapping(address account => bool) public isMinter;

    /// @notice The amount that a minter may still mint.
    mapping(address minter => uint256) public minterAllowance;

    /// @notice The next permit nonce of an account.
    mapping(address holder => uint256) public nonces;

    /// @notice Whether an authorization's nonce was used or canceled.
    mapping(address authorizer => mapping(bytes32 nonce => bool)) public authorizationState;

    /// @dev The balance in the low 255 bits, and `BLOCKED` in the highest bit.
    mapping(address account => uint256) private _balances;

    /// @notice A minter or the faucet minted `amount` to `to`.
    event Mint(address indexed minter, address indexed to, uint256 amount);

    /// @notice A minter burned `amount` of its own tokens.
    event Burn(address indexed burner, uint256 amount);

    /// @notice A minter was added, or its allowance was replaced.
    event MinterConfigured(address indexed minter, uint256 minterAllowedAmount);

    /// @notice A minter was removed.
    event MinterRemoved(address indexed oldMinter);

    /// @notice The owner set another master minter.
    event MasterMinterChanged(address indexed newMasterMinter);

    /// @notice The owner set another owner. As in the original, no argument is indexed.
    event OwnershipTransferred(address previousOwner, address newOwner);

    /// @notice The token was paused.
    event Pause();

    /// @notice The token was unpaused.
    event Unpause();

    /// @notice The owner set another pauser.
    event PauserChanged(address indexed newAddress);

    /// @notice An account was blocked.
    event Blacklisted(address indexed _account);

    /// @notice An account was unblocked.
    event UnBlacklisted(address indexed _account);

    /// @notice The owner set another blocklister.
    event BlacklisterChanged(address indexed newBlacklister);

    /// @notice The owner set another rescuer.
    event RescuerChanged(address indexed newRescuer);

    /// @notice An authorization was used for a transfer.
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);

    /// @notice An authorization was canceled before its use.
    event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);

    modifier onlyOwner() {
        require(msg.sender == owner, "Ownable: caller is not the owner");
        _;
    }

    modifier onlyPauser() {
        require(msg.sender == pauser, "Pausable: caller is not the pauser");
        _;
    }

    modifier onlyBlacklister() {
        require(msg.sender == blacklister, "Blacklistable: caller is not the blacklister");
        _;
    }

    modifier onlyMasterMinter() {
        require(msg.sender == masterMinter, "FiatToken: caller is not the masterMinter");
        _;
    }

    modifier onlyMinters() {
        require(isMinter[msg.sender], "FiatToken: caller is not a minter");
        _;
    }

    modifier onlyRescuer() {
        require(msg.sender == rescuer, "Rescuable: caller is not the rescuer");
        _;
    }

    modifier whenNotPaused() {
        require(!paused, "Pausable: paused");
        _;
    }

    modifier notBlacklisted(address account) {
        require(!_isBlacklisted(account), "Blacklistable: account is blacklisted");
        _;
    }

    /// @param name_ The token's name, also in the EIP-712 domain; the original is named "USDC" on its test networks.
    /// @param symbol_ The token's symbol.
    /// @param owner_ The account that may replace the holders of all roles.
    /// @param masterMinter_ The account that may add and remove minters.
    /// @param pauser_ The account that may pause and unpause.
    /// @param blacklister_ The account that may block and unblock accounts.
    constructor(
        string memory name_,
        string memory symbol_,
        address owner_,
        address masterMinter_,
        address pauser_,
        address blacklister_
    ) {
        require(masterMinter_ != address(0), "FiatToken: new masterMinter is the zero address");
        require(pauser_ != address(0), "FiatToken: new pauser is the zero address");
        require(blacklister_ != address(0), "FiatToken: new blacklister is the zero address");
        require(owner_ != address(0), "FiatToken: new owner is the zero address");
        name = name_;
        symbol = symbol_;
        owner = owner_;
        masterMinter = masterMinter_;
        pauser = pauser_;
        blacklister = blacklister_;
        // Blocked, because tokens that the contract itself holds could never be spent.
        _balances[address(this)] = BLOCKED;
    }

    // ---------------------------------------------------------------------------------------------------------------
    // Faucet: not in the original
    // ---------------------------------------------------------------------------------------------------------------

    /// @notice Mints any amount to any account. Anyone may call.
    function faucet(address to, uint256 amount) external whenNotPaused notBlacklisted(to) {
        require(to != address(0), "FiatToken: mint to the zero address");
        _mint(to, amount);
    }

    // ---------------------------------------------------------------------------------------------------------------
    // ERC-20
    // ---------------------------------------------------------------------------------------------------------------

    /// @inheritdoc IERC20
    function balanceOf(address account) external view returns (uint256) {
        return _balanceOf(account);
    }

    /// @inheritdoc IERC20
    function transfer(address to, uint256 value)
        external
        whenNotPaused
        notBlacklisted(msg.sender)
        notBlacklisted(to)
        returns (bool)
    {
        _transfer(msg.sender, to, value);
        return true;
    }

    /// @inheritdoc IERC20
    /// @dev Reverts for a blocked spender too.
    function transferFrom(address from, address to, uint256 value)
        external
        whenNotPaused
        notBlacklisted(msg.sender)
        notBlacklisted(from)
        notBlacklisted(to)
        returns (bool)
    {
        uint256 allowed = allowance[from][msg.sender];
        require(value <= allowed, "ERC20: transfer amount exceeds allowance");
        _transfer(from, to, value);
        unchecked {
            allowance[from][msg.sender] = allowed - value;
        }
        return true;
    }

    /// @inheritdoc IERC20
    function approve(address spender, uint256 value) external whenNotPaused returns (bool) {
        _approve(msg.sender, spender, value);
        return true;
    }

    /// @notice Raises the allowance of `spender` by `increment`.
    function increaseAllowance(address spender, uint256 increment) external whenNotPaused returns (bool) {
        _approve(msg.sender, spender, _add(allowance[msg.sender][spender], increment));
        return true;
    }

    /// @notice Lowers the allowance of `spender` by `decrement`.
    function decreaseAllowance(address spender, uint256 decrement) external whenNotPaused returns (bool) {
        uint256 allowed = allowance[msg.sender][spender];
        require(decrement <= allowed, "ERC20: decreased allowance below zero");
        unchecked {
            _approve(msg.sender, spender, allowed - decrement);
        }
        return true;
    }

    // ---------------------------------------------------------------------------------------------------------------
    // EIP-2612
    // ---------------------------------------------------------------------------------------------------------------

    /// @notice The version in the EIP-712 domain.
    function version() external pure returns (string memory) {
        return VERSION;
    }

    /// @notice The EIP-712 domain separator for the current chain id.
    function DOMAIN_SEPARATOR() external view returns (bytes32) {
        return _domainSeparator();
    }

    /// @notice Sets an allowance with the holder's signature.
    /// @param deadline The last second at which the permit is valid. type(uint256).max never expires.
    function permit(
        address holder,
        address spender,
        uint256 value,
        uint256 deadline,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external whenNotPaused {
        _permit(holder, spender, value, deadline, abi.encodePacked(r, s, v));
    }

    /// @notice Sets an allowance with the holder's signature. The signature of a contract is checked with ERC-1271.
    function permit(address holder, address spender, uint256 value, uint256 deadline, bytes memory signature)
        external
        whenNotPaused
    {
        _permit(holder, spender, value, deadline, signature);
    }

    // ---------------------------------------------------------------------------------------------------------------
    // EIP-3009
    // ---------------------------------------------------------------------------------------------------------------

    /// @notice Transfers with the payer's signature. Anyone may call.
    /// @param validAfter The authorization is valid only after this second.
    /// @param validBefore The authorization is valid only before this second.
    /// @param nonce Any 32 bytes that the payer has not used yet.
    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external whenNotPaused notBlacklisted(from) notBlacklisted(to) {
        _transferWithAuthorization(from, to, value, validAfter, validBefore, nonce, abi.encodePacked(r, s, v));
    }

    /// @notice Transfers with the payer's signature. The signature of a contract is checked with ERC-1271.
    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) external whenNotPaused notBlacklisted(from) notBlacklisted(to) {
        _transferWithAuthorization(from, to, value, validAfter, validBefore, nonce, signature);
    }

    /// @notice Transfers with the payer's signature. Only the payee may call, so the call cannot be front-run.
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external whenNotPaused notBlacklisted(from) notBlacklisted(to) {
        _receiveWithAuthorization(from, to, value, validAfter, validBefore, nonce, abi.encodePacked(r, s, v));
    }

    /// @notice Transfers with the payer's signature. Only the payee may call. The signature of a contract is checked with
    /// ERC-1271.
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) external whenNotPaused notBlacklisted(from) notBlacklisted(to) {
        _receiveWithAuthorization(from, to, value, validAfter, validBefore, nonce, signature);
    }

    /// @notice Cancels an unused nonce with the authorizer's signature.
    function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)
        external
        whenNotPaused
    {
        _cancelAuthorization(authorizer, nonce, abi.encodePacked(r, s, v));
    }

    /// @notice Cancels an unused nonce with the authorizer's signature. The signature of a contract is checked with ERC-1271.
    function cancelAuthorization(address authorizer, bytes32 nonce, bytes memory signature) external whenNotPaused {
        _cancelAuthorization(authorizer, nonce, signature);
    }

    // ---------------------------------------------------------------------------------------------------------------
    // Minters
    // ---------------------------------------------------------------------------------------------------------------

    /// @notice Mints tokens, which reduces the calling minter's allowance.
    function mint(address to, uint256 amount)
        external
        whenNotPaused
        onlyMinters
        notBlacklisted(msg.sender)
        notBlacklisted(to)
        returns (bool)
    {
        require(to != address(0), "FiatToken: mint to the zero address");
        require(amount > 0, "FiatToken: mint amount not greater than 0");
        uint256 allowed = minterAllowance[msg.sender];
        require(amount <= allowed, "FiatToken: mint amount exceeds minterAllowance");
        unchecked {
            minterAllowance[msg.sender] = allowed - amount;
        }
        _mint(to, amount);
        return true;
    }

    /// @notice Burns the calling minter's own tokens.
    function burn(uint256 amount) external whenNotPaused onlyMinters notBlacklisted(msg.sender) {
        uint256 balance = _balanceOf(msg.sender);
        require(amount > 0, "FiatToken: burn amount not greater than 0");
        require(balance >= amount, "FiatToken: burn amount exceeds balance");
        unchecked {
            totalSupply -= amount;
            _balances[msg.sender] = balance - amount;
        }
        emit Burn(msg.sender, amount);
        emit Transfer(msg.sender, address(0), amount);
    }

    /// @notice Adds a minter, or replaces its allowance.
    function configureMinter(address minter, uint256 minterAllowedAmount)
        external
        whenNotPaused
        onlyMasterMinter
        returns (bool)
    {
        isMinter[minter] = true;
        minterAllowance[minter] = minterAllowedAmount;
        emit MinterConfigured(minter, minterAllowedAmount);
        return true;
    }

    /// @notice Removes a minter and its allowance, even during a pause.
    function removeMinter(address minter) external onlyMasterMinter returns (bool) {
        isMinter[minter] = false;
        minterAllowance[minter] = 0;
        emit MinterRemoved(minter);
        return true;
    }

    // ---------------------------------------------------------------------------------------------------------------
    // Roles
    // ---------------------------------------------------------------------------------------------------------------

    /// @notice Pauses transfers, approvals, permits, authorizations, minting and burning.
    function pause() external onlyPauser {
        paused = true;
        emit Pause();
    }

    /// @notice Unpauses the token.
    function unpause() external onlyPauser {
        paused = false;
        emit Unpause();
    }

    /// @notice Whether an account is blocked.
    function isBlacklisted(address account) external view returns (bool) {
        return _isBlacklisted(account);
    }

    /// @notice Blocks an account, which keeps its balance.
    function blacklist(address account) external onlyBlacklister {
        _balances[account] |= BLOCKED;
        emit Blacklisted(account);
    }

    /// @notice Unblocks an account.
    function unBlacklist(address account) external onlyBlacklister {
        _balances[account] &= ~BLOCKED;
        emit UnBlacklisted(account);
    }

    /// @notice Withdraws another token from this contract.
    /// @dev Does not use OpenZeppelin's `safeTransfer`, which reverts with custom errors and not with the original's strings.
    function rescueERC20(IERC20 tokenContract, address to, uint256 amount) external onlyRescuer {
        require(address(tokenContract).code.length > 0, "Address: call to non-contract");
        (bool success, bytes memory answer) =
            address(tokenContract).call(abi.encodeCall(tokenContract.transfer, (to, amount)));
        if (!success && answer.length > 0) {
            assembly ("memory-safe") {
                revert(add(answer, 0x20), mload(answer))
            }
        }
        require(success, "SafeERC20: low-level call failed");
        if (answer.length > 0) {
            // The original's compiler decodes any value except zero as true.
            require(abi.decode(answer, (uint256)) != 0, "SafeERC20: ERC20 operation did not succeed");
        }
    }

    /// @notice Sets another owner.
    function transferOwnership(address newOwner) external onlyOwner {
        require(newOwner != address(0), "Ownable: new owner is the zero address");
        emit OwnershipTransferred(owner, newOwner);
        owner = newOwner;
    }

    /// @notice Sets another master minter.
    function updateMasterMinter(address newMasterMinter) external onlyOwner {
        require(newMasterMinter != address(0), "FiatToken: new masterMinter is the zero address");
        masterMinter = newMasterMinter;
        emit MasterMinterChanged(newMasterMinter);
    }

    /// @notice Sets another pauser.
    function updatePauser(address newPauser) external onlyOwner {
        require(newPauser != address(0), "Pausable: new pauser is the zero address");
        pauser = newPauser;
        emit PauserChanged(newPauser);
    }

    /// @notice Sets another blocklister.
    function updateBlacklister(address newBlacklister) external onlyOwner {
        require(newBlacklister != address(0), "Blacklistable: new blacklister is the zero address");
        blacklister = newBlacklister;
        emit BlacklisterChanged(newBlacklister);
    }

    /// @notice Sets another rescuer.
    function updateRescuer(address newRescuer) external onlyOwner {
        require(newRescuer != address(0), "Rescuable: new rescuer is the zero address");
        rescuer = newRescuer;
        emit RescuerChanged(newRescuer);
    }

    // ---------------------------------------------------------------------------------------------------------------
    // Internal
    // ---------------------------------------------------------------------------------------------------------------

    function _isBlacklisted(address account) private view returns (bool) {
        return _balances[account] & BLOCKED != 0;
    }

    function _balanceOf(address account) private view returns (uint256) {
        return _balances[account] & ~BLOCKED;
    }

    /// @dev The caller has checked the blocklist, so the slot of `to` contains only its balance.
    function _credit(address to, uint256 value) private {
        uint256 balance = _add(_balances[to], value);
        require(balance < BLOCKED, "FiatTokenV2_2: Balance exceeds (2^255 - 1)");
        _balances[to] = balance;
    }

    function _mint(address to, uint256 amount) private {
        totalSupply = _add(totalSupply, amount);
        _credit(to, amount);
        emit Mint(msg.sender, to, amount);
        emit Transfer(address(0), to, amount);
    }

    function _transfer(address from, address to, uint256 value) private {
        require(from != address(0), "ERC20: transfer from the zero address");
        require(to != address(0), "ERC20: transfer to the zero address");
        uint256 balance = _balances[from];
        require(value <= balance, "ERC20: transfer amount exceeds balance");
        unchecked {
            _balances[from] = balance - value;
        }
        _credit(to, value);
        emit Transfer(from, to, value);
    }

    function _approve(address holder, address spender, uint256 value) private {
        require(holder != address(0), "ERC20: approve from the zero address");
        require(spender != address(0), "ERC20: approve to the zero address");
        allowance[holder][spender] = value;
        emit Approval(holder, spender, value);
    }

    function _permit(address holder, address spender, uint256 value, uint256 deadline, bytes memory signature)
        private
    {
        require(deadline == type(uint256).max || deadline >= block.timestamp, "FiatTokenV2: permit is expired");
        bytes32 structHash =
            keccak256(abi.encode(PERMIT_TYPEHASH, holder, spender, value, nonces[holder]++, deadline));
        require(_isValidSignature(holder, structHash, signature), "EIP2612: invalid signature");
        _approve(holder, spender, value);
    }

    function _transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) private {
        _requireValidAuthorization(from, nonce, validAfter, validBefore);
        bytes32 structHash = keccak256(
            abi.encode(TRANSFER_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce)
        );
        require(_isValidSignature(from, structHash, signature), "FiatTokenV2: invalid signature");
        _useAuthorization(from, nonce);
        _transfer(from, to, value);
    }

    function _receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) private {
        require(to == msg.sender, "FiatTokenV2: caller must be the payee");
        _requireValidAuthorization(from, nonce, validAfter, validBefore);
        bytes32 structHash = keccak256(
            abi.encode(RECEIVE_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce)
        );
        require(_isValidSignature(from, structHash, signature), "FiatTokenV2: invalid signature");
        _useAuthorization(from, nonce);
        _transfer(from, to, value);
    }

    function _cancelAuthorization(address authorizer, bytes32 nonce, bytes memory signature) private {
        _requireUnusedAuthorization(authorizer, nonce);
        bytes32 structHash = keccak256(abi.encode(CANCEL_AUTHORIZATION_TYPEHASH, authorizer, nonce));
        require(_isValidSignature(authorizer, structHash, signature), "FiatTokenV2: invalid signature");
        authorizationState[authorizer][nonce] = true;
        emit AuthorizationCanceled(authorizer, nonce);
    }

    function _useAuthorization(address authorizer, bytes32 nonce) private {
        authorizationState[authorizer][nonce] = true;
        emit AuthorizationUsed(authorizer, nonce);
    }

    function _requireValidAuthorization(address authorizer, bytes32 nonce, uint256 validAfter, uint256 validBefore)
        private
        view
    {
        require(block.timestamp > validAfter, "FiatTokenV2: authorization is not yet valid");
        require(block.timestamp < validBefore, "FiatTokenV2: authorization is expired");
        _requireUnusedAuthorization(authorizer, nonce);
    }

    function _requireUnusedAuthorization(address authorizer, bytes32 nonce) private view {
        require(!authorizationState[authorizer][nonce], "FiatTokenV2: authorization is used or canceled");
    }

    /// @dev Asks a signer with code through ERC-1271. The signature of any other signer must have a low s and a v of 27 or 28.
    function _isValidSignature(address signer, bytes32 structHash, bytes memory signature)
        private
        view
        returns (bool)
    {
        bytes32 digest = MessageHashUtils.toTypedDataHash(_domainSeparator(), structHash);
        if (signer.code.length > 0) return SignatureChecker.isValidERC1271SignatureNow(signer, digest, signature);

        (address recovered, ECDSA.RecoverError err,) = ECDSA.tryRecover(digest, signature);
        require(err != ECDSA.RecoverError.InvalidSignatureLength, "ECRecover: invalid signature length");
        require(err != ECDSA.RecoverError.InvalidSignatureS, "ECRecover: invalid signature 's' value");
        uint8 v = uint8(signature[64]);
        require(v == 27 || v == 28, "ECRecover: invalid signature 'v' value");
        require(err == ECDSA.RecoverError.NoError, "ECRecover: invalid signature");
        return recovered == signer;
    }

    function _domainSeparator() private view returns (bytes32) {
        return keccak256(
            abi.encode(
                DOMAIN_TYPEHASH, keccak256(bytes(name)), keccak256(bytes(VERSION)), block.chainid, address(this)
            )
        );
    }

    function _add(uint256 a, uint256 b) private pure returns (uint256 sum) {
        unchecked {
            sum = a + b;
        }
        require(sum >= a, "SafeMath: addition overflow");
    }
}
