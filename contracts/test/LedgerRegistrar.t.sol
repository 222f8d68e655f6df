// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Initializable} from "@openzeppelin/contracts/proxy/utils/Initializable.sol";
import {UUPSUpgradeable} from "@openzeppelin/contracts/proxy/utils/UUPSUpgradeable.sol";
import {IERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Permit.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";

import {FundingSource} from "../FundingSource.sol";
import {IPurchaseRegistrar} from "../interfaces/IPurchaseRegistrar.sol";

/// @title LedgerRegistrar
/// @notice A second implementation of the interface, written differently: whole structs in one namespaced storage, a ledger of
/// amounts, a domain separator of its own, a lock in storage, and errors of its own; for a UUPS or a transparent proxy.
contract LedgerRegistrar is IPurchaseRegistrar, Initializable, UUPSUpgradeable {
    using SafeERC20 for IERC20;

    /// @notice The account may not do this.
    error Forbidden(address account);

    /// @notice The lock is taken.
    error Locked();

    /// @notice The calldata is not what the ABI encodes.
    error LooseCalldata(uint256 length);

    struct Program {
        ProgramState state;
        bool exists;
        address successor;
    }

    struct Merchant {
        FundingAuthorization terms;
        bytes32 digest;
        uint64 revokedAt;
        uint256 refunds;
    }

    struct Entry {
        Purchase terms;
        bytes32 merchantKey;
        Status status;
        Route route;
        uint32 events;
        bytes32 claimHash;
        bytes32 decisionHash;
        uint256 payments;
        uint256 refund;
    }

    /// @custom:storage-location erc7201:example.LedgerRegistrar
    struct Book {
        bool locked;
        address owner;
        address source;
        mapping(bytes32 id => Entry) entries;
        mapping(bytes32 key => Merchant) merchants;
        mapping(bytes32 program => mapping(address wallet => bytes32 merchantRef)) current;
        mapping(bytes32 program => Program) programs;
    }

    bytes32 private constant BOOK = keccak256(abi.encode(uint256(keccak256("example.LedgerRegistrar")) - 1))
        & ~bytes32(uint256(0xff));
    bytes32 private constant DOMAIN =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant PURCHASE = keccak256(
        "Purchase(bytes32 program,bytes32 purchaseRef,address merchant,address buyer,address beneficiary,address token,uint256 amount,bytes32 termsHash,uint64 offerDeadline,uint64 payDeadline,uint64 claimDeadline,bytes32 salt)"
    );
    bytes32 private constant FUNDING = keccak256(
        "FundingAuthorization(bytes32 program,bytes32 merchantRef,address wallet,address token,uint256 cap,uint64 validUntil,bytes32 salt)"
    );
    bytes32 private constant CLAIM =
        keccak256("Claim(bytes32 commitment,address beneficiary,uint256 requestedAmount,bytes32 reasonHash)");

    modifier locks() {
        Book storage book = _book();
        if (book.locked) revert Locked();
        book.locked = true;
        _;
        book.locked = false;
    }

    modifier words(uint256 count) {
        if (msg.data.length != 4 + 32 * count) revert LooseCalldata(msg.data.length);
        _;
    }

    /// @notice Disables the implementation itself.
    constructor() {
        _disableInitializers();
    }

    /// @notice Deploys the funding source of the proxy that calls this.
    /// @param owner The account that may upgrade.
    function initialize(address owner) external initializer {
        Book storage book = _book();
        book.owner = owner;
        book.source = address(new FundingSource());
    }

    // ---------------------------------------------------------------------------------------------------------------
    // Programs
    // ---------------------------------------------------------------------------------------------------------------

    function openProgram(bytes32 program, address operator, address commitmentSigner, Bounds calldata bounds)
        external
        locks
        words(6)
    {
        if (program == 0) revert ZeroValue();
        Program storage opened = _book().programs[program];
        if (opened.exists) revert ProgramAlreadyOpen(program, opened.state.admin);
        opened.exists = true;
        opened.state.admin = msg.sender;
        _bind(opened.state, operator, commitmentSigner, bounds);
        emit ProgramOpened(program, msg.sender, operator, commitmentSigner, bounds);
    }

    function setBounds(bytes32 program, address operator, address commitmentSigner, Bounds calldata bounds)
        external
        locks
        words(6)
    {
        _bind(_administered(program), operator, commitmentSigner, bounds);
        emit BoundsSet(program, operator, commitmentSigner, bounds);
    }

    function setPaused(bytes32 program, bool paused) external locks words(2) {
        _administered(program).paused = paused;
        emit PausedSet(program, paused);
    }

    function transferAdmin(bytes32 program, address newAdmin) external locks words(2) {
        _administered(program);
        _book().programs[program].successor = newAdmin;
        emit AdminTransferStarted(program, msg.sender, newAdmin);
    }

    function acceptAdmin(bytes32 program) external locks words(1) {
        ProgramState storage state = _existing(program);
        _only(_book().programs[program].successor);
        emit AdminTransferred(program, state.admin, msg.sender);
        state.admin = msg.sender;
        _book().programs[program].successor = address(0);
    }

    // ---------------------------------------------------------------------------------------------------------------
    // Merchants
    // ---------------------------------------------------------------------------------------------------------------

    function enroll(FundingAuthorization calldata terms, bytes calldata signature) external locks {
        _exactly(abi.encodeCall(this.enroll, (terms, signature)));
        _only(terms.wallet);
        ProgramState storage program = _running(terms.program);
        _notAfter(terms.validUntil);
        _between("cap", terms.cap, 1, type(uint128).max);
        if (terms.merchantRef == 0) revert ZeroValue();
        Merchant storage merchant = _merchant(terms.program, terms.merchantRef);
        if (merchant.digest != 0) revert MerchantRefTaken(terms.merchantRef, merchant.digest);
        bytes32 current = _book().current[terms.program][msg.sender];
        if (current != 0) revert AlreadyEnrolled(terms.program, msg.sender, current);
        bytes32 digest = hashFunding(terms);
        _signed(program.commitmentSigner, digest, signature);
        merchant.terms = terms;
        merchant.digest = digest;
        _book().current[terms.program][msg.sender] = terms.merchantRef;
        emit FundingEnrolled(
            terms.program, terms.merchantRef, msg.sender, terms.token, terms.cap, terms.validUntil, digest
        );
    }

    function revokeFunding(bytes32 program, bytes32 merchantRef) external locks words(2) {
        Merchant storage merchant = _merchant(program, merchantRef);
        if (merchant.digest == 0) revert UnknownFunding(program, merchantRef);
        _only(merchant.terms.wallet);
        if (merchant.revokedAt != 0) revert AlreadyRevoked(merchantRef, merchant.revokedAt);
        merchant.revokedAt = uint64(block.timestamp);
        _book().current[program][msg.sender] = 0;
        emit FundingRevoked(program, merchantRef, msg.sender, merchant.revokedAt);
    }

    // ---------------------------------------------------------------------------------------------------------------
    // Purchases
    // ---------------------------------------------------------------------------------------------------------------

    function register(Purchase calldata terms, bytes calldata signature) external locks returns (bytes32 id) {
        _exactly(abi.encodeCall(this.register, (terms, signature)));
        _only(terms.merchant);
        id = _enter(terms, signature, Route.Direct);
        emit PurchaseRegistered(id, terms.program, terms.buyer, 1, terms);
    }

    function offer(Purchase calldata terms, bytes calldata signature) external locks returns (bytes32 id) {
        _exactly(abi.encodeCall(this.offer, (terms, signature)));
        ProgramState storage program = _operated(terms.program);
        _between("amount", terms.amount, 1, program.bounds.maxPurchase);
        uint256 budget = program.bounds.openBudget;
        uint256 used = program.openOffers;
        if (used + terms.amount > budget) revert BudgetExceeded(terms.amount, used < budget ? budget - used : 0);
        id = _enter(terms, signature, Route.Offer);
        program.openOffers = used + terms.amount;
        emit PurchaseOffered(id, terms.program, terms.buyer, 1, terms);
    }

    function withdrawOffer(bytes32 id) external locks words(1) {
        Entry storage entry = _open(id);
        if (entry.route != Route.Offer) revert WrongRoute(id, entry.route, Route.Offer);
        _operated(entry.terms.program);
        uint256 released = _end(id, entry, Status.Withdrawn);
        emit OfferWithdrawn(id, entry.terms.program, entry.events, released);
    }

    function expire(bytes32 id) external locks words(1) {
        Entry storage entry = _open(id);
        uint64 deadline = entry.terms.payDeadline;
        if (block.timestamp <= deadline) revert DeadlineNotPassed(block.timestamp, deadline);
        uint256 released = _end(id, entry, Status.Expired);
        emit PurchaseExpired(id, entry.terms.program, entry.events, released);
    }

    function pay(bytes32 id, uint256 amount) external locks words(2) {
        _move(_receive(id, amount), msg.sender, amount);
    }

    function payBatch(bytes32[] calldata ids, uint256[] calldata amounts) external locks {
        _exactly(abi.encodeCall(this.payBatch, (ids, amounts)));
        if (ids.length == 0 || ids.length != amounts.length) revert BatchLengths(ids.length, amounts.length);
        for (uint256 index = 0; index < ids.length; ++index) {
            _move(_receive(ids[index], amounts[index]), msg.sender, amounts[index]);
        }
    }

    function payWithPermit(bytes32 id, uint256 amount, uint256 deadline, uint8 v, bytes32 r, bytes32 s)
        external
        locks
        words(6)
    {
        Purchase storage terms = _receive(id, amount);
        try IERC20Permit(terms.token).permit(msg.sender, address(this), amount, deadline, v, r, s) {}
        catch (bytes memory reason) {
            if (IERC20(terms.token).allowance(msg.sender, address(this)) < amount) {
                revert PermitRefused(terms.token, reason);
            }
        }
        _move(terms, msg.sender, amount);
    }

    function claim(bytes32 id, bytes32 claimHash) external locks words(2) {
        Entry storage entry = _known(id);
        _only(entry.terms.beneficiary);
        _notAfter(entry.terms.claimDeadline);
        if (entry.payments == 0) revert NothingPaid(id);
        _notRefunded(id, entry);
        if (entry.claimHash != 0) revert AlreadyClaimed(id, entry.claimHash);
        if (claimHash == 0) revert ZeroValue();
        entry.claimHash = claimHash;
        entry.events += 1;
        emit PurchaseClaimed(id, msg.sender, entry.events, claimHash);
    }

    function collectRefund(bytes32 id, uint256 award, bytes32 decisionHash) external locks words(3) {
        Entry storage entry = _known(id);
        Merchant storage merchant = _book().merchants[entry.merchantKey];
        if (msg.sender != _book().programs[entry.terms.program].state.operator) revert Forbidden(msg.sender);
        _notRefunded(id, entry);
        if (entry.claimHash == 0) revert NotClaimed(id);
        if (decisionHash == 0) revert ZeroValue();
        _between("award", award, 1, entry.payments);
        _notAfter(merchant.terms.validUntil);
        _covered(merchant, award);
        entry.refund = award;
        entry.decisionHash = decisionHash;
        entry.events += 1;
        merchant.refunds += award;
        address to = entry.terms.beneficiary;
        emit RefundCollected(id, to, decisionHash, entry.events, entry.claimHash, award, merchant.refunds);
        FundingSource(_book().source).draw(entry.terms.token, merchant.terms.wallet, to, award);
    }

    // ---------------------------------------------------------------------------------------------------------------
    // Views
    // ---------------------------------------------------------------------------------------------------------------

    function programState(bytes32 program) external view returns (ProgramState memory) {
        return _book().programs[program].state;
    }

    function pendingAdmin(bytes32 program) external view returns (address) {
        return _book().programs[program].successor;
    }

    function purchase(bytes32 id) external view returns (PurchaseState memory state) {
        Entry storage entry = _book().entries[id];
        Purchase storage terms = entry.terms;
        state.status = entry.status;
        state.route = entry.route;
        state.sequence = entry.events;
        state.program = terms.program;
        state.merchantRef = _book().merchants[entry.merchantKey].terms.merchantRef;
        state.merchant = terms.merchant;
        state.buyer = terms.buyer;
        state.beneficiary = terms.beneficiary;
        state.token = terms.token;
        state.amount = terms.amount;
        state.paid = entry.payments;
        state.refunded = entry.refund;
        state.payDeadline = terms.payDeadline;
        state.claimDeadline = terms.claimDeadline;
        state.claimHash = entry.refund == 0 ? entry.claimHash : bytes32(0);
        state.decisionHash = entry.decisionHash;
    }

    function figures(bytes32 id) external view returns (Figures memory result) {
        Entry storage entry = _book().entries[id];
        if (entry.status == Status.None) return result;
        Purchase storage terms = entry.terms;
        result.status = entry.status;
        result.sequence = entry.events;
        result.amount = terms.amount;
        result.approved = IERC20(terms.token).allowance(terms.buyer, address(this));
        result.paid = entry.payments;
        result.outstanding = terms.amount - entry.payments;
        result.refunded = entry.refund;
        result.claimHash = entry.refund == 0 ? entry.claimHash : bytes32(0);
        result.decisionHash = entry.decisionHash;
    }

    function funding(bytes32 program, bytes32 merchantRef) external view returns (FundingState memory state) {
        Merchant storage merchant = _merchant(program, merchantRef);
        if (merchant.digest == 0) return state;
        FundingAuthorization storage terms = merchant.terms;
        state.wallet = terms.wallet;
        state.token = terms.token;
        state.cap = terms.cap;
        state.collected = merchant.refunds;
        state.validUntil = terms.validUntil;
        state.revokedAt = merchant.revokedAt;
        state.authorization = merchant.digest;
        state.allowance = IERC20(terms.token).allowance(terms.wallet, _book().source);
        state.balance = IERC20(terms.token).balanceOf(terms.wallet);
    }

    function enrolledAs(bytes32 program, address wallet) external view returns (bytes32) {
        return _book().current[program][wallet];
    }

    function fundingSource() external view returns (address) {
        return _book().source;
    }

    function hashPurchase(Purchase calldata terms) public view returns (bytes32) {
        return _digest(keccak256(abi.encode(PURCHASE, terms)));
    }

    function hashClaim(Claim calldata terms) external view returns (bytes32) {
        return _digest(keccak256(abi.encode(CLAIM, terms)));
    }

    function hashFunding(FundingAuthorization calldata terms) public view returns (bytes32) {
        return _digest(keccak256(abi.encode(FUNDING, terms)));
    }

    // ---------------------------------------------------------------------------------------------------------------
    // Internal
    // ---------------------------------------------------------------------------------------------------------------

    function _authorizeUpgrade(address) internal view override {
        if (msg.sender != _book().owner) revert Forbidden(msg.sender);
    }

    function _enter(Purchase calldata terms, bytes calldata signature, Route route) private returns (bytes32 id) {
        ProgramState storage program = _running(terms.program);
        _between("amount", terms.amount, 1, type(uint128).max);
        if (terms.offerDeadline > terms.payDeadline || terms.payDeadline > terms.claimDeadline) {
            revert DeadlinesOutOfOrder(terms.offerDeadline, terms.payDeadline, terms.claimDeadline);
        }
        _notAfter(terms.offerDeadline);
        if (terms.merchant == terms.buyer || terms.merchant == terms.beneficiary) revert SameParty(terms.merchant);
        bytes32 merchantRef = _book().current[terms.program][terms.merchant];
        if (merchantRef == 0) {
            _existing(terms.program);
            revert NotEnrolled(terms.program, terms.merchant);
        }
        bytes32 key = keccak256(abi.encode(terms.program, merchantRef));
        _coveredBy(_book().merchants[key], terms);
        id = hashPurchase(terms);
        Entry storage entry = _book().entries[id];
        if (entry.status != Status.None) revert PurchaseExists(id);
        _signed(program.commitmentSigner, id, signature);
        entry.terms = terms;
        entry.merchantKey = key;
        entry.status = Status.Open;
        entry.route = route;
        entry.events = 1;
    }

    function _coveredBy(Merchant storage merchant, Purchase calldata terms) private view {
        if (terms.token != merchant.terms.token) revert TokenMismatch(terms.token, merchant.terms.token);
        if (merchant.terms.validUntil < terms.claimDeadline) {
            revert FundingTooShort(merchant.terms.validUntil, terms.claimDeadline);
        }
        _covered(merchant, terms.amount);
    }

    /// @dev Records a payment; the caller of this moves the tokens.
    function _receive(bytes32 id, uint256 amount) private returns (Purchase storage terms) {
        Entry storage entry = _open(id);
        terms = entry.terms;
        _only(terms.buyer);
        _notRefunded(id, entry);
        ProgramState storage program = _running(terms.program);
        _notAfter(terms.payDeadline);
        _between("amount", amount, 1, terms.amount - entry.payments);
        entry.payments += amount;
        entry.events += 1;
        if (entry.route == Route.Offer) program.openOffers -= amount;
        emit PurchasePaid(id, msg.sender, terms.merchant, entry.events, amount, entry.payments);
    }

    function _move(Purchase storage terms, address from, uint256 amount) private {
        IERC20 token = IERC20(terms.token);
        address to = terms.merchant;
        (uint256 paid, uint256 received) = (token.balanceOf(from), token.balanceOf(to));
        token.safeTransferFrom(from, to, amount);
        if (token.balanceOf(from) + amount != paid) {
            revert InexactTransfer(terms.token, from, token.balanceOf(from), paid - amount);
        }
        if (token.balanceOf(to) != received + amount) {
            revert InexactTransfer(terms.token, to, token.balanceOf(to), received + amount);
        }
    }

    function _end(bytes32 id, Entry storage entry, Status status) private returns (uint256 released) {
        uint256 outstanding = entry.terms.amount - entry.payments;
        if (outstanding == 0) revert NothingOutstanding(id);
        entry.status = status;
        entry.events += 1;
        if (entry.route != Route.Offer) return 0;
        _book().programs[entry.terms.program].state.openOffers -= outstanding;
        return outstanding;
    }

    function _bind(ProgramState storage state, address operator, address commitmentSigner, Bounds calldata bounds)
        private
    {
        _between("maxPurchase", bounds.maxPurchase, 0, type(uint128).max);
        _between("openBudget", bounds.openBudget, 0, type(uint128).max);
        state.operator = operator;
        state.commitmentSigner = commitmentSigner;
        state.bounds = bounds;
    }

    function _existing(bytes32 program) private view returns (ProgramState storage) {
        if (!_book().programs[program].exists) revert ProgramNotOpen(program);
        return _book().programs[program].state;
    }

    function _administered(bytes32 program) private view returns (ProgramState storage state) {
        state = _existing(program);
        _only(state.admin);
    }

    function _operated(bytes32 program) private view returns (ProgramState storage state) {
        state = _existing(program);
        _only(state.operator);
        _notAfter(state.bounds.validUntil);
    }

    function _running(bytes32 program) private view returns (ProgramState storage state) {
        state = _book().programs[program].state;
        if (state.paused) revert ProgramPaused(program);
    }

    function _merchant(bytes32 program, bytes32 merchantRef) private view returns (Merchant storage) {
        return _book().merchants[keccak256(abi.encode(program, merchantRef))];
    }

    function _known(bytes32 id) private view returns (Entry storage entry) {
        entry = _book().entries[id];
        if (entry.status == Status.None) revert UnknownPurchase(id);
    }

    function _open(bytes32 id) private view returns (Entry storage entry) {
        entry = _known(id);
        if (entry.status != Status.Open) revert WrongStatus(id, entry.status, Status.Open);
    }

    function _only(address expected) private view {
        if (msg.sender != expected) revert WrongCaller(msg.sender, expected);
    }

    function _notAfter(uint256 deadline) private view {
        if (block.timestamp > deadline) revert DeadlinePassed(block.timestamp, deadline);
    }

    function _between(string memory value, uint256 actual, uint256 min, uint256 max) private pure {
        if (actual < min || actual > max) revert AmountOutOfRange(value, actual, min, max);
    }

    function _covered(Merchant storage merchant, uint256 amount) private view {
        uint256 left = merchant.terms.cap - merchant.refunds;
        if (amount > left) revert FundingInsufficient(amount, left);
    }

    function _notRefunded(bytes32 id, Entry storage entry) private view {
        if (entry.refund != 0) revert AlreadyRefunded(id, entry.decisionHash);
    }

    function _signed(address signer, bytes32 digest, bytes calldata signature) private view {
        if (!SignatureChecker.isValidSignatureNowCalldata(signer, digest, signature)) {
            revert InvalidSignature(signer, digest);
        }
    }

    function _exactly(bytes memory encoded) private pure {
        if (keccak256(msg.data) != keccak256(encoded)) revert LooseCalldata(msg.data.length);
    }

    function _digest(bytes32 structHash) private view returns (bytes32) {
        bytes32 separator = keccak256(
            abi.encode(DOMAIN, keccak256("PurchaseRegistrar"), keccak256("1"), block.chainid, address(this))
        );
        return keccak256(abi.encodePacked(hex"1901", separator, structHash));
    }

    function _book() private pure returns (Book storage book) {
        bytes32 slot = BOOK;
        assembly ("memory-safe") {
            book.slot := slot
        }
    }
}
