// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {FundingSource} from "../FundingSource.sol";
import {PurchaseRegistrar} from "../PurchaseRegistrar.sol";
import {TestUSDC} from "../TestUSDC.sol";
import {ICommonErrors} from "../interfaces/ICommonErrors.sol";
import {IPurchaseRegistrar} from "../interfaces/IPurchaseRegistrar.sol";
import {Assertions} from "./Assertions.t.sol";

/// @title Fixture
/// @notice Sets up one program with one merchant, through the contracts' public functions.
abstract contract Fixture is Assertions {
    uint256 internal constant SIGNER_KEY = 0xA11CE;
    uint256 internal constant CURVE_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141;
    /// @dev A time that a field of 48 bits would cut.
    uint64 internal constant START = 2 ** 52;
    uint64 internal constant OFFER_DEADLINE = START + 1 hours;
    uint64 internal constant PAY_DEADLINE = START + 1 days;
    uint64 internal constant CLAIM_DEADLINE = START + 30 days;
    uint64 internal constant FUNDING_UNTIL = START + 90 days;
    uint64 internal constant BOUNDS_UNTIL = START + 120 days;
    uint256 internal constant AMOUNT = 25_000_000;
    uint256 internal constant CAP = 60_000_000;
    uint256 internal constant MAX_PURCHASE = 40_000_000;
    uint256 internal constant OPEN_BUDGET = 70_000_000;

    bytes32 internal constant PROGRAM = keccak256("prg_demo");
    bytes32 internal constant MERCHANT_REF = keccak256("mer_demo");
    bytes32 internal constant CLAIM_HASH = keccak256("claim");
    bytes32 internal constant DECISION = keccak256("decision");

    address internal admin = account("admin");
    address internal operator = account("operator");
    address internal merchant = account("merchant");
    address internal buyer = account("buyer");
    address internal beneficiary = account("beneficiary");
    address internal stranger = account("stranger");
    address internal signer = vm.addr(SIGNER_KEY);

    TestUSDC internal usdc;
    PurchaseRegistrar internal registrar;
    FundingSource internal source;

    function setUp() public virtual {
        vm.warp(START);
        usdc = newUSDC("USDC", "USDC", admin, admin, admin, admin);
        registrar = newRegistrar();
        source = FundingSource(registrar.fundingSource());

        vm.prank(admin);
        registrar.openProgram(PROGRAM, operator, signer, bounds());

        IPurchaseRegistrar.FundingAuthorization memory authorization = fundingAuthorization();
        bytes memory signature = signFunding(authorization);
        vm.prank(merchant);
        registrar.enroll(authorization, signature);

        usdc.faucet(buyer, 1_000_000_000);
        usdc.faucet(merchant, 1_000_000_000);
        vm.prank(buyer);
        usdc.approve(address(registrar), 1_000_000_000);
        vm.prank(merchant);
        usdc.approve(address(source), 1_000_000_000);
    }

    // Terms

    function bounds() internal pure returns (IPurchaseRegistrar.Bounds memory) {
        return IPurchaseRegistrar.Bounds({
            maxPurchase: MAX_PURCHASE,
            openBudget: OPEN_BUDGET,
            validUntil: BOUNDS_UNTIL
        });
    }

    function fundingAuthorization() internal view returns (IPurchaseRegistrar.FundingAuthorization memory) {
        return IPurchaseRegistrar.FundingAuthorization({
            program: PROGRAM,
            merchantRef: MERCHANT_REF,
            wallet: merchant,
            token: address(usdc),
            cap: CAP,
            validUntil: FUNDING_UNTIL,
            salt: keccak256("funding salt")
        });
    }

    function commitment() internal view returns (IPurchaseRegistrar.Purchase memory) {
        return IPurchaseRegistrar.Purchase({
            program: PROGRAM,
            purchaseRef: keccak256("pur_1"),
            merchant: merchant,
            buyer: buyer,
            beneficiary: beneficiary,
            token: address(usdc),
            amount: AMOUNT,
            termsHash: keccak256("terms"),
            offerDeadline: OFFER_DEADLINE,
            payDeadline: PAY_DEADLINE,
            claimDeadline: CLAIM_DEADLINE,
            salt: keccak256("purchase salt")
        });
    }

    // Signatures

    function sign(uint256 key, bytes32 digest) internal pure returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, digest);
        return abi.encodePacked(r, s, v);
    }

    /// @dev The malleated signature of the signer: n - s, and the other v.
    function malleate(bytes32 digest) internal pure returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(SIGNER_KEY, digest);
        return abi.encodePacked(r, bytes32(CURVE_ORDER - uint256(s)), v == 27 ? uint8(28) : uint8(27));
    }

    function signFunding(IPurchaseRegistrar.FundingAuthorization memory authorization)
        internal
        view
        returns (bytes memory)
    {
        return sign(SIGNER_KEY, registrar.hashFunding(authorization));
    }

    function signPurchase(IPurchaseRegistrar.Purchase memory purchase) internal view returns (bytes memory) {
        return sign(SIGNER_KEY, registrar.hashPurchase(purchase));
    }

    // Calls, each by the allowed caller

    function offer(IPurchaseRegistrar.Purchase memory purchase) internal returns (bytes32) {
        bytes memory signature = signPurchase(purchase);
        vm.prank(operator);
        return registrar.offer(purchase, signature);
    }

    function offer() internal returns (bytes32) {
        return offer(commitment());
    }

    function register(IPurchaseRegistrar.Purchase memory purchase) internal returns (bytes32) {
        bytes memory signature = signPurchase(purchase);
        vm.prank(purchase.merchant);
        return registrar.register(purchase, signature);
    }

    function pay(bytes32 id, uint256 amount) internal {
        vm.prank(buyer);
        registrar.pay(id, amount);
    }

    function claim(bytes32 id) internal {
        vm.prank(beneficiary);
        registrar.claim(id, CLAIM_HASH);
    }

    function collectRefund(bytes32 id, uint256 award, bytes32 decision) internal {
        vm.prank(operator);
        registrar.collectRefund(id, award, decision);
    }

    function revoke() internal {
        vm.prank(merchant);
        registrar.revokeFunding(PROGRAM, MERCHANT_REF);
    }

    /// @dev An offer, paid in full and claimed.
    function claimed() internal returns (bytes32 id) {
        id = offer();
        pay(id, AMOUNT);
        claim(id);
    }

    function openOffers() internal view returns (uint256) {
        return registrar.programState(PROGRAM).openOffers;
    }

    /// @dev All parties except `entitled`.
    function everyoneBut(address entitled) internal view returns (address[] memory others) {
        address[9] memory parties = [
            admin,
            operator,
            signer,
            merchant,
            buyer,
            beneficiary,
            stranger,
            address(source),
            address(registrar)
        ];
        others = new address[](8);
        uint256 count;
        for (uint256 i = 0; i < parties.length; ++i) {
            if (parties[i] != entitled) others[count++] = parties[i];
        }
        eq(count, 8, "the entitled account is a party");
    }

    /// @dev The call reverts with `WrongCaller` for all other parties and succeeds for `entitled`.
    function onlyFor(address entitled, bytes memory data) internal {
        address[] memory others = everyoneBut(entitled);
        for (uint256 i = 0; i < others.length; ++i) {
            refusesRaw(
                others[i],
                data,
                abi.encodeWithSelector(IPurchaseRegistrar.WrongCaller.selector, others[i], entitled)
            );
        }
        succeedsRaw(entitled, data);
    }

    // Expected reverts

    function refuses(bytes memory data) internal {
        vm.expectRevert(data);
    }

    function refusesCaller(address actual, address expected) internal {
        refuses(abi.encodeWithSelector(IPurchaseRegistrar.WrongCaller.selector, actual, expected));
    }

    function refusesTime(uint256 deadline) internal {
        refuses(abi.encodeWithSelector(IPurchaseRegistrar.DeadlinePassed.selector, deadline + 1, deadline));
    }

    function refusesAmount(string memory value, uint256 actual, uint256 min, uint256 max) internal {
        refuses(abi.encodeWithSelector(IPurchaseRegistrar.AmountOutOfRange.selector, value, actual, min, max));
    }

    function refusesUnknown(bytes32 id) internal {
        refuses(abi.encodeWithSelector(IPurchaseRegistrar.UnknownPurchase.selector, id));
    }

    function refusesPaused() internal {
        refuses(abi.encodeWithSelector(IPurchaseRegistrar.ProgramPaused.selector, PROGRAM));
    }

    function refusesZero() internal {
        refuses(abi.encodeWithSelector(IPurchaseRegistrar.ZeroValue.selector));
    }

    function pause() internal {
        vm.prank(admin);
        registrar.setPaused(PROGRAM, true);
    }

    /// @dev Appends zeros, and an attribution suffix, to calldata that succeeds without them.
    function refusesTrailing(address sender, bytes memory canonicalCall) internal {
        uint256 length = canonicalCall.length;
        bytes[5] memory suffixes = trailing();
        for (uint256 i = 0; i < suffixes.length; ++i) {
            refusesRaw(
                sender,
                abi.encodePacked(canonicalCall, suffixes[i]),
                abi.encodeWithSelector(ICommonErrors.NonCanonicalLength.selector, length + suffixes[i].length, length)
            );
        }
        succeedsRaw(sender, canonicalCall);
    }

    function trailing() internal pure returns (bytes[5] memory) {
        return [
            bytes(hex"00"),
            abi.encodePacked(bytes32(0)),
            abi.encodePacked(bytes32(0), bytes32(0)),
            // ERC-8021: a code, its length, the schema and the marker.
            abi.encodePacked("shop", uint8(4), uint8(0), hex"80218021802180218021802180218021"),
            new bytes(1_000)
        ];
    }

    /// @dev Signatures that are not the signer's own of the digest.
    function wrongSignatures(bytes32 digest) internal pure returns (bytes[9] memory) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(SIGNER_KEY, digest);
        bytes32 personal = keccak256(abi.encodePacked("\x19Ethereum Signed Message:\n32", digest));
        return [
            sign(SIGNER_KEY, personal),
            sign(SIGNER_KEY, keccak256(abi.encodePacked(digest))),
            sign(SIGNER_KEY + 1, digest),
            malleate(digest),
            abi.encodePacked(r, s),
            abi.encodePacked(r, bytes32(uint256(s) | (uint256(v - 27) << 255))),
            abi.encodePacked(r, s, v - 27),
            abi.encodePacked(r, s, v, bytes1(0)),
            new bytes(65)
        ];
    }

    /// @dev As above, for a function with dynamic arguments.
    function refusesOtherEncoding(address sender, bytes memory other, bytes memory canonicalCall) internal {
        refusesRaw(
            sender,
            other,
            abi.encodeWithSelector(
                ICommonErrors.NonCanonicalEncoding.selector, keccak256(other), keccak256(canonicalCall)
            )
        );
    }

    function refusesRaw(address sender, bytes memory data, bytes memory reason) internal {
        vm.prank(sender);
        (bool success, bytes memory returned) = address(registrar).call(data);
        eq(success, false, "the call is refused");
        eq(keccak256(returned), keccak256(reason), "the reason");
    }

    function succeedsRaw(address sender, bytes memory data) internal {
        vm.prank(sender);
        (bool success,) = address(registrar).call(data);
        eq(success, true, "the canonical call is accepted");
    }
}
