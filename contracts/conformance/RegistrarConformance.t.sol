// SPDX-License-Identifier: MIT
pragma solidity >=0.8.4;

import {RegistrarHashing} from "../hashing/RegistrarHashing.sol";
import {IFundingSource} from "../interfaces/IFundingSource.sol";
import {IPurchaseRegistrar} from "../interfaces/IPurchaseRegistrar.sol";
import {MockFundingSource} from "../mocks/MockFundingSource.sol";
import {MockToken} from "../mocks/MockToken.sol";
import {MockWallet} from "../mocks/MockWallet.sol";
import {Cheatcodes} from "./Cheatcodes.sol";

/// @title RegistrarConformance
/// @notice Tests a registrar contract against the interface. Inherit from it, and deploy your contract in `deployRegistrar`.
/// @dev Runs under `hardhat test solidity` and `forge test`. It is a smoke test: each rule once, in one state. It does not check which
/// errors a refusal reverts with. `RegistrarInvariants` tries many purchases of several merchants at once, and
/// `routing-sandbox check-contract` every rule in every state.
abstract contract RegistrarConformance {
    Cheatcodes private constant vm = Cheatcodes(address(uint160(uint256(keccak256("hevm cheat code")))));

    error NotEqual(string what, uint256 actual, uint256 expected);
    error NotRefused(string what);

    /// @notice The digests that the TypeScript core computes, for chain 31337 and the registrar contract 0xabc.
    bytes32 internal constant PURCHASE_VECTOR = 0xee6637ff2ff6d73599a490768b0d92141b5b05f5c92e4c9797d77df8f8a3ef03;
    bytes32 internal constant FUNDING_VECTOR = 0xccaf2b2e607954ab38027247f9b8f9c618aab6eefa7bd8a4358b681a22e25816;
    bytes32 internal constant CLAIM_VECTOR = 0x573976e826d19567117730bc348cc7f38cba4bc4458342e718e34a94aaaac001;

    uint256 private constant SIGNER_KEY = 0xA11CE;
    uint64 private constant START = 1_800_000_000;
    uint256 private constant AMOUNT = 25_000_000;
    uint256 private constant CAP = 60_000_000;
    bytes32 private constant PROGRAM = keccak256("prg_conformance");
    bytes32 private constant MERCHANT_REF = keccak256("mer_conformance");
    bytes32 private constant CLAIM_HASH = keccak256("claim");
    bytes32 private constant DECISION = keccak256("decision");

    address private constant ADMIN = address(0xA01);
    address private constant OPERATOR = address(0xA02);
    address private constant MERCHANT = address(0xA03);
    address private constant BUYER = address(0xA04);
    address private constant BENEFICIARY = address(0xA05);
    address private constant STRANGER = address(0xA06);

    IPurchaseRegistrar internal registrar;
    MockToken internal token;

    /// @notice Deploys the contract under test, with its proxy if it has one.
    function deployRegistrar() internal virtual returns (IPurchaseRegistrar);

    function setUp() public virtual {
        vm.warp(START);
        registrar = deployRegistrar();
        token = new MockToken();
        vm.prank(ADMIN);
        registrar.openProgram(
            PROGRAM, OPERATOR, vm.addr(SIGNER_KEY), IPurchaseRegistrar.Bounds(AMOUNT, 2 * AMOUNT, START + 100 days)
        );
        IPurchaseRegistrar.FundingAuthorization memory authorization = funding();
        bytes memory signature = sign(RegistrarHashing.hashFunding(separator(), authorization));
        vm.prank(MERCHANT);
        registrar.enroll(authorization, signature);
        token.mint(BUYER, 1_000_000_000);
        token.mint(MERCHANT, 1_000_000_000);
        vm.prank(BUYER);
        token.approve(address(registrar), type(uint256).max);
        address source = registrar.fundingSource();
        vm.prank(MERCHANT);
        token.approve(source, type(uint256).max);
    }

    // Digests

    function test_digestsEqualThoseOfTheLibrary() public view {
        IPurchaseRegistrar.Claim memory claimData = IPurchaseRegistrar.Claim(word(1), BENEFICIARY, 3, word(4));
        eq(registrar.hashPurchase(terms(1)), RegistrarHashing.hashPurchase(separator(), terms(1)), "hashPurchase");
        eq(registrar.hashFunding(funding()), RegistrarHashing.hashFunding(separator(), funding()), "hashFunding");
        eq(registrar.hashClaim(claimData), RegistrarHashing.hashClaim(separator(), claimData), "hashClaim");
    }

    function test_digestsOfTheLibraryEqualTheVectors() public pure {
        bytes32 domain = RegistrarHashing.domainSeparator(31_337, address(0xabc));
        IPurchaseRegistrar.Purchase memory purchase = IPurchaseRegistrar.Purchase(
            word(1), word(2), address(3), address(4), address(5), address(6), 7, word(8), 9, 10, 11, word(12)
        );
        IPurchaseRegistrar.FundingAuthorization memory authorization =
            IPurchaseRegistrar.FundingAuthorization(word(1), word(2), address(3), address(4), 5, 6, word(7));
        IPurchaseRegistrar.Claim memory claimData = IPurchaseRegistrar.Claim(word(1), address(2), 3, word(4));
        eq(RegistrarHashing.hashPurchase(domain, purchase), PURCHASE_VECTOR, "hashPurchase");
        eq(RegistrarHashing.hashFunding(domain, authorization), FUNDING_VECTOR, "hashFunding");
        eq(RegistrarHashing.hashClaim(domain, claimData), CLAIM_VECTOR, "hashClaim");
    }

    function test_theFundingSourceBelongsToTheRegistrar() public {
        IFundingSource source = IFundingSource(registrar.fundingSource());
        eq(uint160(source.registrar()), uint160(address(registrar)), "registrar of the funding source");
        bytes memory call =
            abi.encodeWithSelector(IFundingSource.draw.selector, address(token), MERCHANT, STRANGER, uint256(1));
        refused(STRANGER, address(source), call, "draw by a stranger");
    }

    // Both routes, from enrollment to refund

    function test_anOfferIsPaidClaimedAndRefunded() public {
        bytes32 id = offer(1);
        eq(registrar.programState(PROGRAM).openOffers, AMOUNT, "open offers");
        refund(id);
        eq(registrar.programState(PROGRAM).openOffers, 0, "open offers after the payment");
    }

    function test_aRegisteredPurchaseIsPaidClaimedAndRefunded() public {
        bytes32 id = register(1);
        eq(registrar.programState(PROGRAM).openOffers, 0, "open offers");
        refund(id);
    }

    function test_aRefundIsCollectedOnce() public {
        bytes32 id = offer(1);
        refund(id);
        refused(OPERATOR, collecting(id, 1), "second refund");
        refused(BUYER, paying(id, 1), "payment after the refund");
        refused(BENEFICIARY, claiming(id), "claim after the refund");
    }

    // Callers

    function test_onlyTheNamedAccountsMayCall() public {
        bytes memory signature = signTerms(1);
        bytes memory offering = abi.encodeWithSelector(IPurchaseRegistrar.offer.selector, terms(1), signature);
        bytes memory registering = abi.encodeWithSelector(IPurchaseRegistrar.register.selector, terms(1), signature);
        refused(MERCHANT, offering, "offer by the merchant");
        refused(OPERATOR, registering, "registration by the operator");
        bytes32 id = offer(1);
        token.mint(STRANGER, AMOUNT);
        vm.prank(STRANGER);
        token.approve(address(registrar), AMOUNT);
        refused(STRANGER, paying(id, 1), "payment by a stranger");
        pay(id, AMOUNT);
        refused(BUYER, claiming(id), "claim by the buyer");
        claim(id);
        refused(MERCHANT, collecting(id, 1), "refund by the merchant");
        refused(
            STRANGER,
            abi.encodeWithSelector(IPurchaseRegistrar.setPaused.selector, PROGRAM, true),
            "pause by a stranger"
        );
        refused(
            STRANGER,
            abi.encodeWithSelector(IPurchaseRegistrar.revokeFunding.selector, PROGRAM, MERCHANT_REF),
            "revocation by a stranger"
        );
    }

    function test_aSignatureOfAnotherKeyIsRefused() public {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(SIGNER_KEY + 1, registrar.hashPurchase(terms(1)));
        bytes memory signature = abi.encodePacked(r, s, v);
        refused(
            OPERATOR,
            abi.encodeWithSelector(IPurchaseRegistrar.offer.selector, terms(1), signature),
            "offer with the signature of another key"
        );
    }

    // Amounts and deadlines

    function test_amountsAreBounded() public {
        bytes32 id = offer(1);
        refused(BUYER, paying(id, 0), "payment of 0");
        refused(BUYER, paying(id, AMOUNT + 1), "overpayment");
        refused(BENEFICIARY, claiming(id), "claim before a payment");
        pay(id, AMOUNT - 1);
        refused(BUYER, paying(id, 2), "overpayment in two payments");
        refused(OPERATOR, collecting(id, 1), "refund before the claim");
        claim(id);
        refused(OPERATOR, collecting(id, AMOUNT), "refund of more than was paid");
        refused(OPERATOR, collecting(id, 0), "refund of 0");
    }

    function test_theBudgetOfOpenOffersIsKept() public {
        offer(1);
        bytes32 second = offer(2);
        bytes memory third = abi.encodeWithSelector(IPurchaseRegistrar.offer.selector, terms(3), signTerms(3));
        refused(OPERATOR, third, "offer above the budget");
        vm.prank(OPERATOR);
        registrar.withdrawOffer(second);
        offer(3);
    }

    function test_deadlinesIncludeTheirLastSecond() public {
        bytes32 id = offer(1);
        vm.warp(START + 2 days);
        refused(STRANGER, abi.encodeWithSelector(IPurchaseRegistrar.expire.selector, id), "early expiry");
        pay(id, 1);
        vm.warp(START + 2 days + 1);
        refused(BUYER, paying(id, 1), "late payment");
        vm.prank(STRANGER);
        registrar.expire(id);
        eq(registrar.programState(PROGRAM).openOffers, 0, "open offers after the expiry");
        vm.warp(START + 30 days + 1);
        refused(BENEFICIARY, claiming(id), "late claim");
        vm.warp(START + 30 days);
        claim(id);
        vm.warp(START + 90 days + 1);
        refused(OPERATOR, collecting(id, 1), "refund after the funding has ended");
        vm.warp(START + 90 days);
        collect(id, 1);
    }

    function test_nothingBlocksARefundThatIsDue() public {
        bytes32 id = offer(1);
        pay(id, AMOUNT);
        claim(id);
        vm.prank(ADMIN);
        registrar.setPaused(PROGRAM, true);
        vm.prank(MERCHANT);
        registrar.revokeFunding(PROGRAM, MERCHANT_REF);
        vm.warp(START + 89 days);
        collect(id, AMOUNT);
    }

    // Calldata and tokens

    function test_calldataMustBeCanonical() public {
        bytes32 id = offer(1);
        refused(BUYER, abi.encodePacked(paying(id, 1), hex"00"), "payment with a trailing byte");
        bytes memory call = abi.encodeWithSelector(IPurchaseRegistrar.offer.selector, terms(2), signTerms(2));
        refused(OPERATOR, abi.encodePacked(call, hex"00"), "offer with a trailing byte");
        pay(id, 1);
        refused(BENEFICIARY, abi.encodePacked(claiming(id), hex"00"), "claim with a trailing byte");
    }

    function test_hostileTokensAreRefused() public {
        MockToken.Mode[6] memory modes = [
            MockToken.Mode.Fee,
            MockToken.Mode.MovesNothing,
            MockToken.Mode.ReturnsFalse,
            MockToken.Mode.CallsBack,
            MockToken.Mode.Bonus,
            MockToken.Mode.RevertsWithError
        ];
        bytes32 id = offer(1);
        for (uint256 i = 0; i < modes.length; ++i) {
            token.setMode(modes[i], paying(id, 1));
            refused(BUYER, paying(id, 2), "payment with a hostile token");
            refused(BUYER, payingWithPermit(id, 2), "payment with a permit of a hostile token");
        }
        token.setMode(MockToken.Mode.Honest, "");
        pay(id, AMOUNT);
        claim(id);
        for (uint256 i = 0; i < modes.length; ++i) {
            token.setMode(modes[i], collecting(id, 1));
            refused(OPERATOR, collecting(id, 2), "refund with a hostile token");
        }
        token.setMode(MockToken.Mode.Honest, "");
        collect(id, 2);
    }

    /// @dev A contract may accept or refuse such a token, but must not record another amount than the token has moved.
    function test_theBooksAreExactWhateverATokenReturns() public {
        bytes32 id = offer(1);
        exact(id, MockToken.Mode.ReturnsNothing);
        exact(id, MockToken.Mode.ReturnsHugeData);
    }

    function test_theBooksDoNotFollowBalances() public {
        bytes32 id = offer(1);
        pay(id, 10);
        token.setBalance(BUYER, 3);
        token.setBalance(MERCHANT, 20);
        token.setBalance(address(registrar), 5);
        eq(registrar.figures(id).paid, 10, "paid after balances have changed");
        claim(id);
        refused(OPERATOR, collecting(id, 11), "refund of more than was paid");
        collect(id, 10);
        eq(token.balanceOf(MERCHANT), 10, "the merchant's balance after the refund");
        eq(token.balanceOf(address(registrar)), 5, "the balance of the registrar contract");
    }

    function test_aPauseOrABlockOfTheTokenOnlyDelays() public {
        bytes32 id = offer(1);
        token.setPaused(true);
        refused(BUYER, paying(id, 1), "payment while the token is paused");
        token.setPaused(false);
        token.setBlocked(MERCHANT, true);
        refused(BUYER, paying(id, 1), "payment to a blocked merchant");
        token.setBlocked(MERCHANT, false);
        pay(id, AMOUNT);
        claim(id);
        token.setBlocked(BENEFICIARY, true);
        refused(OPERATOR, collecting(id, 1), "refund to a blocked beneficiary");
        token.setBlocked(BENEFICIARY, false);
        collect(id, 1);
    }

    function test_aTokenWith18DecimalsIsPaidAndRefunded() public {
        token.setDecimals(18);
        refund(offer(1));
    }

    function test_aRefundWhoseFundingSourceFailsIsNotRecorded() public {
        bytes32 id = offer(1);
        bytes32 open = offer(2);
        pay(id, AMOUNT);
        claim(id);
        vm.warp(START + 2 days + 1);
        MockFundingSource source = MockFundingSource(registrar.fundingSource());
        vm.etch(address(source), address(new MockFundingSource()).code);
        source.setMode(MockFundingSource.Mode.Reverts, "");
        refused(OPERATOR, collecting(id, 1), "refund without a draw");
        source.setMode(
            MockFundingSource.Mode.CallsBack, abi.encodeWithSelector(IPurchaseRegistrar.expire.selector, open)
        );
        refused(OPERATOR, collecting(id, 1), "refund during which the funding source calls back");
        eq(registrar.figures(id).refunded, 0, "refunded");
        source.setMode(MockFundingSource.Mode.Honest, "");
        collect(id, 1);
        registrar.expire(open);
    }

    function test_aContractSignerThatDoesNotAcceptIsRefused() public {
        MockWallet signer = new MockWallet();
        bytes32 program = keccak256("prg_contract_signer");
        vm.prank(ADMIN);
        registrar.openProgram(
            program, OPERATOR, address(signer), IPurchaseRegistrar.Bounds(AMOUNT, AMOUNT, START + 100 days)
        );
        IPurchaseRegistrar.FundingAuthorization memory authorization = funding();
        authorization.program = program;
        bytes memory call = abi.encodeWithSelector(IPurchaseRegistrar.enroll.selector, authorization, hex"01");
        for (uint256 mode = uint256(MockWallet.Mode.Denies); mode <= uint256(MockWallet.Mode.BurnsGas); ++mode) {
            signer.setMode(MockWallet.Mode(mode));
            vm.prank(MERCHANT);
            (bool success,) = address(registrar).call{gas: 10_000_000}(call);
            if (success) revert NotRefused("enrollment that a contract signer has not accepted");
        }
    }

    // Steps

    function terms(uint256 number) internal view returns (IPurchaseRegistrar.Purchase memory) {
        return IPurchaseRegistrar.Purchase({
            program: PROGRAM,
            purchaseRef: bytes32(number),
            merchant: MERCHANT,
            buyer: BUYER,
            beneficiary: BENEFICIARY,
            token: address(token),
            amount: AMOUNT,
            termsHash: keccak256("terms"),
            offerDeadline: START + 1 days,
            payDeadline: START + 2 days,
            claimDeadline: START + 30 days,
            salt: bytes32(number)
        });
    }

    function funding() internal view returns (IPurchaseRegistrar.FundingAuthorization memory) {
        return IPurchaseRegistrar.FundingAuthorization(
            PROGRAM, MERCHANT_REF, MERCHANT, address(token), CAP, START + 90 days, bytes32(uint256(1))
        );
    }

    function offer(uint256 number) internal returns (bytes32) {
        bytes memory signature = signTerms(number);
        vm.prank(OPERATOR);
        return registrar.offer(terms(number), signature);
    }

    function register(uint256 number) internal returns (bytes32) {
        bytes memory signature = signTerms(number);
        vm.prank(MERCHANT);
        return registrar.register(terms(number), signature);
    }

    function pay(bytes32 id, uint256 amount) internal {
        vm.prank(BUYER);
        registrar.pay(id, amount);
    }

    function claim(bytes32 id) internal {
        vm.prank(BENEFICIARY);
        registrar.claim(id, CLAIM_HASH);
    }

    function collect(bytes32 id, uint256 award) internal {
        vm.prank(OPERATOR);
        registrar.collectRefund(id, award, DECISION);
    }

    /// @dev Pays in two parts, claims, and refunds a part; checks every amount on the way.
    function refund(bytes32 id) internal {
        uint256 merchantHad = token.balanceOf(MERCHANT);
        pay(id, 10_000_000);
        pay(id, AMOUNT - 10_000_000);
        eq(token.balanceOf(MERCHANT), merchantHad + AMOUNT, "the merchant's balance after the payments");
        claim(id);
        eq(registrar.figures(id).claimHash, CLAIM_HASH, "claim hash");
        collect(id, 5_000_000);
        eq(token.balanceOf(MERCHANT), merchantHad + AMOUNT - 5_000_000, "the merchant's balance after the refund");
        eq(token.balanceOf(BENEFICIARY), 5_000_000, "the beneficiary's balance");
        eq(token.balanceOf(address(registrar)), 0, "the balance of the registrar contract");
        IPurchaseRegistrar.Figures memory figures = registrar.figures(id);
        eq(figures.paid, AMOUNT, "paid");
        eq(figures.outstanding, 0, "outstanding");
        eq(figures.refunded, 5_000_000, "refunded");
        eq(figures.sequence, 5, "sequence");
        eq(figures.decisionHash, DECISION, "decision hash");
        eq(registrar.funding(PROGRAM, MERCHANT_REF).collected, 5_000_000, "collected");
    }

    function paying(bytes32 id, uint256 amount) internal pure returns (bytes memory) {
        return abi.encodeWithSelector(IPurchaseRegistrar.pay.selector, id, amount);
    }

    function payingWithPermit(bytes32 id, uint256 amount) internal pure returns (bytes memory) {
        return abi.encodeWithSelector(
            IPurchaseRegistrar.payWithPermit.selector, id, amount, type(uint256).max, uint8(27), word(1), word(2)
        );
    }

    function claiming(bytes32 id) internal pure returns (bytes memory) {
        return abi.encodeWithSelector(IPurchaseRegistrar.claim.selector, id, CLAIM_HASH);
    }

    function collecting(bytes32 id, uint256 award) internal pure returns (bytes memory) {
        return abi.encodeWithSelector(IPurchaseRegistrar.collectRefund.selector, id, award, DECISION);
    }

    function separator() internal view returns (bytes32) {
        return RegistrarHashing.domainSeparator(block.chainid, address(registrar));
    }

    function signTerms(uint256 number) internal view returns (bytes memory) {
        return sign(RegistrarHashing.hashPurchase(separator(), terms(number)));
    }

    function sign(bytes32 digest) internal pure returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(SIGNER_KEY, digest);
        return abi.encodePacked(r, s, v);
    }

    // Assertions

    /// @dev Tries to pay 10, and checks that the recorded amount is the amount that has moved.
    function exact(bytes32 id, MockToken.Mode mode) internal {
        uint256 paid = registrar.figures(id).paid;
        uint256 buyerHad = token.balanceOf(BUYER);
        uint256 merchantHad = token.balanceOf(MERCHANT);
        token.setMode(mode, "");
        vm.prank(BUYER);
        (bool success,) = address(registrar).call(paying(id, 10));
        uint256 moved = success ? 10 : 0;
        eq(registrar.figures(id).paid, paid + moved, "paid");
        eq(token.balanceOf(BUYER), buyerHad - moved, "the buyer's balance");
        eq(token.balanceOf(MERCHANT), merchantHad + moved, "the merchant's balance");
    }

    function refused(address caller, bytes memory call, string memory what) internal {
        refused(caller, address(registrar), call, what);
    }

    function refused(address caller, address target, bytes memory call, string memory what) internal {
        vm.prank(caller);
        (bool success,) = target.call(call);
        if (success) revert NotRefused(what);
    }

    function eq(uint256 actual, uint256 expected, string memory what) internal pure {
        if (actual != expected) revert NotEqual(what, actual, expected);
    }

    function eq(bytes32 actual, bytes32 expected, string memory what) internal pure {
        eq(uint256(actual), uint256(expected), what);
    }

    function word(uint256 value) private pure returns (bytes32) {
        return bytes32(value);
    }
}
