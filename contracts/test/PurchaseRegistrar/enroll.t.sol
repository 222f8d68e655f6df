// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPurchaseRegistrar} from "../../interfaces/IPurchaseRegistrar.sol";
import {Fixture} from "../Fixture.t.sol";

import {ContractSigner} from "../../adversaries/ContractSigner.sol";

contract EnrollTest is Fixture {
    address internal other = account("other merchant");

    function enroll(IPurchaseRegistrar.FundingAuthorization memory authorization) internal {
        bytes memory signature = signFunding(authorization);
        vm.prank(authorization.wallet);
        registrar.enroll(authorization, signature);
    }

    /// @dev The authorization of another merchant.
    function another() internal view returns (IPurchaseRegistrar.FundingAuthorization memory authorization) {
        authorization = fundingAuthorization();
        authorization.wallet = other;
        authorization.merchantRef = keccak256("mer_other");
    }

    function test_theWalletEnrolls() public {
        IPurchaseRegistrar.FundingAuthorization memory authorization = another();
        bytes memory signature = signFunding(authorization);
        bytes32 digest = registrar.hashFunding(authorization);
        expectLog(address(registrar));
        emit IPurchaseRegistrar.FundingEnrolled(
            PROGRAM, authorization.merchantRef, other, address(usdc), CAP, FUNDING_UNTIL, digest
        );
        vm.prank(other);
        registrar.enroll(authorization, signature);

        IPurchaseRegistrar.FundingState memory state = registrar.funding(PROGRAM, authorization.merchantRef);
        eq(state.wallet, other, "wallet");
        eq(state.token, address(usdc), "token");
        eq(state.cap, CAP, "cap");
        eq(state.collected, 0, "collected");
        eq(state.validUntil, FUNDING_UNTIL, "valid until");
        eq(state.revokedAt, 0, "revoked at");
        eq(state.authorization, digest, "authorization");
        eq(registrar.enrolledAs(PROGRAM, other), authorization.merchantRef, "enrolled as");
    }

    function test_onlyTheExactWalletEnrolls() public {
        IPurchaseRegistrar.FundingAuthorization memory authorization = another();
        authorization.wallet = stranger;
        onlyFor(stranger, abi.encodeCall(registrar.enroll, (authorization, signFunding(authorization))));
    }

    function test_theProgramMustBeOpen() public {
        IPurchaseRegistrar.FundingAuthorization memory authorization = another();
        authorization.program = keccak256("prg_other");
        bytes memory signature = signFunding(authorization);
        refuses(abi.encodeWithSelector(IPurchaseRegistrar.ProgramNotOpen.selector, authorization.program));
        vm.prank(other);
        registrar.enroll(authorization, signature);
    }

    function test_aPauseStopsEnrollments() public {
        pause();
        IPurchaseRegistrar.FundingAuthorization memory authorization = another();
        bytes memory signature = signFunding(authorization);
        refusesPaused();
        vm.prank(other);
        registrar.enroll(authorization, signature);
    }

    function test_enrollingInTheAuthorizationsLastSecondSucceeds() public {
        vm.warp(FUNDING_UNTIL);
        enroll(another());
        eq(registrar.enrolledAs(PROGRAM, other), keccak256("mer_other"), "enrolled as");
    }

    function test_enrollingAfterTheAuthorizationEndsReverts() public {
        vm.warp(FUNDING_UNTIL + 1);
        IPurchaseRegistrar.FundingAuthorization memory authorization = another();
        bytes memory signature = signFunding(authorization);
        refusesTime(FUNDING_UNTIL);
        vm.prank(other);
        registrar.enroll(authorization, signature);
    }

    function test_theSmallestAndTheLargestCapSucceed() public {
        IPurchaseRegistrar.FundingAuthorization memory authorization = another();
        authorization.cap = 1;
        enroll(authorization);
        authorization.wallet = account("third merchant");
        authorization.merchantRef = keccak256("mer_third");
        authorization.cap = type(uint128).max;
        enroll(authorization);
        eq(registrar.funding(PROGRAM, keccak256("mer_other")).cap, 1, "least");
        eq(registrar.funding(PROGRAM, keccak256("mer_third")).cap, type(uint128).max, "most");
    }

    function test_aZeroCapReverts() public {
        IPurchaseRegistrar.FundingAuthorization memory authorization = another();
        authorization.cap = 0;
        bytes memory signature = signFunding(authorization);
        refusesAmount("cap", 0, 1, type(uint128).max);
        vm.prank(other);
        registrar.enroll(authorization, signature);
    }

    function test_aCapAboveUint128Reverts() public {
        IPurchaseRegistrar.FundingAuthorization memory authorization = another();
        authorization.cap = uint256(type(uint128).max) + 1;
        bytes memory signature = signFunding(authorization);
        refusesAmount("cap", authorization.cap, 1, type(uint128).max);
        vm.prank(other);
        registrar.enroll(authorization, signature);
    }

    function test_aZeroMerchantRefReverts() public {
        IPurchaseRegistrar.FundingAuthorization memory authorization = another();
        authorization.merchantRef = 0;
        bytes memory signature = signFunding(authorization);
        refusesZero();
        vm.prank(other);
        registrar.enroll(authorization, signature);
    }

    function test_anotherWalletCannotTakeAMerchantRefOfTheProgram() public {
        IPurchaseRegistrar.FundingAuthorization memory authorization = another();
        authorization.merchantRef = MERCHANT_REF;
        bytes memory signature = signFunding(authorization);
        refuses(
            abi.encodeWithSelector(
                IPurchaseRegistrar.MerchantRefTaken.selector,
                MERCHANT_REF,
                registrar.hashFunding(fundingAuthorization())
            )
        );
        vm.prank(other);
        registrar.enroll(authorization, signature);
    }

    function test_aMerchantRefIsComparedWhole() public {
        uint8[2] memory bits = [0, 255];
        for (uint256 i = 0; i < bits.length; ++i) {
            IPurchaseRegistrar.FundingAuthorization memory authorization = another();
            authorization.wallet = address(uint160(0xF000 + i));
            authorization.merchantRef = MERCHANT_REF ^ bytes32(1 << uint256(bits[i]));
            enroll(authorization);
        }
        eq(registrar.funding(PROGRAM, MERCHANT_REF).wallet, merchant, "the first one");
    }

    function test_theProgramsOwnAccountsMayEnroll() public {
        address[3] memory wallets = [admin, operator, signer];
        for (uint256 i = 0; i < wallets.length; ++i) {
            IPurchaseRegistrar.FundingAuthorization memory authorization = another();
            authorization.wallet = wallets[i];
            authorization.merchantRef = bytes32(i + 1);
            enroll(authorization);
        }
    }

    function test_aWalletEnrollsInTwoProgramsUnderOneRef() public {
        bytes32 program = keccak256("prg_other");
        registrar.openProgram(program, operator, signer, bounds());
        IPurchaseRegistrar.FundingAuthorization memory authorization = fundingAuthorization();
        authorization.program = program;
        authorization.cap = 7;
        enroll(authorization);
        eq(registrar.enrolledAs(program, merchant), MERCHANT_REF, "in the other program");
        eq(registrar.enrolledAs(PROGRAM, merchant), MERCHANT_REF, "in the first program");
        eq(registrar.funding(program, MERCHANT_REF).cap, 7, "the other program's cap");
        eq(registrar.funding(PROGRAM, MERCHANT_REF).cap, CAP, "the first program's cap");
        revoke();
        eq(registrar.enrolledAs(program, merchant), MERCHANT_REF, "a revocation is for one program");
    }

    function test_aWalletHasOneActiveEnrollmentPerProgram() public {
        IPurchaseRegistrar.FundingAuthorization memory authorization = fundingAuthorization();
        authorization.merchantRef = keccak256("mer_other");
        bytes memory signature = signFunding(authorization);
        refuses(
            abi.encodeWithSelector(
                IPurchaseRegistrar.AlreadyEnrolled.selector, PROGRAM, merchant, MERCHANT_REF
            )
        );
        vm.prank(merchant);
        registrar.enroll(authorization, signature);
    }

    function test_afterARevocationTheWalletEnrollsUnderAnotherRef() public {
        revoke();
        IPurchaseRegistrar.FundingAuthorization memory authorization = fundingAuthorization();
        authorization.merchantRef = keccak256("mer_other");
        enroll(authorization);
        eq(registrar.enrolledAs(PROGRAM, merchant), keccak256("mer_other"), "enrolled as");
        eq(registrar.funding(PROGRAM, MERCHANT_REF).revokedAt, START, "the former funding stays revoked");
    }

    function test_anAuthorizationIsUsedOnce() public {
        revoke();
        IPurchaseRegistrar.FundingAuthorization memory authorization = fundingAuthorization();
        bytes memory signature = signFunding(authorization);
        refuses(
            abi.encodeWithSelector(
                IPurchaseRegistrar.MerchantRefTaken.selector, MERCHANT_REF, registrar.hashFunding(authorization)
            )
        );
        vm.prank(merchant);
        registrar.enroll(authorization, signature);
    }

    function test_onlyTheProgramsSignerSignsAuthorizations() public {
        IPurchaseRegistrar.FundingAuthorization memory authorization = another();
        bytes32 digest = registrar.hashFunding(authorization);
        bytes memory signature = sign(SIGNER_KEY + 1, digest);
        refuses(abi.encodeWithSelector(IPurchaseRegistrar.InvalidSignature.selector, signer, digest));
        vm.prank(other);
        registrar.enroll(authorization, signature);
    }

    function test_aSignerThatEnrollsMustSignToo() public {
        vm.prank(admin);
        registrar.setBounds(PROGRAM, operator, other, bounds());
        IPurchaseRegistrar.FundingAuthorization memory authorization = another();
        bytes memory signature = signFunding(authorization);
        refuses(
            abi.encodeWithSelector(
                IPurchaseRegistrar.InvalidSignature.selector, other, registrar.hashFunding(authorization)
            )
        );
        vm.prank(other);
        registrar.enroll(authorization, signature);
    }

    function test_aSignatureForOtherTermsReverts() public {
        IPurchaseRegistrar.FundingAuthorization memory authorization = another();
        bytes memory signature = signFunding(authorization);
        authorization.cap += 1;
        refuses(
            abi.encodeWithSelector(
                IPurchaseRegistrar.InvalidSignature.selector, signer, registrar.hashFunding(authorization)
            )
        );
        vm.prank(other);
        registrar.enroll(authorization, signature);
    }

    function test_onlyASignatureOfTheDigestItselfSucceeds() public {
        IPurchaseRegistrar.FundingAuthorization memory authorization = another();
        bytes32 digest = registrar.hashFunding(authorization);
        bytes[9] memory wrong = wrongSignatures(digest);
        for (uint256 i = 0; i < wrong.length; ++i) {
            refuses(abi.encodeWithSelector(IPurchaseRegistrar.InvalidSignature.selector, signer, digest));
            vm.prank(other);
            registrar.enroll(authorization, wrong[i]);
        }
        enroll(authorization);
    }

    /// @dev `ecrecover` returns the zero address for a signature that is none.
    function test_withoutASignerNobodyEnrolls() public {
        vm.prank(admin);
        registrar.setBounds(PROGRAM, operator, address(0), bounds());
        IPurchaseRegistrar.FundingAuthorization memory authorization = another();
        bytes32 digest = registrar.hashFunding(authorization);
        refuses(abi.encodeWithSelector(IPurchaseRegistrar.InvalidSignature.selector, address(0), digest));
        vm.prank(other);
        registrar.enroll(authorization, new bytes(65));
    }

    function refusesSecondEnrollment() private {
        IPurchaseRegistrar.FundingAuthorization memory authorization = fundingAuthorization();
        authorization.merchantRef = keccak256("mer_other");
        authorization.validUntil = type(uint64).max;
        bytes memory signature = signFunding(authorization);
        refuses(
            abi.encodeWithSelector(IPurchaseRegistrar.AlreadyEnrolled.selector, PROGRAM, merchant, MERCHANT_REF)
        );
        vm.prank(merchant);
        registrar.enroll(authorization, signature);
    }

    function test_aUsedUpCapOrAnEndedFundingNeedsARevocationFirst() public {
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        purchase.amount = CAP;
        bytes32 id = register(purchase);
        pay(id, CAP);
        claim(id);
        collectRefund(id, CAP, DECISION);
        refusesSecondEnrollment();
        vm.warp(FUNDING_UNTIL + 1);
        refusesSecondEnrollment();
    }

    function test_everyAuthorizationHasAFundingOfItsOwn() public {
        // More than a number of 8 bits counts.
        for (uint256 i = 0; i < 257; ++i) {
            IPurchaseRegistrar.FundingAuthorization memory authorization = another();
            authorization.wallet = address(uint160(0xF000 + i));
            authorization.merchantRef = bytes32(i + 1);
            authorization.cap = i + 1;
            enroll(authorization);
        }
        for (uint256 i = 0; i < 257; ++i) {
            IPurchaseRegistrar.FundingState memory state = registrar.funding(PROGRAM, bytes32(i + 1));
            eq(state.wallet, address(uint160(0xF000 + i)), "wallet");
            eq(state.cap, i + 1, "cap");
        }
        eq(registrar.funding(PROGRAM, MERCHANT_REF).wallet, merchant, "the first one");
    }

    function test_aContractSignerIsCheckedWithERC1271() public {
        ContractSigner wallet = new ContractSigner(signer);
        vm.prank(admin);
        registrar.setBounds(PROGRAM, operator, address(wallet), bounds());
        IPurchaseRegistrar.FundingAuthorization memory authorization = another();
        enroll(authorization);
        eq(registrar.enrolledAs(PROGRAM, other), authorization.merchantRef, "enrolled as");
    }

    function test_anotherEncodingReverts() public {
        IPurchaseRegistrar.FundingAuthorization memory authorization = another();
        bytes memory canonicalCall = abi.encodeCall(registrar.enroll, (authorization, signFunding(authorization)));
        bytes[5] memory suffixes = trailing();
        for (uint256 i = 0; i < suffixes.length; ++i) {
            refusesOtherEncoding(other, abi.encodePacked(canonicalCall, suffixes[i]), canonicalCall);
        }
        bytes memory dirty = abi.encodePacked(canonicalCall);
        dirty[dirty.length - 1] = 0x01;
        refusesOtherEncoding(other, dirty, canonicalCall);
        succeedsRaw(other, canonicalCall);
    }

    function test_anotherEncodingFromAContractReverts() public {
        vm.etch(other, hex"00");
        test_anotherEncodingReverts();
    }

    function test_dirtyBitsRevert() public {
        IPurchaseRegistrar.FundingAuthorization memory authorization = another();
        bytes memory data = abi.encodeCall(registrar.enroll, (authorization, signFunding(authorization)));
        data[4 + 2 * 32] = 0x01;
        refusesRaw(other, data, "");
    }
}
