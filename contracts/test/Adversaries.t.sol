// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20Errors} from "@openzeppelin/contracts/interfaces/draft-IERC6093.sol";

import {ConstructorCaller, ContractWallet} from "../adversaries/ContractWallet.sol";
import {ContractSigner} from "../adversaries/ContractSigner.sol";
import {UpgradeableProxy} from "../adversaries/UpgradeableProxy.sol";
import {HostileToken} from "../adversaries/HostileToken.sol";
import {LookalikeRegistrar} from "../adversaries/LookalikeRegistrar.sol";
import {PlainToken} from "../adversaries/PlainToken.sol";
import {ICommonErrors} from "../interfaces/ICommonErrors.sol";
import {IPurchaseRegistrar} from "../interfaces/IPurchaseRegistrar.sol";
import {Fixture} from "./Fixture.t.sol";

/// @title Adversaries
/// @notice Tests the registrar contract with hostile tokens, signers and wallets.
contract AdversariesTest is Fixture {
    bytes32 private constant HOSTILE_REF = keccak256("mer_hostile");
    address private hostileMerchant = account("hostile merchant");
    HostileToken private token;

    function setUp() public override {
        super.setUp();
        token = new HostileToken();
        IPurchaseRegistrar.FundingAuthorization memory authorization = fundingAuthorization();
        authorization.merchantRef = HOSTILE_REF;
        authorization.wallet = hostileMerchant;
        authorization.token = address(token);
        bytes memory signature = signFunding(authorization);
        vm.prank(hostileMerchant);
        registrar.enroll(authorization, signature);

        token.mint(buyer, 1_000_000_000);
        token.mint(address(token), 1_000_000_000);
        token.mint(hostileMerchant, 1_000_000_000);
        vm.prank(buyer);
        token.approve(address(registrar), 1_000_000_000);
        vm.prank(hostileMerchant);
        token.approve(address(source), 1_000_000_000);
        token.act(address(token), abi.encodeCall(token.approve, (address(registrar), 1_000_000_000)));
    }

    function hostile() private view returns (IPurchaseRegistrar.Purchase memory purchase) {
        purchase = commitment();
        purchase.merchant = hostileMerchant;
        purchase.token = address(token);
    }

    /// @dev The state of a purchase that a reverted call must not change.
    function trace(bytes32 id) private view returns (bytes32) {
        return keccak256(
            abi.encode(
                registrar.purchase(id),
                registrar.figures(id),
                registrar.programState(PROGRAM),
                registrar.funding(PROGRAM, HOSTILE_REF),
                token.balanceOf(buyer),
                token.balanceOf(beneficiary)
            )
        );
    }

    function paysNothing(bytes32 id, HostileToken.Behavior behavior, bytes memory reason) private {
        token.setBehavior(behavior);
        bytes32 before = trace(id);
        refuses(reason);
        vm.prank(buyer);
        registrar.pay(id, 10);
        eq(trace(id), before, "nothing changed");
    }

    function inexact(address holder, uint256 actual, uint256 expected) private view returns (bytes memory) {
        return abi.encodeWithSelector(
            ICommonErrors.InexactTransfer.selector, address(token), holder, actual, expected
        );
    }

    function test_anInexactPaymentReverts() public {
        bytes32 id = offer(hostile());
        uint256 m = 1_000_000_000;
        paysNothing(id, HostileToken.Behavior.FeeOnReceiver, inexact(hostileMerchant, m + 9, m + 10));
        paysNothing(id, HostileToken.Behavior.FeeOnSender, inexact(buyer, m - 11, m - 10));
        paysNothing(id, HostileToken.Behavior.ExtraCredit, inexact(hostileMerchant, m + 11, m + 10));
        paysNothing(id, HostileToken.Behavior.NoTransfer, inexact(buyer, m, m - 10));
        bytes memory failed =
            abi.encodeWithSelector(ICommonErrors.SafeERC20FailedOperation.selector, address(token));
        paysNothing(id, HostileToken.Behavior.ReturnsFalse, failed);
        paysNothing(id, HostileToken.Behavior.ReturnsTwo, failed);
        paysNothing(id, HostileToken.Behavior.Reverting, "HostileToken: no");
    }

    function test_aTokenWithoutReturnValuePaysAndRefunds() public {
        token.setBehavior(HostileToken.Behavior.ReturnsNothing);
        bytes32 id = offer(hostile());
        pay(id, 10);
        claim(id);
        collectRefund(id, 4, DECISION);
        eq(token.balanceOf(hostileMerchant), 1_000_000_006, "merchant");
        eq(token.balanceOf(beneficiary), 4, "beneficiary");
    }

    function test_anInexactRefundReverts() public {
        bytes32 id = offer(hostile());
        pay(id, 10);
        claim(id);
        HostileToken.Behavior[6] memory behaviors = [
            HostileToken.Behavior.FeeOnReceiver,
            HostileToken.Behavior.FeeOnSender,
            HostileToken.Behavior.ExtraCredit,
            HostileToken.Behavior.NoTransfer,
            HostileToken.Behavior.ReturnsFalse,
            HostileToken.Behavior.Reverting
        ];
        for (uint256 i = 0; i < behaviors.length; ++i) {
            token.setBehavior(behaviors[i]);
            bytes32 before = trace(id);
            vm.prank(operator);
            (bool success,) = address(registrar).call(abi.encodeCall(registrar.collectRefund, (id, 5, DECISION)));
            eq(success, false, "refused");
            eq(trace(id), before, "nothing changed");
        }
    }

    /// @dev A call of every function that changes state. `own` is a purchase of the caller.
    function allSteps(bytes32 own) private view returns (bytes[16] memory) {
        IPurchaseRegistrar.Purchase memory next = hostile();
        next.salt = keccak256("next");
        bytes memory signature = signPurchase(next);
        bytes32[] memory ids = new bytes32[](1);
        ids[0] = own;
        uint256[] memory amounts = new uint256[](1);
        amounts[0] = 1;

        IPurchaseRegistrar.FundingAuthorization memory authorization = fundingAuthorization();
        return [
            abi.encodeCall(registrar.pay, (own, 1)),
            abi.encodeCall(registrar.payBatch, (ids, amounts)),
            abi.encodeCall(registrar.payWithPermit, (own, 1, BOUNDS_UNTIL, 27, bytes32(0), bytes32(0))),
            abi.encodeCall(registrar.claim, (own, CLAIM_HASH)),
            abi.encodeCall(registrar.expire, (own)),
            abi.encodeCall(registrar.offer, (next, signature)),
            abi.encodeCall(registrar.register, (next, signature)),
            abi.encodeCall(registrar.withdrawOffer, (own)),
            abi.encodeCall(registrar.collectRefund, (own, 1, DECISION)),
            abi.encodeCall(registrar.openProgram, (keccak256("another"), operator, signer, bounds())),
            abi.encodeCall(registrar.setBounds, (PROGRAM, operator, signer, bounds())),
            abi.encodeCall(registrar.setPaused, (PROGRAM, true)),
            abi.encodeCall(registrar.transferAdmin, (PROGRAM, address(token))),
            abi.encodeCall(registrar.acceptAdmin, (PROGRAM)),
            abi.encodeCall(registrar.enroll, (authorization, signature)),
            abi.encodeCall(registrar.revokeFunding, (PROGRAM, HOSTILE_REF))
        ];
    }

    function refusedReentry() private view {
        eq(token.reentered(), true, "the token called back");
        eq(token.succeeded(), false, "the inner step is refused");
        eq(
            keccak256(token.answer()),
            keccak256(abi.encodeWithSelector(IPurchaseRegistrar.ReentrancyGuardReentrantCall.selector)),
            "the reason"
        );
    }

    /// @dev The token is itself the buyer and the beneficiary, and makes each call during a transfer.
    function test_reentrancyFromATransferReverts() public {
        IPurchaseRegistrar.Purchase memory purchase = hostile();
        purchase.buyer = address(token);
        purchase.beneficiary = address(token);
        bytes32 own = offer(purchase);
        bytes[16] memory steps = allSteps(own);
        for (uint256 i = 0; i < steps.length; ++i) {
            token.reenter(HostileToken.Behavior.Reentrant, address(registrar), steps[i]);
            token.act(address(registrar), abi.encodeCall(registrar.pay, (own, 1)));
            refusedReentry();
            eq(registrar.purchase(own).paid, i + 1, "the outer payment counts once");
        }
    }

    /// @dev Two purchases of the buyer: one in TestUSDC, then one in the hostile token.
    function offersInBothTokens() private returns (bytes32[] memory ids, uint256[] memory amounts) {
        IPurchaseRegistrar.Purchase memory purchase = hostile();
        purchase.beneficiary = address(token);
        (ids, amounts) = (new bytes32[](2), new uint256[](2));
        (ids[0], ids[1]) = (offer(), offer(purchase));
        (amounts[0], amounts[1]) = (3, 4);
    }

    function test_eachPaymentOfABatchIsInItsOwnToken() public {
        (bytes32[] memory ids, uint256[] memory amounts) = offersInBothTokens();
        vm.prank(buyer);
        registrar.payBatch(ids, amounts);
        eq(usdc.balanceOf(merchant), 1_000_000_003, "in the first token");
        eq(token.balanceOf(hostileMerchant), 1_000_000_004, "in the second token");
    }

    function test_reentrancyFromALaterPaymentOfABatchReverts() public {
        (bytes32[] memory ids, uint256[] memory amounts) = offersInBothTokens();
        pay(ids[1], 1);
        token.reenter(
            HostileToken.Behavior.Reentrant,
            address(registrar),
            abi.encodeCall(registrar.claim, (ids[1], CLAIM_HASH))
        );
        vm.prank(buyer);
        registrar.payBatch(ids, amounts);
        refusedReentry();
    }

    function test_reentrancyFromARefundReverts() public {
        bytes32 id = offer(hostile());
        pay(id, 10);
        claim(id);
        token.reenter(
            HostileToken.Behavior.Reentrant,
            address(registrar),
            abi.encodeCall(registrar.collectRefund, (id, 10, DECISION))
        );
        collectRefund(id, 4, DECISION);
        refusedReentry();
        eq(token.balanceOf(beneficiary), 4, "one refund");
    }

    // Permits

    /// @dev The buyer's call with a permit that is valid for this token.
    function permitCall(bytes32 id, uint256 amount) private view returns (bytes memory) {
        bytes32 structHash = keccak256(
            abi.encode(
                usdc.PERMIT_TYPEHASH(), buyer, address(registrar), amount, token.nonces(buyer), BOUNDS_UNTIL
            )
        );
        bytes32 digest = keccak256(abi.encodePacked(hex"1901", token.DOMAIN_SEPARATOR(), structHash));
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(keyOf("buyer"), digest);
        return abi.encodeCall(registrar.payWithPermit, (id, amount, BOUNDS_UNTIL, v, r, s));
    }

    function approve(uint256 value) private {
        vm.prank(buyer);
        token.approve(address(registrar), value);
    }

    function test_reentrancyFromAPermitReverts() public {
        IPurchaseRegistrar.Purchase memory purchase = hostile();
        purchase.beneficiary = address(token);
        bytes32 id = offer(purchase);
        bytes[16] memory steps = allSteps(id);
        for (uint256 i = 0; i < steps.length; ++i) {
            approve(0);
            token.reenter(HostileToken.Behavior.PermitReentrant, address(registrar), steps[i]);
            succeedsRaw(buyer, permitCall(id, 1));
            refusedReentry();
            eq(registrar.purchase(id).paid, i + 1, "the outer payment counts once");
        }
    }

    function test_figuresReadDuringAPermitIncludeThePayment() public {
        bytes32 id = offer(hostile());
        token.reenter(
            HostileToken.Behavior.PermitReentrant, address(registrar), abi.encodeCall(registrar.figures, (id))
        );
        succeedsRaw(buyer, permitCall(id, 7));
        IPurchaseRegistrar.Figures memory inside = abi.decode(token.answer(), (IPurchaseRegistrar.Figures));
        eq(inside.paid, 7, "paid");
        eq(inside.sequence, 2, "sequence");
    }

    function test_aPermitWithoutEffectPaysOnlyWithAnAllowance() public {
        bytes32 id = offer(hostile());
        token.setBehavior(HostileToken.Behavior.PermitNoEffect);
        approve(9);
        refusesRaw(
            buyer,
            permitCall(id, 10),
            abi.encodeWithSelector(
                IERC20Errors.ERC20InsufficientAllowance.selector, address(registrar), 9, 10
            )
        );
        eq(registrar.purchase(id).paid, 0, "paid");
        approve(10);
        succeedsRaw(buyer, permitCall(id, 10));
        eq(registrar.purchase(id).paid, 10, "paid");
    }

    function test_aRevertingPermitPaysOnlyWithAnAllowance() public {
        bytes32 id = offer(hostile());
        token.setBehavior(HostileToken.Behavior.PermitReverting);
        approve(9);
        bytes memory reason = abi.encodeWithSignature("Error(string)", "HostileToken: no permit");
        refusesRaw(
            buyer,
            permitCall(id, 10),
            abi.encodeWithSelector(IPurchaseRegistrar.PermitRefused.selector, address(token), reason)
        );
        eq(registrar.purchase(id).paid, 0, "paid");
        approve(10);
        succeedsRaw(buyer, permitCall(id, 10));
        eq(registrar.purchase(id).paid, 10, "paid");
    }

    function test_anInexactPaymentWithPermitReverts() public {
        bytes32 id = offer(hostile());
        HostileToken.Behavior[7] memory behaviors = [
            HostileToken.Behavior.FeeOnReceiver,
            HostileToken.Behavior.FeeOnSender,
            HostileToken.Behavior.ExtraCredit,
            HostileToken.Behavior.NoTransfer,
            HostileToken.Behavior.ReturnsFalse,
            HostileToken.Behavior.ReturnsTwo,
            HostileToken.Behavior.Reverting
        ];
        for (uint256 i = 0; i < behaviors.length; ++i) {
            token.setBehavior(behaviors[i]);
            bytes32 before = trace(id);
            bytes memory data = permitCall(id, 10);
            vm.prank(buyer);
            (bool success,) = address(registrar).call(data);
            eq(success, false, "refused");
            eq(trace(id), before, "nothing changed");
            eq(token.nonces(buyer), 0, "the permit is unused");
        }
        token.setBehavior(HostileToken.Behavior.ReturnsNothing);
        succeedsRaw(buyer, permitCall(id, 10));
        eq(registrar.purchase(id).paid, 10, "a token without an answer pays");
    }

    /// @dev A purchase with the same parties and the token `money`, which can be any address.
    function offerIn(address money) private returns (bytes32) {
        IPurchaseRegistrar.FundingAuthorization memory authorization = fundingAuthorization();
        authorization.merchantRef = keccak256(abi.encode("mer", money));
        authorization.wallet = account("another merchant");
        authorization.token = money;
        bytes memory signature = signFunding(authorization);
        vm.prank(authorization.wallet);
        registrar.enroll(authorization, signature);
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        purchase.merchant = authorization.wallet;
        purchase.token = money;
        return offer(purchase);
    }

    function test_aTokenWithoutPermitsPaysOnlyWithAnAllowance() public {
        PlainToken plain = new PlainToken();
        plain.mint(buyer, 10);
        bytes32 id = offerIn(address(plain));
        bytes memory data = permitCall(id, 10);
        refusesRaw(
            buyer, data, abi.encodeWithSelector(IPurchaseRegistrar.PermitRefused.selector, address(plain), bytes(""))
        );
        vm.prank(buyer);
        plain.approve(address(registrar), 10);
        succeedsRaw(buyer, data);
        eq(registrar.purchase(id).paid, 10, "paid");
    }

    function test_aTokenWithoutCodeReverts() public {
        bytes32 id = offerIn(account("nothing there"));
        refusesRaw(buyer, permitCall(id, 10), "");
        refusesRaw(buyer, abi.encodeCall(registrar.pay, (id, 10)), "");
        eq(registrar.purchase(id).paid, 0, "paid");
    }

    /// @dev The reentrancy guard is released after each call.
    function test_twoCallsInOneTransactionSucceed() public {
        ContractWallet wallet = new ContractWallet();
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        purchase.buyer = address(wallet);
        bytes32 id = offer(purchase);
        usdc.faucet(address(wallet), 10);
        ContractWallet.Call[] memory calls = new ContractWallet.Call[](3);
        calls[0] = ContractWallet.Call(address(usdc), abi.encodeCall(usdc.approve, (address(registrar), 10)));
        calls[1] = ContractWallet.Call(address(registrar), abi.encodeCall(registrar.pay, (id, 4)));
        calls[2] = ContractWallet.Call(address(registrar), abi.encodeCall(registrar.pay, (id, 6)));
        wallet.multicall(calls);
        eq(registrar.purchase(id).paid, 10, "paid");
    }

    function test_aTokenCannotDrawDuringATransfer() public {
        bytes32 id = offer(hostile());
        token.reenter(
            HostileToken.Behavior.Reentrant,
            address(source),
            abi.encodeCall(source.draw, (address(usdc), merchant, address(token), 1))
        );
        pay(id, 1);
        eq(token.succeeded(), false, "refused");
        eq(usdc.balanceOf(address(token)), 0, "nothing was drawn");
    }

    /// @dev The registrar contract records a payment before its transfer; a failed transfer reverts both.
    function test_figuresReadDuringATransferIncludeIt() public {
        bytes32 id = offer(hostile());
        token.reenter(
            HostileToken.Behavior.Reentrant, address(registrar), abi.encodeCall(registrar.figures, (id))
        );
        pay(id, 7);
        IPurchaseRegistrar.Figures memory inside = abi.decode(token.answer(), (IPurchaseRegistrar.Figures));
        eq(inside.paid, 7, "paid");
        eq(inside.outstanding, AMOUNT - 7, "outstanding");
    }

    function test_programStateReadDuringATransferIncludesIt() public {
        bytes32 id = offer(hostile());
        token.reenter(
            HostileToken.Behavior.Reentrant, address(registrar), abi.encodeCall(registrar.programState, (PROGRAM))
        );
        pay(id, 7);
        IPurchaseRegistrar.ProgramState memory inside =
            abi.decode(token.answer(), (IPurchaseRegistrar.ProgramState));
        eq(inside.openOffers, AMOUNT - 7, "open offers");
    }

    function test_fundingReadDuringARefundIncludesIt() public {
        bytes32 id = offer(hostile());
        pay(id, 10);
        claim(id);
        token.reenter(
            HostileToken.Behavior.Reentrant,
            address(registrar),
            abi.encodeCall(registrar.funding, (PROGRAM, HOSTILE_REF))
        );
        collectRefund(id, 4, DECISION);
        IPurchaseRegistrar.FundingState memory inside =
            abi.decode(token.answer(), (IPurchaseRegistrar.FundingState));
        eq(inside.collected, 4, "collected");
        eq(inside.balance, 1_000_000_000 + 10, "the tokens are still under way");
    }

    function test_purchaseReadDuringARefundHasTheDecision() public {
        bytes32 id = offer(hostile());
        pay(id, 10);
        claim(id);
        token.reenter(
            HostileToken.Behavior.Reentrant, address(registrar), abi.encodeCall(registrar.purchase, (id))
        );
        collectRefund(id, 4, DECISION);
        IPurchaseRegistrar.PurchaseState memory inside =
            abi.decode(token.answer(), (IPurchaseRegistrar.PurchaseState));
        eq(inside.decisionHash, DECISION, "decision hash");
        eq(inside.claimHash, bytes32(0), "claim hash");
        eq(inside.refunded, 4, "refunded");
        eq(inside.sequence, 4, "sequence");
    }

    /// @dev One merchant's hostile token does not affect another merchant.
    function test_aHostileTokenAffectsOnlyItsOwnFunding() public {
        bytes32 id = offer(hostile());
        pay(id, 10);
        claim(id);
        uint256 balance = usdc.balanceOf(merchant);
        collectRefund(id, 10, DECISION);
        eq(registrar.funding(PROGRAM, HOSTILE_REF).collected, 10, "its own");
        eq(registrar.funding(PROGRAM, MERCHANT_REF).collected, 0, "the other's");
        eq(usdc.balanceOf(merchant), balance, "the other's balance");
    }

    // TestUSDC, paused or with a blocked account

    function test_aPausedTokenLeavesTheStateUnchanged() public {
        bytes32 id = claimed();
        IPurchaseRegistrar.Purchase memory second = commitment();
        second.salt = keccak256("second");
        bytes32 open = offer(second);
        bytes32 before = keccak256(abi.encode(registrar.purchase(id), registrar.purchase(open), openOffers()));
        vm.prank(admin);
        usdc.pause();
        refuses("Pausable: paused");
        vm.prank(buyer);
        registrar.pay(open, 1);
        refuses("Pausable: paused");
        vm.prank(operator);
        registrar.collectRefund(id, 1, DECISION);
        eq(
            keccak256(abi.encode(registrar.purchase(id), registrar.purchase(open), openOffers())),
            before,
            "nothing changed"
        );
        vm.prank(admin);
        usdc.unpause();
        collectRefund(id, 1, DECISION);
        eq(usdc.balanceOf(beneficiary), 1, "the refund arrives after the pause");
    }

    function test_aBlockedPartyStopsOnlyItsTransfers() public {
        bytes32 id = claimed();
        address[3] memory parties = [merchant, beneficiary, address(source)];
        for (uint256 i = 0; i < parties.length; ++i) {
            vm.prank(admin);
            usdc.blacklist(parties[i]);
            refuses("Blacklistable: account is blacklisted");
            vm.prank(operator);
            registrar.collectRefund(id, 1, DECISION);
            eq(registrar.purchase(id).decisionHash, bytes32(0), "no decision");
            vm.prank(admin);
            usdc.unBlacklist(parties[i]);
        }
        collectRefund(id, 1, DECISION);
        eq(usdc.balanceOf(beneficiary), 1, "the refund arrives");
    }

    function test_aRefundFromAnEmptiedWalletReverts() public {
        bytes32 id = claimed();
        uint256 balance = usdc.balanceOf(merchant);
        vm.prank(merchant);
        usdc.transfer(stranger, balance);
        refuses("ERC20: transfer amount exceeds balance");
        vm.prank(operator);
        registrar.collectRefund(id, 1, DECISION);
        eq(registrar.purchase(id).refunded, 0, "refunded");
    }

    // Signers with code

    function test_aSignerThatAcceptsEverySignatureGrantsNoOtherRights() public {
        ContractSigner yes = new ContractSigner(signer);
        yes.setBehavior(ContractSigner.Behavior.AcceptsAll);
        vm.prank(admin);
        registrar.setBounds(PROGRAM, operator, address(yes), bounds());
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        // The caller and the limits of the funding are still checked.
        refusesCaller(stranger, operator);
        vm.prank(stranger);
        registrar.offer(purchase, "");
        purchase.amount = CAP + 1;
        refuses(abi.encodeWithSelector(IPurchaseRegistrar.FundingInsufficient.selector, CAP + 1, CAP));
        vm.prank(merchant);
        registrar.register(purchase, "");
    }

    function test_aSignerThatStopsAcceptingDoesNotAffectPurchasesOnChain() public {
        ContractSigner fickle = new ContractSigner(signer);
        vm.prank(admin);
        registrar.setBounds(PROGRAM, operator, address(fickle), bounds());
        bytes32 id = offer();
        fickle.setBehavior(ContractSigner.Behavior.RefusesAll);
        pay(id, AMOUNT);
        claim(id);
        collectRefund(id, AMOUNT, DECISION);
        eq(usdc.balanceOf(beneficiary), AMOUNT, "the refund arrives");
    }

    // Wallets with code

    function test_noContractWalletPaysForTheBuyer() public {
        bytes32 id = offer();
        ContractWallet wallet = new ContractWallet();
        bytes[2] memory calls = [abi.encodeCall(registrar.pay, (id, 1)), permitCall(id, 1)];
        bytes memory reason =
            abi.encodeWithSelector(IPurchaseRegistrar.WrongCaller.selector, address(wallet), buyer);
        for (uint256 i = 0; i < calls.length; ++i) {
            refuses(abi.encodeWithSelector(ContractWallet.CallFailed.selector, address(registrar), reason));
            vm.prank(buyer);
            wallet.forward(address(registrar), calls[i]);

            vm.prank(buyer);
            eq(wallet.attempt(address(registrar), calls[i]), false, "attempt returns false");
            eq(registrar.purchase(id).paid, 0, "paid");
        }
    }

    function test_aConstructorCannotPayForTheBuyer() public {
        bytes32 id = offer();
        vm.expectRevert();
        vm.prank(buyer);
        new ConstructorCaller(address(registrar), abi.encodeCall(registrar.pay, (id, 1)));
        bytes memory permitted = permitCall(id, 1);
        vm.expectRevert();
        vm.prank(buyer);
        new ConstructorCaller(address(registrar), permitted);
        eq(registrar.purchase(id).paid, 0, "paid");
    }

    function test_aDelegatecallChangesOnlyTheWalletsOwnStorage() public {
        bytes32 id = offer();
        ContractWallet wallet = new ContractWallet();
        refuses(
            abi.encodeWithSelector(
                ContractWallet.CallFailed.selector,
                address(registrar),
                abi.encodeWithSelector(IPurchaseRegistrar.UnknownPurchase.selector, id)
            )
        );
        vm.prank(buyer);
        wallet.delegate(address(registrar), abi.encodeCall(registrar.pay, (id, 1)));
        eq(registrar.purchase(id).paid, 0, "paid");
    }

    function test_aProxyOfTheRegistrarHasItsOwnPurchases() public {
        bytes32 id = offer();
        UpgradeableProxy proxy = new UpgradeableProxy(address(registrar));
        refusesUnknown(id);
        vm.prank(buyer);
        IPurchaseRegistrar(address(proxy)).pay(id, 1);

        // After the upgrade the same call succeeds and emits the registrar's log, but pays nothing.
        proxy.upgradeTo(address(new LookalikeRegistrar()));
        vm.recordLogs();
        vm.prank(buyer);
        IPurchaseRegistrar(address(proxy)).pay(id, 1);
        eq(vm.getRecordedLogs()[0].emitter, address(proxy), "the emitter tells");
        eq(registrar.purchase(id).paid, 0, "paid");
        // The EIP-712 domain is that of the proxy, so a signature for the registrar contract is not valid there.
        proxy.upgradeTo(address(registrar));
        eq(
            IPurchaseRegistrar(address(proxy)).hashPurchase(commitment()) == id, false, "another id for the same terms"
        );
    }

    function test_aLookalikesLogHasAnotherEmitter() public {
        bytes32 id = offer();
        LookalikeRegistrar lookalike = new LookalikeRegistrar();
        vm.recordLogs();
        lookalike.emitPayment(
            LookalikeRegistrar.Payment(id, buyer, merchant, 2, AMOUNT, AMOUNT)
        );
        eq(vm.getRecordedLogs()[0].emitter, address(lookalike), "the emitter tells");
        eq(registrar.purchase(id).paid, 0, "paid");
    }

    function test_noContractAcceptsEther() public {
        vm.deal(address(this), 2);
        (bool success,) = address(registrar).call{value: 1}("");
        eq(success, false, "the registrar");
        (success,) = address(source).call{value: 1}("");
        eq(success, false, "the funding source");
    }
}
