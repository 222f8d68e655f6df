// SPDX-License-Identifier: MIT
pragma solidity >=0.8.4;

import {ICommonErrors} from "./ICommonErrors.sol";

/// @title IPurchaseRegistrar
/// @notice Records purchases as immutable signed commitments. A payment moves tokens from the buyer to the merchant in one
/// call; a refund moves them from the merchant's wallet to the beneficiary, under the funding that the merchant authorized.
/// @dev A purchase's id is the EIP-712 digest of its `Purchase` struct, so it is bound to this chain and this contract.
/// Amounts are in base units of their token. Times are Unix seconds, and every deadline is inclusive.
interface IPurchaseRegistrar is ICommonErrors {
    // ---------------------------------------------------------------------------------------------------------------
    // Types
    // ---------------------------------------------------------------------------------------------------------------

    /// @notice How a purchase was put on chain.
    enum Route {
        None,
        /// `offer`: by the program's operator, within the program's bounds.
        Offer,
        /// `register`: by the merchant; the program's bounds do not apply.
        Direct
    }

    /// @notice Whether a purchase accepts payments. A claim or a refund does not change it; see `Figures`.
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
        /// The enrolled wallet that receives payments and pays refunds.
        address merchant;
        /// The only wallet that may pay.
        address buyer;
        /// The only wallet that may claim, and the receiver of a refund.
        address beneficiary;
        /// The ERC-20 token of all payments and of the refund.
        address token;
        /// The price; from 1 to type(uint128).max.
        uint256 amount;
        /// SHA-256 of the terms as canonical JSON (RFC 8785).
        bytes32 termsHash;
        /// Last second at which the purchase can be offered or registered.
        uint64 offerDeadline;
        /// Last second at which the purchase can be paid.
        uint64 payDeadline;
        /// Last second at which a claim can be filed.
        uint64 claimDeadline;
        /// Gives two purchases with equal fields different ids.
        bytes32 salt;
    }

    /// @notice Allows refunds from a merchant's wallet, up to a cap and until a time. The program's commitment signer signs it
    /// (EIP-712).
    struct FundingAuthorization {
        /// keccak256 of the program's API id.
        bytes32 program;
        /// keccak256 of the merchant's API id.
        bytes32 merchantRef;
        /// The merchant's wallet, which must call `enroll`.
        address wallet;
        /// The ERC-20 token of the refunds.
        address token;
        /// The largest sum of all refunds; from 1 to type(uint128).max.
        uint256 cap;
        /// Last second at which a refund can be collected, even after a revocation.
        uint64 validUntil;
        /// Gives two authorizations with equal fields different digests.
        bytes32 salt;
    }

    /// @notice The claim that a beneficiary signs off chain (EIP-712); its digest is the `claimHash` of `claim`.
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
        /// The largest unpaid sum of all open offers; at most type(uint128).max.
        uint256 openBudget;
        /// Last second at which the operator can offer and withdraw.
        uint64 validUntil;
    }

    /// @notice A program's stored state.
    struct ProgramState {
        /// The wallet that opened the program and sets its bounds.
        address admin;
        /// The wallet that offers purchases and collects refunds.
        address operator;
        /// The signer of purchases and funding authorizations.
        address commitmentSigner;
        /// Whether enrollments, new purchases and payments are paused.
        bool paused;
        /// The limits on offers.
        Bounds bounds;
        /// The unpaid sum of all open offers.
        uint256 openOffers;
    }

    /// @notice A purchase's stored state. The other fields of its `Purchase` are in the event `PurchaseOffered` or
    /// `PurchaseRegistered`.
    struct PurchaseState {
        Status status;
        Route route;
        /// How many events this contract has emitted for the purchase.
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
        /// Zero before the claim, and zero again after the refund, whose event `RefundCollected` contains it.
        bytes32 claimHash;
        /// Zero before the refund.
        bytes32 decisionHash;
    }

    /// @notice The amounts, status and hashes of a purchase at one block.
    struct Figures {
        Status status;
        /// How many events this contract has emitted for the purchase.
        uint32 sequence;
        uint256 amount;
        /// The buyer's allowance to this contract.
        uint256 approved;
        uint256 paid;
        uint256 outstanding;
        uint256 refunded;
        /// Zero before the claim, and zero again after the refund, whose event `RefundCollected` contains it.
        bytes32 claimHash;
        /// Zero before the refund.
        bytes32 decisionHash;
    }

    /// @notice A merchant's funding at one block.
    struct FundingState {
        address wallet;
        address token;
        uint256 cap;
        uint256 collected;
        uint64 validUntil;
        /// When the funding was revoked; zero if it was not.
        uint64 revokedAt;
        /// EIP-712 digest of the enrolled authorization.
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
    /// @param operator The wallet that offers purchases and collects refunds.
    /// @param commitmentSigner The signer of purchases and funding authorizations.
    /// @param bounds The limits on offers.
    event ProgramOpened(
        bytes32 indexed program,
        address indexed admin,
        address indexed operator,
        address commitmentSigner,
        Bounds bounds
    );

    /// @notice The admin replaced the operator, the commitment signer and the bounds of a program.
    /// @param program keccak256 of the program's API id.
    /// @param operator The new operator.
    /// @param commitmentSigner The new commitment signer.
    /// @param bounds The new limits on offers.
    event BoundsSet(bytes32 indexed program, address indexed operator, address commitmentSigner, Bounds bounds);

    /// @notice The admin paused or unpaused a program.
    /// @param program keccak256 of the program's API id.
    /// @param paused True if the program is now paused.
    event PausedSet(bytes32 indexed program, bool paused);

    /// @notice The admin named another wallet, which becomes the admin when it accepts, or withdrew such an offer.
    /// @param program keccak256 of the program's API id.
    /// @param admin The admin, which stays the admin until then.
    /// @param newAdmin The wallet that may accept; zero if none may.
    event AdminTransferStarted(bytes32 indexed program, address indexed admin, address indexed newAdmin);

    /// @notice The named wallet became the admin of a program.
    /// @param program keccak256 of the program's API id.
    /// @param previousAdmin The admin until now.
    /// @param newAdmin The caller.
    event AdminTransferred(bytes32 indexed program, address indexed previousAdmin, address indexed newAdmin);

    /// @notice A merchant's wallet enrolled with a funding authorization.
    /// @param program keccak256 of the program's API id.
    /// @param merchantRef keccak256 of the merchant's API id.
    /// @param wallet The merchant's wallet.
    /// @param token The ERC-20 token of the refunds.
    /// @param cap The largest sum of all refunds.
    /// @param validUntil Last second at which a refund can be collected.
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

    /// @notice A wallet revoked its funding, which no longer covers new purchases.
    /// @param program keccak256 of the program's API id.
    /// @param merchantRef keccak256 of the merchant's API id.
    /// @param wallet The merchant's wallet.
    /// @param revokedAt The block's time.
    event FundingRevoked(bytes32 indexed program, bytes32 indexed merchantRef, address indexed wallet, uint64 revokedAt);

    /// @notice The program's operator offered a purchase; its amount is added to the program's open offers.
    /// @param id The purchase's id.
    /// @param program keccak256 of the program's API id.
    /// @param buyer The only wallet that may pay.
    /// @param sequence Always 1: the sequence counts the events of a purchase from 1, so a missing event leaves a gap.
    /// @param purchase All fields of the commitment.
    event PurchaseOffered(
        bytes32 indexed id,
        bytes32 indexed program,
        address indexed buyer,
        uint32 sequence,
        Purchase purchase
    );

    /// @notice A merchant registered a purchase, which does not count as an open offer.
    /// @param id The purchase's id.
    /// @param program keccak256 of the program's API id.
    /// @param buyer The only wallet that may pay.
    /// @param sequence Always 1.
    /// @param purchase All fields of the commitment.
    event PurchaseRegistered(
        bytes32 indexed id,
        bytes32 indexed program,
        address indexed buyer,
        uint32 sequence,
        Purchase purchase
    );

    /// @notice The operator withdrew an offer, which no longer accepts payments.
    /// @param id The purchase's id.
    /// @param program keccak256 of the program's API id.
    /// @param sequence Number of this event in the purchase's sequence.
    /// @param released The unpaid amount, which is subtracted from the program's open offers.
    event OfferWithdrawn(bytes32 indexed id, bytes32 indexed program, uint32 sequence, uint256 released);

    /// @notice A purchase expired and no longer accepts payments.
    /// @param id The purchase's id.
    /// @param program keccak256 of the program's API id.
    /// @param sequence Number of this event in the purchase's sequence.
    /// @param released For an offer, the unpaid amount, which is subtracted from the program's open offers; for a registered
    /// purchase, 0.
    event PurchaseExpired(bytes32 indexed id, bytes32 indexed program, uint32 sequence, uint256 released);

    /// @notice The buyer paid exactly `amount` of the purchase's token to the merchant.
    /// @param id The purchase's id.
    /// @param buyer The payer.
    /// @param merchant The payee.
    /// @param sequence Number of this event in the purchase's sequence.
    /// @param amount The amount of this payment.
    /// @param paidTotal The sum of all payments of the purchase, including this one.
    event PurchasePaid(
        bytes32 indexed id,
        address indexed buyer,
        address indexed merchant,
        uint32 sequence,
        uint256 amount,
        uint256 paidTotal
    );

    /// @notice The beneficiary filed the purchase's claim.
    /// @param id The purchase's id.
    /// @param beneficiary The claimant.
    /// @param sequence Number of this event in the purchase's sequence.
    /// @param claimHash EIP-712 digest of the claim.
    event PurchaseClaimed(bytes32 indexed id, address indexed beneficiary, uint32 sequence, bytes32 claimHash);

    /// @notice Exactly `award` of the purchase's token was refunded from the merchant to the beneficiary.
    /// @param id The purchase's id.
    /// @param beneficiary The wallet that received the refund.
    /// @param decisionHash SHA-256 of the decision, which the purchase now stores.
    /// @param sequence Number of this event in the purchase's sequence.
    /// @param claimHash EIP-712 digest of the claim, which the purchase no longer stores.
    /// @param award The refunded amount.
    /// @param collectedTotal The sum of all refunds under this funding, including this one.
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

    /// @notice The caller is not the wallet that may call this function.
    /// @param actual The caller.
    /// @param expected The wallet that may call it.
    error WrongCaller(address actual, address expected);

    /// @notice The program is not open.
    /// @param program keccak256 of the program's API id.
    error ProgramNotOpen(bytes32 program);

    /// @notice The program is already open.
    /// @param program keccak256 of the program's API id.
    /// @param admin Its admin.
    error ProgramAlreadyOpen(bytes32 program, address admin);

    /// @notice The program is paused.
    /// @param program keccak256 of the program's API id.
    error ProgramPaused(bytes32 program);

    /// @notice An amount, award, cap or bound is out of range.
    /// @param value Its name: `amount` (of a purchase or a payment), `award`, `cap`, `maxPurchase` or `openBudget`.
    /// @param actual Its value.
    /// @param min The smallest allowed value.
    /// @param max The largest allowed value.
    error AmountOutOfRange(string value, uint256 actual, uint256 min, uint256 max);

    /// @notice The offer exceeds what is left of the program's budget for open offers.
    /// @param requested The amount of the offer.
    /// @param available The unused part of the budget.
    error BudgetExceeded(uint256 requested, uint256 available);

    /// @notice The call is too late.
    /// @param timestamp The block's timestamp.
    /// @param deadline The last second at which the call was allowed.
    error DeadlinePassed(uint256 timestamp, uint256 deadline);

    /// @notice The purchase cannot expire before its pay deadline has passed.
    /// @param timestamp The block's timestamp.
    /// @param deadline The purchase's pay deadline.
    error DeadlineNotPassed(uint256 timestamp, uint256 deadline);

    /// @notice The deadlines of a purchase are not in the order offer <= pay <= claim.
    /// @param offerDeadline The purchase's offer deadline.
    /// @param payDeadline The purchase's pay deadline.
    /// @param claimDeadline The purchase's claim deadline.
    error DeadlinesOutOfOrder(uint64 offerDeadline, uint64 payDeadline, uint64 claimDeadline);

    /// @notice The merchant is also the buyer or the beneficiary.
    /// @param account The merchant.
    error SameParty(address account);

    /// @notice The program, the merchant reference, the claim hash or the decision hash is zero.
    error ZeroValue();

    /// @notice The signature is not the commitment signer's signature of the digest.
    /// @param signer The program's commitment signer.
    /// @param digest The EIP-712 digest.
    error InvalidSignature(address signer, bytes32 digest);

    /// @notice The wallet already has an active funding in this program.
    /// @param program keccak256 of the program's API id.
    /// @param wallet The merchant's wallet.
    /// @param merchantRef The merchant reference that the wallet is enrolled with.
    error AlreadyEnrolled(bytes32 program, address wallet, bytes32 merchantRef);

    /// @notice The merchant reference is already enrolled in this program.
    /// @param merchantRef keccak256 of the merchant's API id.
    /// @param authorization EIP-712 digest of the enrolled authorization.
    error MerchantRefTaken(bytes32 merchantRef, bytes32 authorization);

    /// @notice The wallet has no active funding in this program.
    /// @param program keccak256 of the program's API id.
    /// @param wallet The merchant's wallet.
    error NotEnrolled(bytes32 program, address wallet);

    /// @notice The merchant reference is not enrolled in this program.
    /// @param program keccak256 of the program's API id.
    /// @param merchantRef keccak256 of the merchant's API id.
    error UnknownFunding(bytes32 program, bytes32 merchantRef);

    /// @notice The funding is already revoked.
    /// @param merchantRef keccak256 of the merchant's API id.
    /// @param revokedAt When it was revoked.
    error AlreadyRevoked(bytes32 merchantRef, uint64 revokedAt);

    /// @notice The purchase's token is not the token of the merchant's funding.
    /// @param actual The purchase's token.
    /// @param expected The funding's token.
    error TokenMismatch(address actual, address expected);

    /// @notice The funding ends before the purchase's claim deadline.
    /// @param validUntil Last second of the funding.
    /// @param claimDeadline The purchase's claim deadline.
    error FundingTooShort(uint64 validUntil, uint64 claimDeadline);

    /// @notice The amount exceeds what is left under the funding's cap.
    /// @param amount The purchase's amount, or the award.
    /// @param remaining The cap minus all refunds under this funding.
    error FundingInsufficient(uint256 amount, uint256 remaining);

    /// @notice A purchase with exactly these fields is already on chain.
    /// @param id The purchase's id.
    error PurchaseExists(bytes32 id);

    /// @notice No purchase with this id is on chain.
    /// @param id The requested id.
    error UnknownPurchase(bytes32 id);

    /// @notice The purchase's status does not allow the call.
    /// @param id The purchase's id.
    /// @param actual The purchase's status.
    /// @param expected The status that allows the call.
    error WrongStatus(bytes32 id, Status actual, Status expected);

    /// @notice The purchase's route does not allow the call.
    /// @param id The purchase's id.
    /// @param actual The purchase's route.
    /// @param expected The route that allows the call.
    error WrongRoute(bytes32 id, Route actual, Route expected);

    /// @notice The purchase is fully paid, so it cannot be withdrawn and cannot expire.
    /// @param id The purchase's id.
    error NothingOutstanding(bytes32 id);

    /// @notice The purchase has no payment, so it cannot be claimed.
    /// @param id The purchase's id.
    error NothingPaid(bytes32 id);

    /// @notice The purchase already has its only claim.
    /// @param id The purchase's id.
    /// @param claimHash EIP-712 digest of that claim.
    error AlreadyClaimed(bytes32 id, bytes32 claimHash);

    /// @notice The purchase has no claim, so it cannot be refunded.
    /// @param id The purchase's id.
    error NotClaimed(bytes32 id);

    /// @notice The purchase is already refunded, so it accepts no payment, claim or second refund.
    /// @param id The purchase's id.
    /// @param decisionHash SHA-256 of the decision of that refund.
    error AlreadyRefunded(bytes32 id, bytes32 decisionHash);

    /// @notice The batch is empty, or its arrays differ in length.
    /// @param ids The number of ids.
    /// @param amounts The number of amounts.
    error BatchLengths(uint256 ids, uint256 amounts);

    /// @notice The token's `permit` reverted, and the buyer's allowance is less than the payment.
    /// @param token The purchase's token.
    /// @param reason The token's revert data; empty if the token has no `permit`.
    error PermitRefused(address token, bytes reason);

    /// @notice The call re-enters this contract.
    error ReentrancyGuardReentrantCall();

    // ---------------------------------------------------------------------------------------------------------------
    // Functions that change state
    // ---------------------------------------------------------------------------------------------------------------

    /// @notice Opens a program; the caller becomes its admin.
    /// @param program keccak256 of the program's API id; not zero and not yet open.
    /// @param operator The wallet that offers purchases and collects refunds.
    /// @param commitmentSigner The signer of purchases and funding authorizations.
    /// @param bounds The limits on offers.
    function openProgram(bytes32 program, address operator, address commitmentSigner, Bounds calldata bounds) external;

    /// @notice Replaces the operator, the commitment signer and the bounds of a program.
    /// @dev Only for the program's admin.
    /// @param program keccak256 of the program's API id.
    /// @param operator The new operator.
    /// @param commitmentSigner The new commitment signer.
    /// @param bounds The new limits on offers. Open offers stay open, even if they exceed the new budget.
    function setBounds(bytes32 program, address operator, address commitmentSigner, Bounds calldata bounds) external;

    /// @notice Pauses or unpauses a program. A pause stops enrollments, new purchases and payments, but no claims or refunds.
    /// @dev Only for the program's admin.
    /// @param program keccak256 of the program's API id.
    /// @param paused True to pause, false to unpause.
    function setPaused(bytes32 program, bool paused) external;

    /// @notice Names the wallet that may become the program's admin with `acceptAdmin`. Until then, the admin stays the admin.
    /// @dev Only for the program's admin. A second call replaces the first; the zero address withdraws it.
    /// @param program keccak256 of the program's API id.
    /// @param newAdmin The wallet that may accept.
    function transferAdmin(bytes32 program, address newAdmin) external;

    /// @notice Makes the caller the program's admin.
    /// @dev Only for the wallet that the admin named with `transferAdmin`.
    /// @param program keccak256 of the program's API id.
    function acceptAdmin(bytes32 program) external;

    /// @notice Enrolls the caller's wallet with a funding authorization.
    /// @dev Only for the authorization's wallet.
    /// @param authorization The authorization that the program's commitment signer signed.
    /// @param signature The signer's signature of `hashFunding(authorization)`.
    function enroll(FundingAuthorization calldata authorization, bytes calldata signature) external;

    /// @notice Ends a funding for new purchases. Purchases that are already on chain can be refunded until its `validUntil`.
    /// @dev Only for the enrolled wallet.
    /// @param program keccak256 of the program's API id.
    /// @param merchantRef keccak256 of the merchant's API id.
    function revokeFunding(bytes32 program, bytes32 merchantRef) external;

    /// @notice Offers a purchase, within the program's bounds and the merchant's funding.
    /// @dev Only for the program's operator, up to the `validUntil` of the program's bounds.
    /// @param purchase The commitment.
    /// @param signature The commitment signer's signature of `hashPurchase(purchase)`.
    /// @return id The purchase's id.
    function offer(Purchase calldata purchase, bytes calldata signature) external returns (bytes32 id);

    /// @notice Registers a purchase, within the merchant's funding; the program's bounds do not apply.
    /// @dev Only for the purchase's merchant.
    /// @param purchase The commitment.
    /// @param signature The commitment signer's signature of `hashPurchase(purchase)`.
    /// @return id The purchase's id.
    function register(Purchase calldata purchase, bytes calldata signature) external returns (bytes32 id);

    /// @notice Closes an offer for payments and subtracts its unpaid amount from the program's open offers.
    /// @dev Only for the program's operator, up to the `validUntil` of the program's bounds.
    /// @param id The purchase's id.
    function withdrawOffer(bytes32 id) external;

    /// @notice Closes a purchase that was not fully paid in time, and subtracts the unpaid amount of an offer from the program's
    /// open offers.
    /// @dev Anyone may call, after the pay deadline.
    /// @param id The purchase's id.
    function expire(bytes32 id) external;

    /// @notice Pays all or a part of a purchase, from the buyer's wallet to the merchant's wallet.
    /// @dev Only for the purchase's buyer, up to the pay deadline and before a refund.
    /// @param id The purchase's id.
    /// @param amount The amount to pay, at most the outstanding amount.
    function pay(bytes32 id, uint256 amount) external;

    /// @notice Pays several purchases. If one payment fails, all of them fail.
    /// @dev Only for the buyer of all these purchases.
    /// @param ids The purchases' ids.
    /// @param amounts The amount to pay for each id, in the same order.
    function payBatch(bytes32[] calldata ids, uint256[] calldata amounts) external;

    /// @notice Submits the buyer's EIP-2612 permit to this contract and pays, in one transaction.
    /// @dev Only for the purchase's buyer. If `permit` reverts, for example because another account submitted the permit
    /// first, the payment succeeds if the allowance suffices.
    /// @param id The purchase's id.
    /// @param amount The amount to pay, at most the outstanding amount; also the permit's value.
    /// @param deadline The permit's deadline.
    /// @param v The permit signature's v.
    /// @param r The permit signature's r.
    /// @param s The permit signature's s.
    function payWithPermit(bytes32 id, uint256 amount, uint256 deadline, uint8 v, bytes32 r, bytes32 s) external;

    /// @notice Files the only claim of a purchase.
    /// @dev Only for the purchase's beneficiary, after a payment and up to the claim deadline.
    /// @param id The purchase's id.
    /// @param claimHash EIP-712 digest of the claim.
    function claim(bytes32 id, bytes32 claimHash) external;

    /// @notice Transfers the only refund of a claimed purchase from the merchant's wallet to the beneficiary.
    /// @dev Only for the program's operator, up to the funding's `validUntil`. A pause, the end of the bounds, a revocation and
    /// calls in other programs do not block it.
    /// @param id The purchase's id.
    /// @param award The amount to refund, at most the paid amount and at most what is left under the funding's cap.
    /// @param decisionHash SHA-256 of the decision, which the purchase stores from then on.
    function collectRefund(bytes32 id, uint256 award, bytes32 decisionHash) external;

    // ---------------------------------------------------------------------------------------------------------------
    // Views
    // ---------------------------------------------------------------------------------------------------------------

    /// @notice Returns a program's state.
    /// @param program keccak256 of the program's API id.
    /// @return The state; all fields are zero if the program is not open.
    function programState(bytes32 program) external view returns (ProgramState memory);

    /// @notice Returns the wallet that may become the program's admin with `acceptAdmin`.
    /// @param program keccak256 of the program's API id.
    /// @return The wallet; zero if there is none.
    function pendingAdmin(bytes32 program) external view returns (address);

    /// @notice Returns a purchase's state.
    /// @param id The purchase's id.
    /// @return The state; all fields are zero if the purchase is not on chain.
    function purchase(bytes32 id) external view returns (PurchaseState memory);

    /// @notice Returns the amounts, status and hashes of a purchase, and the buyer's allowance.
    /// @param id The purchase's id.
    /// @return The figures; all fields are zero if the purchase is not on chain.
    function figures(bytes32 id) external view returns (Figures memory);

    /// @notice Returns a merchant's funding, even if it is revoked.
    /// @param program keccak256 of the program's API id.
    /// @param merchantRef keccak256 of the merchant's API id.
    /// @return The funding; all fields are zero if the reference is not enrolled.
    function funding(bytes32 program, bytes32 merchantRef) external view returns (FundingState memory);

    /// @notice Returns the merchant reference of a wallet's active funding in a program.
    /// @param program keccak256 of the program's API id.
    /// @param wallet The merchant's wallet.
    /// @return merchantRef The reference; zero if the wallet has no active funding.
    function enrolledAs(bytes32 program, address wallet) external view returns (bytes32 merchantRef);

    /// @notice Returns the funding source: the spender that merchants approve for refunds.
    /// @return The address of the funding source.
    function fundingSource() external view returns (address);

    /// @notice Returns the EIP-712 digest of a purchase, which is its id and which the commitment signer signs.
    /// @param purchase The commitment.
    /// @return The digest.
    function hashPurchase(Purchase calldata purchase) external view returns (bytes32);

    /// @notice Returns the EIP-712 digest of a claim, which the beneficiary signs and passes to `claim`.
    /// @param claimData The claim.
    /// @return The digest.
    function hashClaim(Claim calldata claimData) external view returns (bytes32);

    /// @notice Returns the EIP-712 digest of a funding authorization, which the commitment signer signs.
    /// @param authorization The authorization.
    /// @return The digest.
    function hashFunding(FundingAuthorization calldata authorization) external view returns (bytes32);
}
