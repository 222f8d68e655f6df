// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";

/// @title TestUSDC
/// @notice A dollar token for a local chain that behaves as FiatToken v2.2 does, plus a faucet that is open to all.
/// @dev Behaviour that an integration can observe is that of the original: the order of checks, the revert strings, the events,
/// the unindexed arguments of `OwnershipTransferred`. A test takes random steps on both and compares everything. Three points
/// surprise most often:
/// - an infinite allowance is spent like any other one;
/// - `approve`, `permit` and the allowance changes ask only for the pause, never for the blocklist;
/// - both bounds of an EIP-3009 authorization are strict, while the deadline of a permit is inclusive.
///
/// These differences remain:
/// - no proxy and no initializers: the constructor sets name, symbol and roles, and a call costs about 3,000 gas less;
/// - other storage slots: a tool that writes the original's slots (balances at 9, allowances at 10) changes nothing here;
/// - an address, uint8 or bool with dirty high bits is refused by the decoder, where the original's compiler ignores them.
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

    /// @dev The bit next to a balance that says whether its account is blocked.
    uint256 private constant BLOCKED = 1 << 255;

    /// @inheritdoc IERC20Metadata
    uint8 public constant decimals = 6;

    /// @notice The fiat currency that the token stands for.
    string public constant currency = "USD";

    /// @inheritdoc IERC20Metadata
    string public name;

    /// @inheritdoc IERC20Metadata
    string public symbol;

    /// @notice May replace the holders of the other roles.
    address public owner;

    /// @notice May add and remove minters.
    address public masterMinter;

    /// @notice May block and unblock accounts.
    address public blacklister;

    /// @notice May withdraw other tokens that were sent to this contract.
    address public rescuer;

    /// @notice May pause and unpause.
    address public pauser;

    /// @notice Whether transfers, approvals, permits, authorizations, mint and burn are stopped.
    bool public paused;

    /// @inheritdoc IERC20
    uint256 public totalSupply;

    /// @inheritdoc IERC20
    mapping(address holder => mapping(address spender => uint256 value)) public allowance;

    /// @notice Whether an account may mint and burn.
    mapping(address account => bool) public isMinter;

    /// @notice How much a minter may still mint.
    mapping(address minter => uint256) public minterAllowance;

    /// @notice The next permit nonce of an account.
    mapping(address holder => uint256) public nonces;

    /// @notice Whether an authorization's nonce was used or canceled.
    mapping(address authorizer => mapping(bytes32 nonce => bool)) public authorizationState;

    /// @dev A balance in the low 255 bits, `BLOCKED` in the highest.
    mapping(address account => uint256) private _balances;

    /// @notice `amount` was minted to `to`, by a minter or through the faucet.
    event Mint(address indexed minter, address indexed to, uint256 amount);

    /// @notice A minter burned `amount` of its own.
    event Burn(address indexed burner, uint256 amount);

    /// @notice A minter was added, or its allowance replaced.
    event MinterConfigured(address indexed minter, uint256 minterAllowedAmount);

    /// @notice A minter was removed.
    event MinterRemoved(address indexed oldMinter);

    /// @notice The owner named another master minter.
    event MasterMinterChanged(address indexed newMasterMinter);

    /// @notice The owner named the next owner; neither is indexed, as in the real token.
    event OwnershipTransferred(address previousOwner, address newOwner);

    /// @notice The token is paused.
    event Pause();

    /// @notice The pause is over.
    event Unpause();

    /// @notice The owner named another pauser.
    event PauserChanged(address indexed newAddress);

    /// @notice An account is blocked.
    event Blacklisted(address indexed _account);

    /// @notice An account is no longer blocked.
    event UnBlacklisted(address indexed _account);

    /// @notice The owner named another blocklister.
    event BlacklisterChanged(address indexed newBlacklister);

    /// @notice The owner named another rescuer.
    event RescuerChanged(address indexed newRescuer);

    /// @notice An authorization moved its value.
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);

    /// @notice An authorization was made unusable.
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

    /// @param name_ Also the name in the EIP-712 domain: "USDC" on the real token's test networks.
    /// @param symbol_ "USDC".
    /// @param owner_ May replace the other three.
    /// @param masterMinter_ Adds and removes minters.
    /// @param pauser_ Pauses and unpauses.
    /// @param blacklister_ Blocks and unblocks accounts.
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
        // Tokens sent to the token itself would be lost.
        _balances[address(this)] = BLOCKED;
    }

    // ---------------------------------------------------------------------------------------------------------------
    // Faucet: not in the original
    // ---------------------------------------------------------------------------------------------------------------

    /// @notice Mints any amount to anyone, for anyone.
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
    /// @dev The blocklist is asked for the spender too.
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

    /// @notice The EIP-712 domain separator, of the chain that this call runs on.
    function DOMAIN_SEPARATOR() external view returns (bytes32) {
        return _domainSeparator();
    }

    /// @notice Sets an allowance by the holder's signature.
    /// @param deadline The last second at which the signature counts; the largest uint256 means for ever.
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

    /// @notice Sets an allowance by the holder's signature; a holder with code is asked through ERC-1271.
    function permit(address holder, address spender, uint256 value, uint256 deadline, bytes memory signature)
        external
        whenNotPaused
    {
        _permit(holder, spender, value, deadline, signature);
    }

    // ---------------------------------------------------------------------------------------------------------------
    // EIP-3009
    // ---------------------------------------------------------------------------------------------------------------

    /// @notice Transfers by the payer's signature; anyone may call.
    /// @param validAfter The signature counts only after this second.
    /// @param validBefore The signature counts only before this second.
    /// @param nonce Any 32 bytes that the payer did not use yet.
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

    /// @notice Transfers by the payer's signature; a payer with code is asked through ERC-1271.
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

    /// @notice Transfers by the payer's signature; only the payee may call, so the call cannot be front-run.
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

    /// @notice Transfers by the payer's signature; only the payee may call; ERC-1271 as above.
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

    /// @notice Makes an unused nonce unusable, by the authorizer's signature.
    function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)
        external
        whenNotPaused
    {
        _cancelAuthorization(authorizer, nonce, abi.encodePacked(r, s, v));
    }

    /// @notice Makes an unused nonce unusable, by the authorizer's signature; ERC-1271 as above.
    function cancelAuthorization(address authorizer, bytes32 nonce, bytes memory signature) external whenNotPaused {
        _cancelAuthorization(authorizer, nonce, signature);
    }

    // ---------------------------------------------------------------------------------------------------------------
    // Minters
    // ---------------------------------------------------------------------------------------------------------------

    /// @notice Mints out of the calling minter's allowance.
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

    /// @notice Removes a minter and its allowance; works during a pause too.
    function removeMinter(address minter) external onlyMasterMinter returns (bool) {
        isMinter[minter] = false;
        minterAllowance[minter] = 0;
        emit MinterRemoved(minter);
        return true;
    }

    // ---------------------------------------------------------------------------------------------------------------
    // Roles
    // ---------------------------------------------------------------------------------------------------------------

    /// @notice Stops what `paused` names.
    function pause() external onlyPauser {
        paused = true;
        emit Pause();
    }

    /// @notice Ends a pause.
    function unpause() external onlyPauser {
        paused = false;
        emit Unpause();
    }

    /// @notice Whether an account is blocked.
    function isBlacklisted(address account) external view returns (bool) {
        return _isBlacklisted(account);
    }

    /// @notice Blocks an account; its balance stays.
    function blacklist(address account) external onlyBlacklister {
        _balances[account] |= BLOCKED;
        emit Blacklisted(account);
    }

    /// @notice Unblocks an account.
    function unBlacklist(address account) external onlyBlacklister {
        _balances[account] &= ~BLOCKED;
        emit UnBlacklisted(account);
    }

    /// @notice Withdraws another token that was sent to this contract.
    /// @dev Not by OpenZeppelin's `safeTransfer`, which reverts with custom errors where the original has these strings.
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
            // The original's compiler takes any value but zero as true.
            require(abi.decode(answer, (uint256)) != 0, "SafeERC20: ERC20 operation did not succeed");
        }
    }

    /// @notice Names another owner.
    function transferOwnership(address newOwner) external onlyOwner {
        require(newOwner != address(0), "Ownable: new owner is the zero address");
        emit OwnershipTransferred(owner, newOwner);
        owner = newOwner;
    }

    /// @notice Names another master minter.
    function updateMasterMinter(address newMasterMinter) external onlyOwner {
        require(newMasterMinter != address(0), "FiatToken: new masterMinter is the zero address");
        masterMinter = newMasterMinter;
        emit MasterMinterChanged(newMasterMinter);
    }

    /// @notice Names another pauser.
    function updatePauser(address newPauser) external onlyOwner {
        require(newPauser != address(0), "Pausable: new pauser is the zero address");
        pauser = newPauser;
        emit PauserChanged(newPauser);
    }

    /// @notice Names another blocklister.
    function updateBlacklister(address newBlacklister) external onlyOwner {
        require(newBlacklister != address(0), "Blacklistable: new blacklister is the zero address");
        blacklister = newBlacklister;
        emit BlacklisterChanged(newBlacklister);
    }

    /// @notice Names another rescuer.
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

    /// @dev Callers have asked the blocklist, so the entry of `to` is its balance alone.
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

    /// @dev A signer with code is asked through ERC-1271; any other must have signed with low s and v of 27 or 28.
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
