// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Permit.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

import {CanonicalCalldata} from "./CanonicalCalldata.sol";
import {ExactTransfer} from "./ExactTransfer.sol";
import {FundingSource} from "./FundingSource.sol";
import {IPurchaseRegistrar} from "./interfaces/IPurchaseRegistrar.sol";

/// @title PurchaseRegistrar
/// @notice Records purchases as immutable signed commitments. A payment moves tokens from the buyer to the merchant in one
/// call; a refund moves them from the merchant's wallet to the beneficiary, under the funding that the merchant authorized.
/// @dev No function is payable, the contract never holds tokens, and no role can change a purchase. Every function that
/// changes state, except `expire` and `openProgram`, has one allowed caller. The only external calls go to a token, to the
/// funding source and, with `staticcall`, to a signer that is a contract. Every function that changes state has a reentrancy
/// guard and writes its storage before it calls a token.
contract PurchaseRegistrar is IPurchaseRegistrar, CanonicalCalldata, EIP712 {
    using ExactTransfer for IERC20;

    /// @dev A program. Fields that are read together share a slot.
    struct ProgramRecord {
        address admin;
        address operator;
        /// Last second at which the operator may offer and withdraw.
        uint64 validUntil;
        address commitmentSigner;
        uint128 maxPurchase;
        uint128 openBudget;
        /// The unpaid sum of all open offers.
        uint128 openOffers;
        bool paused;
        /// The wallet that may become the admin; 0 if there is none.
        address pendingAdmin;
    }

    /// @dev A merchant's funding. Enrollments are numbered from 1.
    struct FundingRecord {
        address wallet;
        /// Last second at which a refund can be collected.
        uint64 validUntil;
        address token;
        /// When the funding was revoked; 0 if it was not.
        uint64 revokedAt;
        uint128 cap;
        uint128 collected;
        bytes32 program;
        bytes32 merchantRef;
        /// EIP-712 digest of the authorization.
        bytes32 authorization;
    }

    /// @dev A purchase. Its merchant, token and program are those of its funding. Every call reads the first slot, and a
    /// payment writes only this one.
    struct PurchaseRecord {
        uint128 paid;
        /// Checked arithmetic refuses the step after 2^32 - 1, which would take four billion payments of one purchase.
        uint32 sequence;
        Status status;
        Route route;
        /// The number of the funding.
        uint64 funding;
        uint128 amount;
        uint128 refunded;
        address buyer;
        uint64 payDeadline;
        address beneficiary;
        uint64 claimDeadline;
        /// The claim hash until the refund, then the decision hash: a second slot would cost 22,100 gas. `_claimHash` and
        /// `_decisionHash` read it.
        bytes32 claimOrDecision;
    }

    bytes32 private constant PURCHASE_TYPEHASH = keccak256(
        "Purchase(bytes32 program,bytes32 purchaseRef,address merchant,address buyer,address beneficiary,address token,uint256 amount,bytes32 termsHash,uint64 offerDeadline,uint64 payDeadline,uint64 claimDeadline,bytes32 salt)"
    );

    bytes32 private constant FUNDING_TYPEHASH = keccak256(
        "FundingAuthorization(bytes32 program,bytes32 merchantRef,address wallet,address token,uint256 cap,uint64 validUntil,bytes32 salt)"
    );

    bytes32 private constant CLAIM_TYPEHASH =
        keccak256("Claim(bytes32 commitment,address beneficiary,uint256 requestedAmount,bytes32 reasonHash)");

    /// @dev Every amount fits into half a slot.
    uint256 private constant MAX_AMOUNT = type(uint128).max;

    FundingSource private immutable _fundingSource;

    mapping(bytes32 program => ProgramRecord) private _programs;

    uint64 private _fundingCount;
    mapping(uint64 number => FundingRecord) private _fundings;

    /// @dev The funding of a merchantRef in a program, revoked or not.
    mapping(bytes32 program => mapping(bytes32 merchantRef => uint64 number)) private _fundingOf;

    /// @dev The unrevoked funding of a wallet in a program.
    mapping(bytes32 program => mapping(address wallet => uint64 number)) private _active;

    mapping(bytes32 id => PurchaseRecord) private _purchases;

    /// @dev 1 while a guarded function is running. A whole word, because to write a part of one costs a read of it, 100 gas.
    /// OpenZeppelin's guard declares the error itself, but here the interface declares all errors.
    uint256 private transient _entered;

    modifier nonReentrant() {
        if (_entered != 0) revert ReentrancyGuardReentrantCall();
        _entered = 1;
        _;
        _entered = 0;
    }

    /// @notice Deploys the funding source, from which only this contract may draw.
    constructor() EIP712("PurchaseRegistrar", "1") {
        _fundingSource = new FundingSource();
    }

    // ---------------------------------------------------------------------------------------------------------------
    // The program's admin
    // ---------------------------------------------------------------------------------------------------------------

    /// @inheritdoc IPurchaseRegistrar
    function openProgram(bytes32 program, address operator, address commitmentSigner, Bounds calldata bounds)
        external
        nonReentrant
        canonical(6)
    {
        if (program == 0) revert ZeroValue();
        ProgramRecord storage record = _programs[program];
        if (record.admin != address(0)) revert ProgramAlreadyOpen(program, record.admin);
        record.admin = msg.sender;
        _setBounds(record, operator, commitmentSigner, bounds);
        emit ProgramOpened(program, msg.sender, operator, commitmentSigner, bounds);
    }

    /// @inheritdoc IPurchaseRegistrar
    function setBounds(bytes32 program, address operator, address commitmentSigner, Bounds calldata bounds)
        external
        nonReentrant
        canonical(6)
    {
        ProgramRecord storage record = _requireAdmin(program);
        _setBounds(record, operator, commitmentSigner, bounds);
        emit BoundsSet(program, operator, commitmentSigner, bounds);
    }

    /// @inheritdoc IPurchaseRegistrar
    function setPaused(bytes32 program, bool paused) external nonReentrant canonical(2) {
        ProgramRecord storage record = _requireAdmin(program);
        record.paused = paused;
        emit PausedSet(program, paused);
    }

    /// @inheritdoc IPurchaseRegistrar
    function transferAdmin(bytes32 program, address newAdmin) external nonReentrant canonical(2) {
        ProgramRecord storage record = _requireAdmin(program);
        record.pendingAdmin = newAdmin;
        emit AdminTransferStarted(program, msg.sender, newAdmin);
    }

    /// @inheritdoc IPurchaseRegistrar
    function acceptAdmin(bytes32 program) external nonReentrant canonical(1) {
        ProgramRecord storage record = _programs[program];
        _requireOpen(program, record);
        _requireCaller(record.pendingAdmin);
        emit AdminTransferred(program, record.admin, msg.sender);
        record.admin = msg.sender;
        delete record.pendingAdmin;
    }

    // ---------------------------------------------------------------------------------------------------------------
    // The merchant
    // ---------------------------------------------------------------------------------------------------------------

    /// @inheritdoc IPurchaseRegistrar
    function enroll(FundingAuthorization calldata authorization, bytes calldata signature) external nonReentrant {
        if (!_isCanonical(7, signature)) {
            _revertNonCanonical(abi.encodeCall(this.enroll, (authorization, signature)));
        }
        bytes32 program = authorization.program;
        bytes32 merchantRef = authorization.merchantRef;
        ProgramRecord storage record = _programs[program];
        _requireCaller(authorization.wallet);
        _requireNotPaused(program, record);
        _requireWithin(authorization.validUntil);
        if (authorization.cap == 0 || authorization.cap > MAX_AMOUNT) {
            revert AmountOutOfRange("cap", authorization.cap, 1, MAX_AMOUNT);
        }
        if (merchantRef == 0) revert ZeroValue();
        uint64 taken = _fundingOf[program][merchantRef];
        if (taken != 0) revert MerchantRefTaken(merchantRef, _fundings[taken].authorization);
        uint64 active = _active[program][msg.sender];
        if (active != 0) revert AlreadyEnrolled(program, msg.sender, _fundings[active].merchantRef);
        bytes32 digest = hashFunding(authorization);
        _requireSigned(program, record, digest, signature);

        uint64 number = ++_fundingCount;
        _fundings[number] = FundingRecord({
            wallet: msg.sender,
            validUntil: authorization.validUntil,
            token: authorization.token,
            revokedAt: 0,
            // At most MAX_AMOUNT.
            cap: uint128(authorization.cap),
            collected: 0,
            program: program,
            merchantRef: merchantRef,
            authorization: digest
        });
        _fundingOf[program][merchantRef] = number;
        _active[program][msg.sender] = number;
        _emitEnrolled(authorization, digest);
    }

    /// @inheritdoc IPurchaseRegistrar
    function revokeFunding(bytes32 program, bytes32 merchantRef) external nonReentrant canonical(2) {
        uint64 number = _fundingOf[program][merchantRef];
        if (number == 0) revert UnknownFunding(program, merchantRef);
        FundingRecord storage source = _fundings[number];
        _requireCaller(source.wallet);
        if (source.revokedAt != 0) revert AlreadyRevoked(merchantRef, source.revokedAt);
        // A uint64 has seconds for 500 billion years.
        uint64 revokedAt = uint64(block.timestamp);
        source.revokedAt = revokedAt;
        delete _active[program][msg.sender];
        emit FundingRevoked(program, merchantRef, msg.sender, revokedAt);
    }

    /// @inheritdoc IPurchaseRegistrar
    function register(Purchase calldata purchase_, bytes calldata signature)
        external
        nonReentrant
        returns (bytes32 id)
    {
        if (!_isCanonical(12, signature)) {
            _revertNonCanonical(abi.encodeCall(this.register, (purchase_, signature)));
        }
        _requireCaller(purchase_.merchant);
        id = _commit(_programs[purchase_.program], purchase_, signature, Route.Direct);
        emit PurchaseRegistered(id, purchase_.program, purchase_.buyer, 1, purchase_);
    }

    // ---------------------------------------------------------------------------------------------------------------
    // The program's operator
    // ---------------------------------------------------------------------------------------------------------------

    /// @inheritdoc IPurchaseRegistrar
    function offer(Purchase calldata purchase_, bytes calldata signature) external nonReentrant returns (bytes32 id) {
        if (!_isCanonical(12, signature)) {
            _revertNonCanonical(abi.encodeCall(this.offer, (purchase_, signature)));
        }
        ProgramRecord storage record = _programs[purchase_.program];
        _requireOperator(purchase_.program, record);
        uint256 amount = purchase_.amount;
        _requireAmount(amount, record.maxPurchase);
        uint256 openOffers = record.openOffers;
        uint256 openBudget = record.openBudget;
        if (openOffers + amount > openBudget) {
            // The admin may have lowered the budget below the sum of the open offers.
            revert BudgetExceeded(amount, Math.saturatingSub(openBudget, openOffers));
        }
        id = _commit(record, purchase_, signature, Route.Offer);
        // At most the budget, a uint128.
        record.openOffers = uint128(openOffers + amount);
        emit PurchaseOffered(id, purchase_.program, purchase_.buyer, 1, purchase_);
    }

    /// @inheritdoc IPurchaseRegistrar
    function withdrawOffer(bytes32 id) external nonReentrant canonical(1) {
        PurchaseRecord storage record = _openPurchase(id);
        if (record.route != Route.Offer) revert WrongRoute(id, record.route, Route.Offer);
        bytes32 program = _fundings[record.funding].program;
        _requireOperator(program, _programs[program]);
        (uint32 sequence, uint256 released) = _close(id, record, program, Status.Withdrawn);
        emit OfferWithdrawn(id, program, sequence, released);
    }

    /// @inheritdoc IPurchaseRegistrar
    function collectRefund(bytes32 id, uint256 award, bytes32 decisionHash) external nonReentrant canonical(3) {
        PurchaseRecord storage record = _knownPurchase(id);
        FundingRecord storage source = _fundings[record.funding];
        // A pause, the end of the bounds and a revocation do not block a refund.
        _requireCaller(_programs[source.program].operator);
        _requireNotRefunded(id, record);
        bytes32 claimHash = record.claimOrDecision;
        if (claimHash == 0) revert NotClaimed(id);
        if (decisionHash == 0) revert ZeroValue();
        uint256 paid = record.paid;
        if (award == 0 || award > paid) revert AmountOutOfRange("award", award, 1, paid);
        _requireWithin(source.validUntil);
        _requireRemaining(source, award);

        record.claimOrDecision = decisionHash;
        // At most `paid`, a uint128.
        record.refunded = uint128(award);
        uint256 collectedTotal = source.collected + award;
        // At most the cap, a uint128.
        source.collected = uint128(collectedTotal);
        address beneficiary = record.beneficiary;
        emit RefundCollected(id, beneficiary, decisionHash, ++record.sequence, claimHash, award, collectedTotal);
        _fundingSource.draw(source.token, source.wallet, beneficiary, award);
    }

    // ---------------------------------------------------------------------------------------------------------------
    // The buyer, the beneficiary, anyone
    // ---------------------------------------------------------------------------------------------------------------

    /// @inheritdoc IPurchaseRegistrar
    function pay(bytes32 id, uint256 amount) external nonReentrant canonical(2) {
        _pay(id, amount);
    }

    /// @inheritdoc IPurchaseRegistrar
    function payBatch(bytes32[] calldata ids, uint256[] calldata amounts) external nonReentrant {
        if (!_isCanonical(ids, amounts)) _revertNonCanonical(abi.encodeCall(this.payBatch, (ids, amounts)));
        if (ids.length == 0 || ids.length != amounts.length) revert BatchLengths(ids.length, amounts.length);
        for (uint256 i = 0; i < ids.length; ++i) {
            _pay(ids[i], amounts[i]);
        }
    }

    /// @inheritdoc IPurchaseRegistrar
    function payWithPermit(bytes32 id, uint256 amount, uint256 deadline, uint8 v, bytes32 r, bytes32 s)
        external
        nonReentrant
        canonical(6)
    {
        (IERC20 token, address merchant) = _recordPayment(id, amount);
        try IERC20Permit(address(token)).permit(msg.sender, address(this), amount, deadline, v, r, s) {}
        catch (bytes memory reason) {
            // Another account can submit the permit first, which sets the same allowance.
            if (token.allowance(msg.sender, address(this)) < amount) revert PermitRefused(address(token), reason);
        }
        token.exactTransferFrom(msg.sender, merchant, amount);
    }

    /// @inheritdoc IPurchaseRegistrar
    function claim(bytes32 id, bytes32 claimHash) external nonReentrant canonical(2) {
        PurchaseRecord storage record = _knownPurchase(id);
        _requireCaller(record.beneficiary);
        _requireWithin(record.claimDeadline);
        if (record.paid == 0) revert NothingPaid(id);
        if (record.claimOrDecision != 0) {
            _requireNotRefunded(id, record);
            revert AlreadyClaimed(id, _claimHash(record));
        }
        if (claimHash == 0) revert ZeroValue();
        record.claimOrDecision = claimHash;
        emit PurchaseClaimed(id, msg.sender, ++record.sequence, claimHash);
    }

    /// @inheritdoc IPurchaseRegistrar
    function expire(bytes32 id) external nonReentrant canonical(1) {
        PurchaseRecord storage record = _openPurchase(id);
        if (block.timestamp <= record.payDeadline) revert DeadlineNotPassed(block.timestamp, record.payDeadline);
        bytes32 program = _fundings[record.funding].program;
        (uint32 sequence, uint256 released) = _close(id, record, program, Status.Expired);
        emit PurchaseExpired(id, program, sequence, released);
    }

    // ---------------------------------------------------------------------------------------------------------------
    // Views
    // ---------------------------------------------------------------------------------------------------------------

    /// @inheritdoc IPurchaseRegistrar
    function pendingAdmin(bytes32 program) external view returns (address) {
        return _programs[program].pendingAdmin;
    }

    /// @inheritdoc IPurchaseRegistrar
    function programState(bytes32 program) external view returns (ProgramState memory) {
        ProgramRecord storage record = _programs[program];
        return ProgramState({
            admin: record.admin,
            operator: record.operator,
            commitmentSigner: record.commitmentSigner,
            paused: record.paused,
            bounds: Bounds({
                maxPurchase: record.maxPurchase,
                openBudget: record.openBudget,
                validUntil: record.validUntil
            }),
            openOffers: record.openOffers
        });
    }

    /// @inheritdoc IPurchaseRegistrar
    function purchase(bytes32 id) external view returns (PurchaseState memory state) {
        PurchaseRecord storage record = _purchases[id];
        FundingRecord storage source = _fundings[record.funding];
        state.status = record.status;
        state.route = record.route;
        state.sequence = record.sequence;
        state.program = source.program;
        state.merchantRef = source.merchantRef;
        state.merchant = source.wallet;
        state.buyer = record.buyer;
        state.beneficiary = record.beneficiary;
        state.token = source.token;
        state.amount = record.amount;
        state.paid = record.paid;
        state.refunded = record.refunded;
        state.payDeadline = record.payDeadline;
        state.claimDeadline = record.claimDeadline;
        state.claimHash = _claimHash(record);
        state.decisionHash = _decisionHash(record);
    }

    /// @inheritdoc IPurchaseRegistrar
    function figures(bytes32 id) external view returns (Figures memory result) {
        PurchaseRecord storage record = _purchases[id];
        if (record.status == Status.None) return result;
        result.status = record.status;
        result.sequence = record.sequence;
        result.amount = record.amount;
        result.approved = IERC20(_fundings[record.funding].token).allowance(record.buyer, address(this));
        result.paid = record.paid;
        result.outstanding = record.amount - record.paid;
        result.refunded = record.refunded;
        result.claimHash = _claimHash(record);
        result.decisionHash = _decisionHash(record);
    }

    /// @inheritdoc IPurchaseRegistrar
    function funding(bytes32 program, bytes32 merchantRef) external view returns (FundingState memory state) {
        uint64 number = _fundingOf[program][merchantRef];
        if (number == 0) return state;
        FundingRecord storage source = _fundings[number];
        state.wallet = source.wallet;
        state.token = source.token;
        state.cap = source.cap;
        state.collected = source.collected;
        state.validUntil = source.validUntil;
        state.revokedAt = source.revokedAt;
        state.authorization = source.authorization;
        state.allowance = IERC20(state.token).allowance(state.wallet, address(_fundingSource));
        state.balance = IERC20(state.token).balanceOf(state.wallet);
    }

    /// @inheritdoc IPurchaseRegistrar
    function enrolledAs(bytes32 program, address wallet) external view returns (bytes32 merchantRef) {
        return _fundings[_active[program][wallet]].merchantRef;
    }

    /// @inheritdoc IPurchaseRegistrar
    function fundingSource() external view returns (address) {
        return address(_fundingSource);
    }

    /// @inheritdoc IPurchaseRegistrar
    function hashPurchase(Purchase calldata purchase_) public view returns (bytes32) {
        return _hashTypedDataV4(keccak256(abi.encode(PURCHASE_TYPEHASH, purchase_)));
    }

    /// @inheritdoc IPurchaseRegistrar
    function hashClaim(Claim calldata claimData) external view returns (bytes32) {
        return _hashTypedDataV4(keccak256(abi.encode(CLAIM_TYPEHASH, claimData)));
    }

    /// @inheritdoc IPurchaseRegistrar
    function hashFunding(FundingAuthorization calldata authorization) public view returns (bytes32) {
        return _hashTypedDataV4(keccak256(abi.encode(FUNDING_TYPEHASH, authorization)));
    }

    // ---------------------------------------------------------------------------------------------------------------
    // Internal: state changes
    // ---------------------------------------------------------------------------------------------------------------

    function _setBounds(
        ProgramRecord storage record,
        address operator,
        address commitmentSigner,
        Bounds calldata bounds
    ) private {
        uint256 maxPurchase = bounds.maxPurchase;
        uint256 openBudget = bounds.openBudget;
        if (maxPurchase > MAX_AMOUNT) revert AmountOutOfRange("maxPurchase", maxPurchase, 0, MAX_AMOUNT);
        if (openBudget > MAX_AMOUNT) revert AmountOutOfRange("openBudget", openBudget, 0, MAX_AMOUNT);
        record.operator = operator;
        record.validUntil = bounds.validUntil;
        record.commitmentSigner = commitmentSigner;
        // Both are at most MAX_AMOUNT.
        record.maxPurchase = uint128(maxPurchase);
        record.openBudget = uint128(openBudget);
    }

    function _emitEnrolled(FundingAuthorization calldata authorization, bytes32 digest) private {
        emit FundingEnrolled(
            authorization.program,
            authorization.merchantRef,
            authorization.wallet,
            authorization.token,
            authorization.cap,
            authorization.validUntil,
            digest
        );
    }

    /// @dev Runs the checks shared by both routes, then stores the purchase.
    function _commit(
        ProgramRecord storage record,
        Purchase calldata purchase_,
        bytes calldata signature,
        Route route
    ) private returns (bytes32 id) {
        bytes32 program = purchase_.program;
        address merchant = purchase_.merchant;
        _requireNotPaused(program, record);
        _requireAmount(purchase_.amount, MAX_AMOUNT);
        if (purchase_.offerDeadline > purchase_.payDeadline || purchase_.payDeadline > purchase_.claimDeadline) {
            revert DeadlinesOutOfOrder(purchase_.offerDeadline, purchase_.payDeadline, purchase_.claimDeadline);
        }
        _requireWithin(purchase_.offerDeadline);
        if (merchant == purchase_.buyer || merchant == purchase_.beneficiary) revert SameParty(merchant);

        uint64 number = _active[program][merchant];
        if (number == 0) {
            _requireOpen(program, record);
            revert NotEnrolled(program, merchant);
        }
        FundingRecord storage source = _fundings[number];
        if (purchase_.token != source.token) revert TokenMismatch(purchase_.token, source.token);
        if (source.validUntil < purchase_.claimDeadline) {
            revert FundingTooShort(source.validUntil, purchase_.claimDeadline);
        }
        _requireRemaining(source, purchase_.amount);

        id = hashPurchase(purchase_);
        if (_purchases[id].status != Status.None) revert PurchaseExists(id);
        _requireSigned(program, record, id, signature);

        _purchases[id] = PurchaseRecord({
            paid: 0,
            sequence: 1,
            status: Status.Open,
            route: route,
            funding: number,
            // At most MAX_AMOUNT.
            amount: uint128(purchase_.amount),
            refunded: 0,
            buyer: purchase_.buyer,
            payDeadline: purchase_.payDeadline,
            beneficiary: purchase_.beneficiary,
            claimDeadline: purchase_.claimDeadline,
            claimOrDecision: 0
        });
    }

    function _pay(bytes32 id, uint256 amount) private {
        (IERC20 token, address merchant) = _recordPayment(id, amount);
        token.exactTransferFrom(msg.sender, merchant, amount);
    }

    /// @dev Checks and records a payment. The caller must then make the transfer.
    function _recordPayment(bytes32 id, uint256 amount) private returns (IERC20 token, address merchant) {
        PurchaseRecord storage record = _openPurchase(id);
        _requireCaller(record.buyer);
        _requireNotRefunded(id, record);
        FundingRecord storage source = _fundings[record.funding];
        ProgramRecord storage program = _programs[source.program];
        _requireNotPaused(source.program, program);
        _requireWithin(record.payDeadline);
        uint256 paid = record.paid;
        _requireAmount(amount, record.amount - paid);

        uint256 paidTotal = paid + amount;
        // At most the amount of the purchase, a uint128, as is this payment.
        record.paid = uint128(paidTotal);
        uint32 sequence = ++record.sequence;
        if (record.route == Route.Offer) program.openOffers -= uint128(amount);
        merchant = source.wallet;
        token = IERC20(source.token);
        emit PurchasePaid(id, msg.sender, merchant, sequence, amount, paidTotal);
    }

    /// @dev Closes a purchase with an outstanding amount. Only an offer counts towards the open offers.
    function _close(bytes32 id, PurchaseRecord storage record, bytes32 program, Status status)
        private
        returns (uint32 sequence, uint256 released)
    {
        uint128 outstanding = record.amount - record.paid;
        if (outstanding == 0) revert NothingOutstanding(id);
        record.status = status;
        sequence = ++record.sequence;
        if (record.route == Route.Offer) {
            _programs[program].openOffers -= outstanding;
            released = outstanding;
        }
    }

    // ---------------------------------------------------------------------------------------------------------------
    // Internal: checks
    // ---------------------------------------------------------------------------------------------------------------

    function _requireOpen(bytes32 program, ProgramRecord storage record) private view {
        if (record.admin == address(0)) revert ProgramNotOpen(program);
    }

    function _requireAdmin(bytes32 program) private view returns (ProgramRecord storage record) {
        record = _programs[program];
        _requireOpen(program, record);
        _requireCaller(record.admin);
    }

    /// @dev A program that is not open has no operator. The admin is read only to choose the error.
    function _requireOperator(bytes32 program, ProgramRecord storage record) private view {
        if (msg.sender != record.operator) {
            _requireOpen(program, record);
            revert WrongCaller(msg.sender, record.operator);
        }
        _requireWithin(record.validUntil);
    }

    function _knownPurchase(bytes32 id) private view returns (PurchaseRecord storage record) {
        record = _purchases[id];
        if (record.status == Status.None) revert UnknownPurchase(id);
    }

    function _openPurchase(bytes32 id) private view returns (PurchaseRecord storage record) {
        record = _knownPurchase(id);
        if (record.status != Status.Open) revert WrongStatus(id, record.status, Status.Open);
    }

    function _requireCaller(address expected) private view {
        if (msg.sender != expected) revert WrongCaller(msg.sender, expected);
    }

    function _requireNotPaused(bytes32 program, ProgramRecord storage record) private view {
        if (record.paused) revert ProgramPaused(program);
    }

    function _requireWithin(uint256 deadline) private view {
        if (block.timestamp > deadline) revert DeadlinePassed(block.timestamp, deadline);
    }

    function _requireAmount(uint256 amount, uint256 max) private pure {
        if (amount == 0 || amount > max) revert AmountOutOfRange("amount", amount, 1, max);
    }

    function _requireRemaining(FundingRecord storage source, uint256 amount) private view {
        uint256 remaining = source.cap - source.collected;
        if (amount > remaining) revert FundingInsufficient(amount, remaining);
    }

    function _requireNotRefunded(bytes32 id, PurchaseRecord storage record) private view {
        if (record.refunded != 0) revert AlreadyRefunded(id, _decisionHash(record));
    }

    /// @dev A program that is not open has no signer, so no signature is valid for it.
    function _requireSigned(
        bytes32 program,
        ProgramRecord storage record,
        bytes32 digest,
        bytes calldata signature
    ) private view {
        address signer = record.commitmentSigner;
        if (!SignatureChecker.isValidSignatureNowCalldata(signer, digest, signature)) {
            _requireOpen(program, record);
            revert InvalidSignature(signer, digest);
        }
    }

    function _claimHash(PurchaseRecord storage record) private view returns (bytes32) {
        return record.refunded == 0 ? record.claimOrDecision : bytes32(0);
    }

    function _decisionHash(PurchaseRecord storage record) private view returns (bytes32) {
        return record.refunded == 0 ? bytes32(0) : record.claimOrDecision;
    }
}
