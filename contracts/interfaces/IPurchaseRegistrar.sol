// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title IPurchaseRegistrar
/// @notice Purchases as immutable signed commitments, paid from the buyer to the merchant in the same call and refunded
/// under the funding that the merchant authorized.
/// @dev A purchase's id is the EIP-712 digest of its `Purchase` struct, so it is bound to this chain and this contract.
interface IPurchaseRegistrar {
    /// @notice How a purchase came on chain.
    enum Route {
        None,
        Registrar,
        Direct
    }

    /// @notice Whether a purchase still takes payments. Paid, claimed and refunded are read from the figures.
    enum Status {
        None,
        Open,
        Withdrawn,
        Expired
    }

    /// @notice The immutable commitment that the program's commitment signer signs (EIP-712).
    struct Purchase {
        /// keccak256 of the program's API id.
        bytes32 program;
        /// keccak256 of the purchase's API id.
        bytes32 purchaseRef;
        /// The enrolled wallet that is paid and that refunds are collected from.
        address merchant;
        /// The only wallet that may pay.
        address buyer;
        /// The only wallet that may claim and that receives a refund.
        address beneficiary;
        /// The ERC-20 token of every transfer.
        address token;
        /// The price in base units of the token; never above type(uint128).max.
        uint256 amount;
        /// SHA-256 of the RFC 8785 form of the terms.
        bytes32 termsHash;
        /// Last second, in Unix time, at which the purchase may come on chain.
        uint64 offerDeadline;
        /// Last second at which it may be paid.
        uint64 payDeadline;
        /// Last second at which it may be claimed.
        uint64 claimDeadline;
        /// Makes two purchases with equal terms distinct.
        bytes32 salt;
    }

    /// @notice What the program's signer lets a merchant's wallet stand for: refunds up to a cap, until a time (EIP-712).
    struct FundingAuthorization {
        /// keccak256 of the program's API id.
        bytes32 program;
        /// keccak256 of the merchant's API id.
        bytes32 merchantRef;
        /// The merchant's wallet, which must enroll itself.
        address wallet;
        /// The ERC-20 token that refunds are collected in.
        address token;
        /// The most that may ever be collected, in base units of the token.
        uint256 cap;
        /// Last second, in Unix time, at which a refund may be collected.
        uint64 validUntil;
        /// Makes two authorizations with equal terms distinct.
        bytes32 salt;
    }

    /// @notice What a beneficiary signs off chain (EIP-712); its digest is the `claimHash` that `claim` carries.
    struct Claim {
        /// The purchase's id.
        bytes32 commitment;
        address beneficiary;
        /// In base units of the token.
        uint256 requestedAmount;
        /// keccak256 of the UTF-8 reason.
        bytes32 reasonHash;
    }

    /// @notice What the registrar of a program may do at most.
    struct Bounds {
        /// The largest amount of one offered purchase.
        uint256 maxPurchase;
        /// The most that may be outstanding over all open offers.
        uint256 openBudget;
        /// Last second, in Unix time, at which the registrar may act.
        uint64 validUntil;
    }

    /// @notice A program as it is stored.
    struct ProgramState {
        address admin;
        address registrar;
        address commitmentSigner;
        bool paused;
        Bounds bounds;
        /// What is outstanding over all open offers now.
        uint256 openOffers;
    }

    /// @notice A purchase as it is stored; the fields that only the id commits to are in `PurchaseOffered` and
    /// `PurchaseRegistered`.
    struct PurchaseState {
        Status status;
        Route route;
        /// How many events this purchase has had.
        uint32 sequence;
        bytes32 program;
        bytes32 merchantRef;
        address merchant;
        address buyer;
        address beneficiary;
        address token;
        uint256 amount;
        uint256 paid;
        uint256 refunded;
        uint64 payDeadline;
        uint64 claimDeadline;
        bytes32 claimHash;
        bytes32 decisionHash;
    }

    /// @notice The figures of a purchase at one block, in base units of its token.
    struct Figures {
        Status status;
        uint32 sequence;
        uint256 amount;
        /// The buyer's allowance to this contract.
        uint256 approved;
        uint256 paid;
        uint256 outstanding;
        uint256 refunded;
        bytes32 claimHash;
        bytes32 decisionHash;
    }

    /// @notice A funding at one block, amounts in base units of its token.
    struct FundingState {
        address wallet;
        address token;
        uint256 cap;
        uint256 collected;
        uint64 validUntil;
        /// 0 while it is not revoked.
        uint64 revokedAt;
        /// EIP-712 digest of the authorization that it was enrolled with.
        bytes32 authorization;
        /// The wallet's allowance to the funding source.
        uint256 allowance;
        /// The wallet's balance.
        uint256 balance;
    }

    /// @notice A program exists and has its first bounds.
    event ProgramOpened(
        bytes32 indexed program,
        address indexed admin,
        address indexed registrar,
        address commitmentSigner,
        Bounds bounds
    );

    /// @notice The admin replaced registrar, commitment signer and bounds.
    event BoundsSet(bytes32 indexed program, address indexed registrar, address commitmentSigner, Bounds bounds);

    /// @notice The admin paused or unpaused the program.
    event PausedSet(bytes32 indexed program, bool paused);

    /// @notice A wallet accepted its funding authorization, whose EIP-712 digest is `authorization`.
    event FundingEnrolled(
        bytes32 indexed program,
        bytes32 indexed merchantRef,
        address indexed wallet,
        address token,
        uint256 cap,
        uint64 validUntil,
        bytes32 authorization
    );

    /// @notice A wallet ended its funding; `revokedAt` is the block's time.
    event FundingRevoked(bytes32 indexed program, bytes32 indexed merchantRef, address indexed wallet, uint64 revokedAt);

    /// @notice A purchase came on chain by the registrar: `purchase.amount` is added to the program's open offers.
    /// @dev `sequence` counts the events of a purchase from 1, here and below, so that a gap is visible.
    event PurchaseOffered(
        bytes32 indexed id,
        bytes32 indexed program,
        address indexed registrar,
        uint32 sequence,
        bytes32 merchantRef,
        Purchase purchase
    );

    /// @notice A purchase came on chain by its merchant; no budget takes part.
    event PurchaseRegistered(
        bytes32 indexed id,
        bytes32 indexed program,
        address indexed merchant,
        uint32 sequence,
        bytes32 merchantRef,
        Purchase purchase
    );

    /// @notice An offer takes no more payments; `released` is taken off the program's open offers.
    event OfferWithdrawn(bytes32 indexed id, bytes32 indexed program, uint32 sequence, uint256 released);

    /// @notice A purchase takes no more payments; `released` is taken off the program's open offers, 0 if it was direct.
    event PurchaseExpired(bytes32 indexed id, bytes32 indexed program, uint32 sequence, uint256 released);

    /// @notice Exactly `amount` moved from buyer to merchant; `paidTotal` is the sum so far.
    event PurchasePaid(
        bytes32 indexed id,
        address indexed buyer,
        address indexed merchant,
        uint32 sequence,
        address token,
        uint256 amount,
        uint256 paidTotal
    );

    /// @notice The beneficiary filed the claim whose EIP-712 digest is `claimHash`.
    event PurchaseClaimed(bytes32 indexed id, address indexed beneficiary, uint32 sequence, bytes32 claimHash);

    /// @notice Exactly `award` moved from merchant to beneficiary; `collectedTotal` is what the funding gave so far.
    event RefundCollected(
        bytes32 indexed id,
        address indexed beneficiary,
        bytes32 indexed decisionHash,
        uint32 sequence,
        bytes32 merchantRef,
        uint256 award,
        uint256 collectedTotal
    );

    /// @notice Only one wallet may take this step, and it is not the caller.
    error WrongCaller(address actual, address expected);

    /// @notice The program is not open.
    error ProgramNotOpen(bytes32 program);

    /// @notice The program is open already.
    error ProgramAlreadyOpen(bytes32 program, address admin);

    /// @notice The program is paused by its admin.
    error ProgramPaused(bytes32 program);

    /// @notice A figure, in base units of its token, is below the least or above the most that is allowed.
    error AmountOutOfRange(uint256 actual, uint256 least, uint256 most);

    /// @notice The offer would take the program's open offers above their budget.
    error BudgetExceeded(uint256 requested, uint256 available);

    /// @notice The step's last second is over.
    error DeadlinePassed(uint256 timestamp, uint256 deadline);

    /// @notice The purchase may still be paid, so it cannot expire yet.
    error DeadlineNotPassed(uint256 timestamp, uint256 deadline);

    /// @notice The deadlines of a purchase are not in the order offer <= pay <= claim.
    error DeadlinesOutOfOrder(uint64 offerDeadline, uint64 payDeadline, uint64 claimDeadline);

    /// @notice The merchant is its own buyer or beneficiary, so that nothing would move.
    error SameParty(address account);

    /// @notice A reference or hash is zero, which stands for none.
    error ZeroValue();

    /// @notice The signer did not sign this digest.
    error InvalidSignature(address signer, bytes32 digest);

    /// @notice The wallet is enrolled in this program already.
    error AlreadyEnrolled(bytes32 program, address wallet, bytes32 merchantRef);

    /// @notice The reference was enrolled before: in this program, or by this wallet in another one.
    error MerchantRefTaken(bytes32 merchantRef, bytes32 authorization);

    /// @notice The wallet has no unrevoked funding in this program.
    error NotEnrolled(bytes32 program, address wallet);

    /// @notice The wallet never enrolled under this reference.
    error UnknownFunding(address wallet, bytes32 merchantRef);

    /// @notice The funding was revoked before.
    error AlreadyRevoked(bytes32 merchantRef, uint64 revokedAt);

    /// @notice The purchase is in another token than the merchant's funding.
    error TokenMismatch(address actual, address expected);

    /// @notice The funding ends before the purchase's claim deadline.
    error FundingTooShort(uint64 validUntil, uint64 claimDeadline);

    /// @notice Less than this amount remains under the funding's cap.
    error FundingInsufficient(uint256 amount, uint256 remaining);

    /// @notice This exact purchase is on chain already.
    error PurchaseExists(bytes32 id);

    /// @notice No purchase with this id is on chain.
    error UnknownPurchase(bytes32 id);

    /// @notice The purchase is not in the status that the step starts from.
    error WrongStatus(bytes32 id, Status actual, Status expected);

    /// @notice The purchase did not come on chain by the route that the step belongs to.
    error WrongRoute(bytes32 id, Route actual, Route expected);

    /// @notice The purchase is fully paid, so nothing is left to close.
    error NothingOutstanding(bytes32 id);

    /// @notice Nothing was paid, so nothing can be claimed.
    error NothingPaid(bytes32 id);

    /// @notice The purchase has its one claim already.
    error AlreadyClaimed(bytes32 id, bytes32 claimHash);

    /// @notice The purchase has no claim, so nothing can be refunded.
    error NotClaimed(bytes32 id);

    /// @notice The purchase has its one refund already.
    error AlreadyRefunded(bytes32 id, bytes32 decisionHash);

    /// @notice The decision was carried out before, for this or for another purchase.
    error DecisionAlreadyUsed(bytes32 decisionHash);

    /// @notice A batch names more or fewer amounts than purchases, or none at all.
    error BatchLengths(uint256 ids, uint256 amounts);

    /// @notice Opens a program; the caller becomes its admin.
    function openProgram(bytes32 program, address registrar, address commitmentSigner, Bounds calldata bounds) external;

    /// @notice Replaces registrar, commitment signer and bounds of a program.
    function setBounds(bytes32 program, address registrar, address commitmentSigner, Bounds calldata bounds) external;

    /// @notice Stops or allows enrollments, offers, registrations and payments of a program; claims and refunds go on.
    function setPaused(bytes32 program, bool paused) external;

    /// @notice Accepts the funding authorization that the program's signer gave to the calling wallet.
    function enroll(FundingAuthorization calldata authorization, bytes calldata signature) external;

    /// @notice Ends the caller's funding: no new purchases; purchases already on chain keep their cover until their
    /// claim deadline.
    function revokeFunding(bytes32 merchantRef) external;

    /// @notice Offers this exact purchase, as the program's registrar, within its bounds and the merchant's funding.
    function offer(Purchase calldata purchase, bytes calldata signature) external returns (bytes32 id);

    /// @notice Registers this exact purchase, as its merchant; no registrar and no bounds take part.
    function register(Purchase calldata purchase, bytes calldata signature) external returns (bytes32 id);

    /// @notice Closes an offer for further payments, as the program's registrar, and releases its unpaid part.
    function withdrawOffer(bytes32 id) external;

    /// @notice Closes a purchase that was not fully paid in time and releases its unpaid part.
    function expire(bytes32 id) external;

    /// @notice Pays `amount` base units from the calling buyer to the merchant.
    function pay(bytes32 id, uint256 amount) external;

    /// @notice Pays several purchases of the calling buyer, all or none.
    function payBatch(bytes32[] calldata ids, uint256[] calldata amounts) external;

    /// @notice Files the claim whose EIP-712 digest is `claimHash`, as the beneficiary.
    function claim(bytes32 id, bytes32 claimHash) external;

    /// @notice Collects a refund of `award` base units from the merchant's wallet to the beneficiary.
    function collectRefund(bytes32 id, uint256 award, bytes32 decisionHash) external;

    /// @notice A program; all zeros if it is not open.
    function programState(bytes32 program) external view returns (ProgramState memory);

    /// @notice A purchase; all zeros if it is not on chain.
    function purchase(bytes32 id) external view returns (PurchaseState memory);

    /// @notice The figures of a purchase in one call; all zeros if it is not on chain.
    function figures(bytes32 id) external view returns (Figures memory);

    /// @notice A merchant's funding, revoked ones too; all zeros if it never enrolled under this reference.
    function funding(bytes32 program, bytes32 merchantRef) external view returns (FundingState memory);

    /// @notice The merchantRef that a wallet is enrolled as in a program, or zero.
    function enrolledAs(bytes32 program, address wallet) external view returns (bytes32 merchantRef);

    /// @notice Whether a decision hash was used by a refund.
    function decisionUsed(bytes32 decisionHash) external view returns (bool);

    /// @notice The spender that merchants approve and that only this contract may draw on.
    function fundingSource() external view returns (address);

    /// @notice The EIP-712 digest of a purchase: its id, and what the commitment signer signs.
    function hashPurchase(Purchase calldata purchase) external view returns (bytes32);

    /// @notice The EIP-712 digest of a claim: what the beneficiary signs and what `claim` carries.
    function hashClaim(Claim calldata claimData) external view returns (bytes32);

    /// @notice The EIP-712 digest of a funding authorization: what the commitment signer signs.
    function hashFunding(FundingAuthorization calldata authorization) external view returns (bytes32);
}
