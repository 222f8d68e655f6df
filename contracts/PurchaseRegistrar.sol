// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";

import {CanonicalCalldata} from "./CanonicalCalldata.sol";
import {ExactTransfer} from "./ExactTransfer.sol";
import {FundingSource} from "./FundingSource.sol";
import {IPurchaseRegistrar} from "./interfaces/IPurchaseRegistrar.sol";

/// @title PurchaseRegistrar
/// @notice Purchases as immutable signed commitments, paid from the buyer to the merchant in the same call and refunded under
/// the funding that the merchant authorized.
/// @dev No function is payable, nothing here holds a token, and no role can move another's money or change a purchase: every
/// step belongs to one wallet, which must be the caller itself. Only a token and a signer with code are called, the signer
/// statically; every function that changes anything is guarded against re-entry and finishes its books before the transfer.
contract PurchaseRegistrar is IPurchaseRegistrar, CanonicalCalldata, EIP712, ReentrancyGuardTransient {
    using ExactTransfer for IERC20;

    /// @dev A program, packed by what is read together: registrar and its last second, pause and open offers.
    struct ProgramRecord {
        address admin;
        address registrar;
        /// Last second at which the registrar may act.
        uint64 validUntil;
        address commitmentSigner;
        /// The largest amount of one offered purchase.
        uint128 maxPurchase;
        /// The most that may be outstanding over all open offers.
        uint128 openBudget;
        /// What is outstanding over all open offers.
        uint128 openOffers;
        bool paused;
    }

    /// @dev A funding; its number is its place in the order of enrollments, from 1.
    struct FundingRecord {
        address wallet;
        /// Last second at which a refund may be collected, while it is not revoked.
        uint64 validUntil;
        address token;
        /// 0 while it is not revoked.
        uint64 revokedAt;
        uint128 cap;
        uint128 collected;
        bytes32 program;
        bytes32 merchantRef;
        /// EIP-712 digest of the authorization.
        bytes32 authorization;
    }

    /// @dev A purchase; merchant, token and program are those of its funding. A payment and a claim change the same two
    /// slots, a refund one of them.
    struct PurchaseRecord {
        uint128 amount;
        uint128 paid;
        uint128 refunded;
        uint64 payDeadline;
        uint32 sequence;
        Status status;
        Route route;
        address buyer;
        address beneficiary;
        uint64 claimDeadline;
        /// The funding's number.
        uint32 funding;
        /// The claim hash until the refund, the decision hash from then on: the refund moves the claim hash to
        /// `_claimOf[decisionHash]`, a slot that it needs anyway to make the decision single-use.
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

    /// @dev Every amount fits half a slot.
    uint256 private constant MOST = type(uint128).max;

    FundingSource private immutable _fundingSource;

    mapping(bytes32 program => ProgramRecord) private _programs;

    uint32 private _fundingCount;
    mapping(uint32 number => FundingRecord) private _fundings;

    /// @dev The funding of a merchantRef in a program, revoked ones too.
    mapping(bytes32 program => mapping(bytes32 merchantRef => uint32 number)) private _fundingOf;

    /// @dev The funding that a wallet enrolled under a merchantRef, in whatever program.
    mapping(address wallet => mapping(bytes32 merchantRef => uint32 number)) private _fundingBy;

    /// @dev The unrevoked funding of a wallet in a program.
    mapping(bytes32 program => mapping(address wallet => uint32 number)) private _active;

    mapping(bytes32 id => PurchaseRecord) private _purchases;

    /// @dev The claim that a decision was carried out for; zero while the decision is unused.
    mapping(bytes32 decisionHash => bytes32 claimHash) private _claimOf;

    /// @notice Deploys the funding source that only this contract may draw on.
    constructor() EIP712("PurchaseRegistrar", "1") {
        _fundingSource = new FundingSource();
    }

    // ---------------------------------------------------------------------------------------------------------------
    // The program's admin
    // ---------------------------------------------------------------------------------------------------------------

    /// @inheritdoc IPurchaseRegistrar
    function openProgram(bytes32 program, address registrar, address commitmentSigner, Bounds calldata bounds)
        external
        nonReentrant
        canonical(6)
    {
        if (program == 0) revert ZeroValue();
        ProgramRecord storage record = _programs[program];
        if (record.admin != address(0)) revert ProgramAlreadyOpen(program, record.admin);
        record.admin = msg.sender;
        _setBounds(record, registrar, commitmentSigner, bounds);
        emit ProgramOpened(program, msg.sender, registrar, commitmentSigner, bounds);
    }

    /// @inheritdoc IPurchaseRegistrar
    function setBounds(bytes32 program, address registrar, address commitmentSigner, Bounds calldata bounds)
        external
        nonReentrant
        canonical(6)
    {
        ProgramRecord storage record = _openProgram(program);
        _requireCaller(record.admin);
        _setBounds(record, registrar, commitmentSigner, bounds);
        emit BoundsSet(program, registrar, commitmentSigner, bounds);
    }

    /// @inheritdoc IPurchaseRegistrar
    function setPaused(bytes32 program, bool paused) external nonReentrant canonical(2) {
        ProgramRecord storage record = _openProgram(program);
        _requireCaller(record.admin);
        record.paused = paused;
        emit PausedSet(program, paused);
    }

    // ---------------------------------------------------------------------------------------------------------------
    // The merchant
    // ---------------------------------------------------------------------------------------------------------------

    /// @inheritdoc IPurchaseRegistrar
    function enroll(FundingAuthorization calldata authorization, bytes calldata signature) external nonReentrant {
        _requireCanonical(abi.encodeCall(this.enroll, (authorization, signature)));
        bytes32 program = authorization.program;
        bytes32 merchantRef = authorization.merchantRef;
        ProgramRecord storage record = _openProgram(program);
        _requireCaller(authorization.wallet);
        _requireNotPaused(program, record);
        _requireWithin(authorization.validUntil);
        _requireRange(authorization.cap, 1, MOST);
        if (merchantRef == 0) revert ZeroValue();
        _requireUnusedRef(merchantRef, _fundingOf[program][merchantRef]);
        _requireUnusedRef(merchantRef, _fundingBy[msg.sender][merchantRef]);
        uint32 active = _active[program][msg.sender];
        if (active != 0) revert AlreadyEnrolled(program, msg.sender, _fundings[active].merchantRef);
        bytes32 digest = hashFunding(authorization);
        _requireSigned(record.commitmentSigner, digest, signature);

        uint32 number = ++_fundingCount;
        _fundings[number] = FundingRecord({
            wallet: msg.sender,
            validUntil: authorization.validUntil,
            token: authorization.token,
            revokedAt: 0,
            cap: uint128(authorization.cap),
            collected: 0,
            program: program,
            merchantRef: merchantRef,
            authorization: digest
        });
        _fundingOf[program][merchantRef] = number;
        _fundingBy[msg.sender][merchantRef] = number;
        _active[program][msg.sender] = number;
        _emitEnrolled(authorization, digest);
    }

    /// @inheritdoc IPurchaseRegistrar
    function revokeFunding(bytes32 merchantRef) external nonReentrant canonical(1) {
        uint32 number = _fundingBy[msg.sender][merchantRef];
        if (number == 0) revert UnknownFunding(msg.sender, merchantRef);
        FundingRecord storage source = _fundings[number];
        if (source.revokedAt != 0) revert AlreadyRevoked(merchantRef, source.revokedAt);
        source.revokedAt = uint64(block.timestamp);
        delete _active[source.program][msg.sender];
        emit FundingRevoked(source.program, merchantRef, msg.sender, uint64(block.timestamp));
    }

    /// @inheritdoc IPurchaseRegistrar
    function register(Purchase calldata purchase_, bytes calldata signature)
        external
        nonReentrant
        returns (bytes32 id)
    {
        _requireCanonical(abi.encodeCall(this.register, (purchase_, signature)));
        ProgramRecord storage record = _openProgram(purchase_.program);
        _requireCaller(purchase_.merchant);
        bytes32 merchantRef;
        (id, merchantRef) = _commit(record, purchase_, signature, Route.Direct);
        emit PurchaseRegistered(id, purchase_.program, msg.sender, 1, merchantRef, purchase_);
    }

    // ---------------------------------------------------------------------------------------------------------------
    // The program's registrar
    // ---------------------------------------------------------------------------------------------------------------

    /// @inheritdoc IPurchaseRegistrar
    function offer(Purchase calldata purchase_, bytes calldata signature) external nonReentrant returns (bytes32 id) {
        _requireCanonical(abi.encodeCall(this.offer, (purchase_, signature)));
        ProgramRecord storage record = _openProgram(purchase_.program);
        _requireRegistrar(record);
        uint256 amount = purchase_.amount;
        _requireRange(amount, 1, record.maxPurchase);
        uint256 openOffers = record.openOffers;
        uint256 openBudget = record.openBudget;
        if (openOffers + amount > openBudget) {
            // The admin may have lowered the budget below what is open.
            revert BudgetExceeded(amount, Math.saturatingSub(openBudget, openOffers));
        }
        bytes32 merchantRef;
        (id, merchantRef) = _commit(record, purchase_, signature, Route.Registrar);
        record.openOffers = uint128(openOffers + amount);
        emit PurchaseOffered(id, purchase_.program, msg.sender, 1, merchantRef, purchase_);
    }

    /// @inheritdoc IPurchaseRegistrar
    function withdrawOffer(bytes32 id) external nonReentrant canonical(1) {
        PurchaseRecord storage record = _openPurchase(id);
        if (record.route != Route.Registrar) revert WrongRoute(id, record.route, Route.Registrar);
        bytes32 program = _fundings[record.funding].program;
        _requireRegistrar(_programs[program]);
        (uint32 sequence, uint256 released) = _close(id, record, program, Status.Withdrawn);
        emit OfferWithdrawn(id, program, sequence, released);
    }

    /// @inheritdoc IPurchaseRegistrar
    function collectRefund(bytes32 id, uint256 award, bytes32 decisionHash) external nonReentrant canonical(3) {
        PurchaseRecord storage record = _knownPurchase(id);
        FundingRecord storage source = _fundings[record.funding];
        _requireRegistrar(_programs[source.program]);
        bytes32 claimHash = record.claimOrDecision;
        if (claimHash == 0) revert NotClaimed(id);
        if (record.refunded != 0) revert AlreadyRefunded(id, _decisionHash(record));
        if (decisionHash == 0) revert ZeroValue();
        if (_claimOf[decisionHash] != 0) revert DecisionAlreadyUsed(decisionHash);
        _requireRange(award, 1, record.paid);
        // A revocation leaves each open purchase its cover, but no longer than until its own deadline.
        _requireWithin(source.revokedAt == 0 ? source.validUntil : record.claimDeadline);
        _requireRemaining(source, award);

        _claimOf[decisionHash] = claimHash;
        record.claimOrDecision = decisionHash;
        record.refunded = uint128(award);
        source.collected += uint128(award);
        address beneficiary = record.beneficiary;
        emit RefundCollected(
            id, beneficiary, decisionHash, ++record.sequence, source.merchantRef, award, source.collected
        );
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
        _requireCanonical(abi.encodeCall(this.payBatch, (ids, amounts)));
        if (ids.length == 0 || ids.length != amounts.length) revert BatchLengths(ids.length, amounts.length);
        for (uint256 i = 0; i < ids.length; ++i) {
            _pay(ids[i], amounts[i]);
        }
    }

    /// @inheritdoc IPurchaseRegistrar
    function claim(bytes32 id, bytes32 claimHash) external nonReentrant canonical(2) {
        PurchaseRecord storage record = _knownPurchase(id);
        _requireCaller(record.beneficiary);
        _requireWithin(record.claimDeadline);
        if (record.paid == 0) revert NothingPaid(id);
        if (record.claimOrDecision != 0) revert AlreadyClaimed(id, _claimHash(record));
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
    function programState(bytes32 program) external view returns (ProgramState memory) {
        ProgramRecord storage record = _programs[program];
        return ProgramState({
            admin: record.admin,
            registrar: record.registrar,
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
        uint32 number = _fundingOf[program][merchantRef];
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
    function decisionUsed(bytes32 decisionHash) external view returns (bool) {
        return _claimOf[decisionHash] != 0;
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
    // Internal: steps
    // ---------------------------------------------------------------------------------------------------------------

    function _setBounds(
        ProgramRecord storage record,
        address registrar,
        address commitmentSigner,
        Bounds calldata bounds
    ) private {
        _requireRange(bounds.maxPurchase, 0, MOST);
        _requireRange(bounds.openBudget, 0, MOST);
        record.registrar = registrar;
        record.validUntil = bounds.validUntil;
        record.commitmentSigner = commitmentSigner;
        record.maxPurchase = uint128(bounds.maxPurchase);
        record.openBudget = uint128(bounds.openBudget);
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

    /// @dev What both routes ask of a purchase, and its storage.
    function _commit(
        ProgramRecord storage record,
        Purchase calldata purchase_,
        bytes calldata signature,
        Route route
    ) private returns (bytes32 id, bytes32 merchantRef) {
        bytes32 program = purchase_.program;
        address merchant = purchase_.merchant;
        _requireNotPaused(program, record);
        _requireRange(purchase_.amount, 1, MOST);
        if (purchase_.offerDeadline > purchase_.payDeadline || purchase_.payDeadline > purchase_.claimDeadline) {
            revert DeadlinesOutOfOrder(purchase_.offerDeadline, purchase_.payDeadline, purchase_.claimDeadline);
        }
        _requireWithin(purchase_.offerDeadline);
        if (merchant == purchase_.buyer || merchant == purchase_.beneficiary) revert SameParty(merchant);

        uint32 number = _active[program][merchant];
        if (number == 0) revert NotEnrolled(program, merchant);
        FundingRecord storage source = _fundings[number];
        if (purchase_.token != source.token) revert TokenMismatch(purchase_.token, source.token);
        if (source.validUntil < purchase_.claimDeadline) {
            revert FundingTooShort(source.validUntil, purchase_.claimDeadline);
        }
        _requireRemaining(source, purchase_.amount);

        id = hashPurchase(purchase_);
        if (_purchases[id].status != Status.None) revert PurchaseExists(id);
        _requireSigned(record.commitmentSigner, id, signature);

        _purchases[id] = PurchaseRecord({
            amount: uint128(purchase_.amount),
            paid: 0,
            refunded: 0,
            payDeadline: purchase_.payDeadline,
            sequence: 1,
            status: Status.Open,
            route: route,
            buyer: purchase_.buyer,
            beneficiary: purchase_.beneficiary,
            claimDeadline: purchase_.claimDeadline,
            funding: number,
            claimOrDecision: 0
        });
        merchantRef = source.merchantRef;
    }

    function _pay(bytes32 id, uint256 amount) private {
        PurchaseRecord storage record = _openPurchase(id);
        _requireCaller(record.buyer);
        FundingRecord storage source = _fundings[record.funding];
        ProgramRecord storage program = _programs[source.program];
        _requireNotPaused(source.program, program);
        _requireWithin(record.payDeadline);
        uint256 paid = record.paid;
        _requireRange(amount, 1, record.amount - paid);

        uint256 paidTotal = paid + amount;
        record.paid = uint128(paidTotal);
        uint32 sequence = ++record.sequence;
        if (record.route == Route.Registrar) program.openOffers -= uint128(amount);
        address merchant = source.wallet;
        address token = source.token;
        emit PurchasePaid(id, msg.sender, merchant, sequence, token, amount, paidTotal);
        IERC20(token).exactTransferFrom(msg.sender, merchant, amount);
    }

    /// @dev Ends a purchase that still has something outstanding; only an offer has taken from the budget.
    function _close(bytes32 id, PurchaseRecord storage record, bytes32 program, Status status)
        private
        returns (uint32 sequence, uint256 released)
    {
        uint128 outstanding = record.amount - record.paid;
        if (outstanding == 0) revert NothingOutstanding(id);
        record.status = status;
        sequence = ++record.sequence;
        if (record.route == Route.Registrar) {
            _programs[program].openOffers -= outstanding;
            released = outstanding;
        }
    }

    // ---------------------------------------------------------------------------------------------------------------
    // Internal: checks
    // ---------------------------------------------------------------------------------------------------------------

    function _openProgram(bytes32 program) private view returns (ProgramRecord storage record) {
        record = _programs[program];
        if (record.admin == address(0)) revert ProgramNotOpen(program);
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

    function _requireRegistrar(ProgramRecord storage record) private view {
        _requireCaller(record.registrar);
        _requireWithin(record.validUntil);
    }

    function _requireNotPaused(bytes32 program, ProgramRecord storage record) private view {
        if (record.paused) revert ProgramPaused(program);
    }

    function _requireWithin(uint256 deadline) private view {
        if (block.timestamp > deadline) revert DeadlinePassed(block.timestamp, deadline);
    }

    function _requireRange(uint256 actual, uint256 least, uint256 most) private pure {
        if (actual < least || actual > most) revert AmountOutOfRange(actual, least, most);
    }

    function _requireUnusedRef(bytes32 merchantRef, uint32 number) private view {
        if (number != 0) revert MerchantRefTaken(merchantRef, _fundings[number].authorization);
    }

    function _requireRemaining(FundingRecord storage source, uint256 amount) private view {
        uint256 remaining = source.cap - source.collected;
        if (amount > remaining) revert FundingInsufficient(amount, remaining);
    }

    function _requireSigned(address signer, bytes32 digest, bytes calldata signature) private view {
        if (!SignatureChecker.isValidSignatureNowCalldata(signer, digest, signature)) {
            revert InvalidSignature(signer, digest);
        }
    }

    function _claimHash(PurchaseRecord storage record) private view returns (bytes32) {
        return record.refunded == 0 ? record.claimOrDecision : _claimOf[record.claimOrDecision];
    }

    function _decisionHash(PurchaseRecord storage record) private view returns (bytes32) {
        return record.refunded == 0 ? bytes32(0) : record.claimOrDecision;
    }
}
