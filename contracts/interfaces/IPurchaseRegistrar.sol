// SPDX-License-Identifier: MIT
pragma solidity >=0.8.4;

import {ICommonErrors} from "./ICommonErrors.sol";

/// @title IPurchaseRegistrar
/// @notice Purchases as immutable signed commitments, paid from the buyer to the merchant in one call and refunded under
/// the funding that the merchant authorized.
/// @dev A purchase's id is the EIP-712 digest of its `Purchase` struct, so it is bound to this chain and this contract.
/// Amounts are in base units of their token, times are Unix seconds, and every deadline is the last second that is in time.
interface IPurchaseRegistrar is ICommonErrors {
    // ---------------------------------------------------------------------------------------------------------------
    // Types
    // ---------------------------------------------------------------------------------------------------------------

    /// @notice How a purchase came on chain.
    enum Route {
        None,
        /// By the program's operator, within the bounds.
        Offer,
        /// By the merchant itself; no bounds apply.
        Direct
    }

    /// @notice Whether a purchase takes payments. A claim or a refund does not change it: see `Figures`.
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
        /// The enrolled wallet that receives payments and that refunds are collected from.
        address merchant;
        /// The only wallet that may pay.
        address buyer;
        /// The only wallet that may claim, and the one that receives a refund.
        address beneficiary;
        /// The ERC-20 token of every transfer.
        address token;
        /// The price; at most type(uint128).max.
        uint256 amount;
        /// SHA-256 of the RFC 8785 form of the terms.
        bytes32 termsHash;
        /// The purchase can come on chain until then.
        uint64 offerDeadline;
        /// It can be paid until then.
        uint64 payDeadline;
        /// It can be claimed until then.
        uint64 claimDeadline;
        /// Makes two purchases with equal terms distinct.
        bytes32 salt;
    }

    /// @notice The refunds that a merchant's wallet backs, up to a cap and until a time, signed by the program's commitment
    /// signer (EIP-712).
    struct FundingAuthorization {
        /// keccak256 of the program's API id.
        bytes32 program;
        /// keccak256 of the merchant's API id.
        bytes32 merchantRef;
        /// The merchant's wallet, which must enroll itself.
        address wallet;
        /// The ERC-20 token that refunds are collected in.
        address token;
        /// The most that can ever be collected; at most type(uint128).max.
        uint256 cap;
        /// Refunds can be collected until then, even after a revocation.
        uint64 validUntil;
        /// Makes two authorizations with equal terms distinct.
        bytes32 salt;
    }

    /// @notice What a beneficiary signs off chain (EIP-712); its digest is the `claimHash` of `claim`.
    struct Claim {
        /// The purchase's id.
        bytes32 commitment;
        /// The purchase's beneficiary.
        address beneficiary;
        /// The refund that the beneficiary asks for.
        uint256 requestedAmount;
        /// keccak256 of the UTF-8 reason.
        bytes32 reasonHash;
    }

    /// @notice The limits on a program's offers. They never limit refunds.
    struct Bounds {
        /// The largest amount of one offered purchase; at most type(uint128).max.
        uint256 maxPurchase;
        /// The most that may be outstanding over all open offers; at most type(uint128).max.
        uint256 openBudget;
        /// The operator can offer and withdraw until then.
        uint64 validUntil;
    }

    /// @notice A program as it is stored.
    struct ProgramState {
        /// The wallet that opened the program and sets its bounds.
        address admin;
        /// The wallet that offers purchases and collects refunds.
        address operator;
        /// The signer of purchases and funding authorizations.
        address commitmentSigner;
        /// Whether enrollments, new purchases and payments are stopped.
        bool paused;
        /// The limits on offers.
        Bounds bounds;
        /// What is outstanding over all open offers.
        uint256 openOffers;
    }

    /// @notice A purchase as it is stored. The fields that only the id commits to are in `PurchaseOffered` and
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
        /// Zero before the claim, and zero again once refunded: `RefundCollected` carries it then.
        bytes32 claimHash;
        /// Zero before the refund.
        bytes32 decisionHash;
    }

    /// @notice The figures of a purchase at one block.
    struct Figures {
        Status status;
        /// How many events this purchase has had.
        uint32 sequence;
        uint256 amount;
        /// The buyer's allowance to this contract.
        uint256 approved;
        uint256 paid;
        uint256 outstanding;
        uint256 refunded;
        /// Zero before the claim, and zero again once refunded: `RefundCollected` carries it then.
        bytes32 claimHash;
        /// Zero before the refund.
        bytes32 decisionHash;
    }

    /// @notice A funding at one block.
    struct FundingState {
        address wallet;
        address token;
        uint256 cap;
        uint256 collected;
        uint64 validUntil;
        /// Zero while it is not revoked.
        uint64 revokedAt;
        /// EIP-712 digest of the authorization that it was enrolled with.
        bytes32 authorization;
        /// The wallet's allowance to the funding source.
        uint256 allowance;
        /// The wallet's balance.
        uint256 balance;
    }

    // ---------------------------------------------------------------------------------------------------------------
    // Events
    // ---------------------------------------------------------------------------------------------------------------

    /// @notice A program was opened.
    /// @param program keccak256 of the program's API id.
    /// @param admin The caller.
    /// @param operator The wallet that may offer and collect.
    /// @param commitmentSigner The signer of purchases and funding authorizations.
    /// @param bounds The first limits on offers.
    event ProgramOpened(
        bytes32 indexed program,
        address indexed admin,
        address indexed operator,
        address commitmentSigner,
        Bounds bounds
    );

    /// @notice The admin replaced operator, commitment signer and bounds.
    /// @param program keccak256 of the program's API id.
    /// @param operator The wallet that may offer and collect from now on.
    /// @param commitmentSigner The signer from now on.
    /// @param bounds The limits on offers from now on.
    event BoundsSet(bytes32 indexed program, address indexed operator, address commitmentSigner, Bounds bounds);

    /// @notice The admin paused or unpaused a program.
    /// @param program keccak256 of the program's API id.
    /// @param paused Whether the program is paused now.
    event PausedSet(bytes32 indexed program, bool paused);

    /// @notice A wallet accepted its funding authorization.
    /// @param program keccak256 of the program's API id.
    /// @param merchantRef keccak256 of the merchant's API id.
    /// @param wallet The merchant's wallet.
    /// @param token The ERC-20 token that refunds are collected in.
    /// @param cap The most that can ever be collected.
    /// @param validUntil Refunds can be collected until then.
    /// @param authorization EIP-712 digest of the authorization.
    event FundingEnrolled(
        bytes32 indexed program,
        bytes32 indexed merchantRef,
        address indexed wallet,
        address token,
        uint256 cap,
        uint64 validUntil,
        bytes32 authorization
    );

    /// @notice A wallet revoked its funding: it covers no new purchase.
    /// @param program keccak256 of the program's API id.
    /// @param merchantRef keccak256 of the merchant's API id.
    /// @param wallet The merchant's wallet.
    /// @param revokedAt The block's time.
    event FundingRevoked(bytes32 indexed program, bytes32 indexed merchantRef, address indexed wallet, uint64 revokedAt);

    /// @notice The program's operator offered a purchase; its amount is added to the program's open offers.
    /// @param id The purchase's id.
    /// @param program keccak256 of the program's API id.
    /// @param buyer The only wallet that may pay.
    /// @param sequence 1: here and below, the events of a purchase are counted, so that a gap is visible.
    /// @param purchase The whole commitment.
    event PurchaseOffered(
        bytes32 indexed id,
        bytes32 indexed program,
        address indexed buyer,
        uint32 sequence,
        Purchase purchase
    );

    /// @notice A merchant registered a purchase directly; no budget is used.
    /// @param id The purchase's id.
    /// @param program keccak256 of the program's API id.
    /// @param buyer The only wallet that may pay.
    /// @param sequence 1.
    /// @param purchase The whole commitment.
    event PurchaseRegistered(
        bytes32 indexed id,
        bytes32 indexed program,
        address indexed buyer,
        uint32 sequence,
        Purchase purchase
    );

    /// @notice The operator withdrew an offer, which takes no more payments.
    /// @param id The purchase's id.
    /// @param program keccak256 of the program's API id.
    /// @param sequence The number of this event among those of the purchase.
    /// @param released What is taken off the program's open offers: the unpaid part.
    event OfferWithdrawn(bytes32 indexed id, bytes32 indexed program, uint32 sequence, uint256 released);

    /// @notice A purchase expired and takes no more payments.
    /// @param id The purchase's id.
    /// @param program keccak256 of the program's API id.
    /// @param sequence The number of this event among those of the purchase.
    /// @param released What is taken off the program's open offers: the unpaid part of an offer, 0 for a direct purchase.
    event PurchaseExpired(bytes32 indexed id, bytes32 indexed program, uint32 sequence, uint256 released);

    /// @notice Exactly `amount` of the purchase's token moved from buyer to merchant.
    /// @param id The purchase's id.
    /// @param buyer The payer.
    /// @param merchant The payee.
    /// @param sequence The number of this event among those of the purchase.
    /// @param amount This payment.
    /// @param paidTotal The sum of all payments so far.
    event PurchasePaid(
        bytes32 indexed id,
        address indexed buyer,
        address indexed merchant,
        uint32 sequence,
        uint256 amount,
        uint256 paidTotal
    );

    /// @notice The beneficiary filed its claim.
    /// @param id The purchase's id.
    /// @param beneficiary The claimant.
    /// @param sequence The number of this event among those of the purchase.
    /// @param claimHash EIP-712 digest of the claim.
    event PurchaseClaimed(bytes32 indexed id, address indexed beneficiary, uint32 sequence, bytes32 claimHash);

    /// @notice Exactly `award` of the purchase's token moved from merchant to beneficiary.
    /// @param id The purchase's id.
    /// @param beneficiary The wallet that received the refund.
    /// @param decisionHash SHA-256 of the decision, now recorded on the purchase.
    /// @param sequence The number of this event among those of the purchase.
    /// @param claimHash The claim that the decision is about, which the purchase no longer stores.
    /// @param award The refund.
    /// @param collectedTotal What was collected under this funding so far.
    event RefundCollected(
        bytes32 indexed id,
        address indexed beneficiary,
        bytes32 indexed decisionHash,
        uint32 sequence,
        bytes32 claimHash,
        uint256 award,
        uint256 collectedTotal
    );

    // ---------------------------------------------------------------------------------------------------------------
    // Errors
    // ---------------------------------------------------------------------------------------------------------------

    /// @notice Only one wallet may take this step, and it is not the caller.
    /// @param actual The caller.
    /// @param expected The wallet.
    error WrongCaller(address actual, address expected);

    /// @notice The program is not open.
    /// @param program The program that was named.
    error ProgramNotOpen(bytes32 program);

    /// @notice The program is open already.
    /// @param program The program that was named.
    /// @param admin Its admin.
    error ProgramAlreadyOpen(bytes32 program, address admin);

    /// @notice The program is paused by its admin.
    /// @param program The program.
    error ProgramPaused(bytes32 program);

    /// @notice An amount, award, cap or bound is out of range.
    /// @param actual The figure.
    /// @param least The least that is allowed.
    /// @param most The most that is allowed.
    error AmountOutOfRange(uint256 actual, uint256 least, uint256 most);

    /// @notice The offer would take the program's open offers above their budget.
    /// @param requested The amount of the offer.
    /// @param available What is left of the budget.
    error BudgetExceeded(uint256 requested, uint256 available);

    /// @notice The step is late.
    /// @param timestamp The block's time.
    /// @param deadline The last second that was in time.
    error DeadlinePassed(uint256 timestamp, uint256 deadline);

    /// @notice The purchase can still be paid, so it cannot expire yet.
    /// @param timestamp The block's time.
    /// @param deadline The pay deadline.
    error DeadlineNotPassed(uint256 timestamp, uint256 deadline);

    /// @notice The deadlines of a purchase are not in the order offer <= pay <= claim.
    /// @param offerDeadline The purchase's.
    /// @param payDeadline The purchase's.
    /// @param claimDeadline The purchase's.
    error DeadlinesOutOfOrder(uint64 offerDeadline, uint64 payDeadline, uint64 claimDeadline);

    /// @notice The merchant is its own buyer or beneficiary, so that nothing would move.
    /// @param account The merchant.
    error SameParty(address account);

    /// @notice A program, reference, claim hash or decision hash is zero, which stands for none.
    error ZeroValue();

    /// @notice The signer did not sign this digest.
    /// @param signer The program's commitment signer.
    /// @param digest The EIP-712 digest that it should have signed.
    error InvalidSignature(address signer, bytes32 digest);

    /// @notice The wallet has an active funding in this program already.
    /// @param program The program.
    /// @param wallet The wallet.
    /// @param merchantRef The reference that it is enrolled under.
    error AlreadyEnrolled(bytes32 program, address wallet, bytes32 merchantRef);

    /// @notice The reference was enrolled in this program before.
    /// @param merchantRef The reference.
    /// @param authorization EIP-712 digest of the authorization that it was enrolled with.
    error MerchantRefTaken(bytes32 merchantRef, bytes32 authorization);

    /// @notice The wallet has no active funding in this program.
    /// @param program The program.
    /// @param wallet The wallet.
    error NotEnrolled(bytes32 program, address wallet);

    /// @notice The reference was never enrolled in this program.
    /// @param program The program.
    /// @param merchantRef The reference.
    error UnknownFunding(bytes32 program, bytes32 merchantRef);

    /// @notice The funding was revoked before.
    /// @param merchantRef The reference.
    /// @param revokedAt When it was revoked.
    error AlreadyRevoked(bytes32 merchantRef, uint64 revokedAt);

    /// @notice The purchase is in another token than the merchant's funding.
    /// @param actual The purchase's token.
    /// @param expected The funding's token.
    error TokenMismatch(address actual, address expected);

    /// @notice The funding ends before the purchase's claim deadline.
    /// @param validUntil The funding's last second.
    /// @param claimDeadline The purchase's.
    error FundingTooShort(uint64 validUntil, uint64 claimDeadline);

    /// @notice Too little is left under the funding's cap.
    /// @param amount The amount or award.
    /// @param remaining What is left.
    error FundingInsufficient(uint256 amount, uint256 remaining);

    /// @notice This exact purchase is on chain already.
    /// @param id The purchase's id.
    error PurchaseExists(bytes32 id);

    /// @notice No purchase with this id is on chain.
    /// @param id The id that was named.
    error UnknownPurchase(bytes32 id);

    /// @notice The purchase is not in the status that the step starts from.
    /// @param id The purchase's id.
    /// @param actual Its status.
    /// @param expected The status that it should have.
    error WrongStatus(bytes32 id, Status actual, Status expected);

    /// @notice The purchase came on chain by another route than the step needs.
    /// @param id The purchase's id.
    /// @param actual Its route.
    /// @param expected The route that it should have.
    error WrongRoute(bytes32 id, Route actual, Route expected);

    /// @notice The purchase is fully paid, so there is nothing to withdraw or to expire.
    /// @param id The purchase's id.
    error NothingOutstanding(bytes32 id);

    /// @notice Nothing was paid, so nothing can be claimed.
    /// @param id The purchase's id.
    error NothingPaid(bytes32 id);

    /// @notice The purchase has its one claim already.
    /// @param id The purchase's id.
    /// @param claimHash EIP-712 digest of that claim.
    error AlreadyClaimed(bytes32 id, bytes32 claimHash);

    /// @notice The purchase has no claim, so nothing can be refunded.
    /// @param id The purchase's id.
    error NotClaimed(bytes32 id);

    /// @notice The purchase has its one refund already: it takes no payment, no claim and no second refund.
    /// @param id The purchase's id.
    /// @param decisionHash The decision that was carried out.
    error AlreadyRefunded(bytes32 id, bytes32 decisionHash);

    /// @notice A batch names more or fewer amounts than purchases, or none at all.
    /// @param ids How many purchases it names.
    /// @param amounts How many amounts it names.
    error BatchLengths(uint256 ids, uint256 amounts);

    /// @notice The token refused the permit, and the buyer's allowance is below the payment.
    /// @param token The purchase's token.
    /// @param reason The token's own revert data; empty if it has no `permit`.
    error PermitRefused(address token, bytes reason);

    /// @notice The call came from inside another step of this contract.
    error ReentrancyGuardReentrantCall();

    // ---------------------------------------------------------------------------------------------------------------
    // Steps
    // ---------------------------------------------------------------------------------------------------------------

    /// @notice Opens a program; the caller becomes its admin.
    /// @param program keccak256 of the program's API id; not zero and not open yet.
    /// @param operator The wallet that may offer and collect.
    /// @param commitmentSigner The signer of purchases and funding authorizations.
    /// @param bounds The limits on offers.
    function openProgram(bytes32 program, address operator, address commitmentSigner, Bounds calldata bounds) external;

    /// @notice Replaces operator, commitment signer and bounds of a program.
    /// @dev Only for the program's admin.
    /// @param program The program.
    /// @param operator The wallet that may offer and collect from now on.
    /// @param commitmentSigner The signer from now on.
    /// @param bounds The limits on offers from now on; a budget below what is open only stops further offers.
    function setBounds(bytes32 program, address operator, address commitmentSigner, Bounds calldata bounds) external;

    /// @notice Pauses or unpauses a program: enrollments, new purchases and payments stop; claims and refunds continue.
    /// @dev Only for the program's admin.
    /// @param program The program.
    /// @param paused Whether it is to be paused.
    function setPaused(bytes32 program, bool paused) external;

    /// @notice Accepts a funding authorization.
    /// @dev Only for the authorization's wallet.
    /// @param authorization What the program's commitment signer authorized.
    /// @param signature The signer's signature of `hashFunding(authorization)`.
    function enroll(FundingAuthorization calldata authorization, bytes calldata signature) external;

    /// @notice Ends a funding for new purchases; those that are on chain keep their cover until its `validUntil`.
    /// @dev Only for the wallet that enrolled.
    /// @param program The program that it is enrolled in.
    /// @param merchantRef The reference that it is enrolled under.
    function revokeFunding(bytes32 program, bytes32 merchantRef) external;

    /// @notice Offers a purchase, within the program's bounds and the merchant's funding.
    /// @dev Only for the program's operator, until the bounds' `validUntil`.
    /// @param purchase The commitment.
    /// @param signature The commitment signer's signature of `hashPurchase(purchase)`.
    /// @return id The purchase's id.
    function offer(Purchase calldata purchase, bytes calldata signature) external returns (bytes32 id);

    /// @notice Registers a purchase directly, within the merchant's funding; no bounds apply.
    /// @dev Only for the purchase's merchant.
    /// @param purchase The commitment.
    /// @param signature The commitment signer's signature of `hashPurchase(purchase)`.
    /// @return id The purchase's id.
    function register(Purchase calldata purchase, bytes calldata signature) external returns (bytes32 id);

    /// @notice Closes an offer for further payments and releases its unpaid part.
    /// @dev Only for the program's operator, until the bounds' `validUntil`.
    /// @param id The purchase's id.
    function withdrawOffer(bytes32 id) external;

    /// @notice Closes a purchase that was not fully paid in time and releases its unpaid part.
    /// @dev For anyone, after the pay deadline.
    /// @param id The purchase's id.
    function expire(bytes32 id) external;

    /// @notice Pays a purchase, or a part of it, from the buyer's wallet to the merchant's.
    /// @dev Only for the purchase's buyer, until the pay deadline and before a refund.
    /// @param id The purchase's id.
    /// @param amount At most what is outstanding.
    function pay(bytes32 id, uint256 amount) external;

    /// @notice Pays several purchases of the buyer, all or none.
    /// @dev Only for the buyer of each.
    /// @param ids The purchases' ids.
    /// @param amounts What to pay of each, in the same order.
    function payBatch(bytes32[] calldata ids, uint256[] calldata amounts) external;

    /// @notice Sets the buyer's allowance to `amount` by its EIP-2612 permit and pays, in one transaction.
    /// @dev Only for the purchase's buyer. A permit that was submitted already does not fail the payment: the allowance that
    /// it set pays then.
    /// @param id The purchase's id.
    /// @param amount At most what is outstanding; also the value of the permit.
    /// @param deadline The permit's deadline.
    /// @param v Of the buyer's signature of the permit, whose spender is this contract.
    /// @param r Of the signature.
    /// @param s Of the signature.
    function payWithPermit(bytes32 id, uint256 amount, uint256 deadline, uint8 v, bytes32 r, bytes32 s) external;

    /// @notice Files the claim of a purchase, once.
    /// @dev Only for the purchase's beneficiary, after a payment and until the claim deadline.
    /// @param id The purchase's id.
    /// @param claimHash EIP-712 digest of the claim.
    function claim(bytes32 id, bytes32 claimHash) external;

    /// @notice Collects the refund of a claimed purchase, once, from the merchant's wallet to the beneficiary.
    /// @dev Only for the program's operator, until the funding's `validUntil`. Neither a pause nor the end of the bounds nor
    /// a revocation nor anything in another program blocks it.
    /// @param id The purchase's id.
    /// @param award At most what was paid, and at most what is left under the funding's cap.
    /// @param decisionHash SHA-256 of the decision, which is recorded on the purchase.
    function collectRefund(bytes32 id, uint256 award, bytes32 decisionHash) external;

    // ---------------------------------------------------------------------------------------------------------------
    // Views
    // ---------------------------------------------------------------------------------------------------------------

    /// @notice Returns a program.
    /// @param program The program.
    /// @return All zeros if it is not open.
    function programState(bytes32 program) external view returns (ProgramState memory);

    /// @notice Returns a purchase.
    /// @param id The purchase's id.
    /// @return All zeros if it is not on chain.
    function purchase(bytes32 id) external view returns (PurchaseState memory);

    /// @notice Returns the figures of a purchase in one call.
    /// @param id The purchase's id.
    /// @return All zeros if it is not on chain.
    function figures(bytes32 id) external view returns (Figures memory);

    /// @notice Returns a merchant's funding, revoked or not.
    /// @param program The program.
    /// @param merchantRef The reference.
    /// @return All zeros if the reference was never enrolled.
    function funding(bytes32 program, bytes32 merchantRef) external view returns (FundingState memory);

    /// @notice Returns the reference that a wallet is enrolled under in a program.
    /// @param program The program.
    /// @param wallet The wallet.
    /// @return merchantRef Zero if the wallet has no active funding.
    function enrolledAs(bytes32 program, address wallet) external view returns (bytes32 merchantRef);

    /// @notice Returns the spender that merchants approve and that only this contract may draw on.
    /// @return The funding source.
    function fundingSource() external view returns (address);

    /// @notice Returns the EIP-712 digest of a purchase: its id, and what the commitment signer signs.
    /// @param purchase The commitment.
    /// @return The digest.
    function hashPurchase(Purchase calldata purchase) external view returns (bytes32);

    /// @notice Returns the EIP-712 digest of a claim: what the beneficiary signs and what `claim` carries.
    /// @param claimData The claim.
    /// @return The digest.
    function hashClaim(Claim calldata claimData) external view returns (bytes32);

    /// @notice Returns the EIP-712 digest of a funding authorization: what the commitment signer signs.
    /// @param authorization The authorization.
    /// @return The digest.
    function hashFunding(FundingAuthorization calldata authorization) external view returns (bytes32);
}
