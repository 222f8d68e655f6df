// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {PurchaseRegistrar} from "../../PurchaseRegistrar.sol";
import {IPurchaseRegistrar} from "../../interfaces/IPurchaseRegistrar.sol";
import {Fixture} from "../Fixture.t.sol";

import {ContractSigner} from "../../adversaries/ContractSigner.sol";

/// @title CommitmentRules
/// @notice The rules that `offer` and `register` share. The test of each runs them all.
abstract contract CommitmentRules is Fixture {
    /// @dev The allowed caller.
    function sender() internal view virtual returns (address);

    /// @dev The calldata of `offer` or `register`.
    function call(IPurchaseRegistrar.Purchase memory purchase, bytes memory signature)
        internal
        view
        virtual
        returns (bytes memory);

    /// @dev The largest allowed amount in the expected error.
    function mostAmount() internal view virtual returns (uint256);

    function accepts(IPurchaseRegistrar.Purchase memory purchase) internal returns (bytes32 id) {
        id = registrar.hashPurchase(purchase);
        succeedsRaw(sender(), call(purchase, signPurchase(purchase)));
        eq(uint8(registrar.purchase(id).status), uint8(IPurchaseRegistrar.Status.Open), "open");
    }

    function rejects(IPurchaseRegistrar.Purchase memory purchase, bytes memory reason) internal {
        refusesRaw(sender(), call(purchase, signPurchase(purchase)), reason);
        eq(
            uint8(registrar.purchase(registrar.hashPurchase(purchase)).status),
            uint8(IPurchaseRegistrar.Status.None),
            "not on chain"
        );
    }

    function test_theStoredPurchaseIsTheSignedOne() public {
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        bytes32 id = accepts(purchase);
        IPurchaseRegistrar.PurchaseState memory state = registrar.purchase(id);
        eq(state.sequence, 1, "sequence");
        eq(state.program, PROGRAM, "program");
        eq(state.merchantRef, MERCHANT_REF, "merchant ref");
        eq(state.merchant, merchant, "merchant");
        eq(state.buyer, buyer, "buyer");
        eq(state.beneficiary, beneficiary, "beneficiary");
        eq(state.token, address(usdc), "token");
        eq(state.amount, AMOUNT, "amount");
        eq(state.paid, 0, "paid");
        eq(state.refunded, 0, "refunded");
        eq(state.payDeadline, PAY_DEADLINE, "pay deadline");
        eq(state.claimDeadline, CLAIM_DEADLINE, "claim deadline");
        eq(state.claimHash, bytes32(0), "claim hash");
        eq(state.decisionHash, bytes32(0), "decision hash");
    }

    function test_theProgramMustBeOpen() public {
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        purchase.program = keccak256("prg_other");
        rejects(purchase, abi.encodeWithSelector(IPurchaseRegistrar.ProgramNotOpen.selector, purchase.program));
    }

    function test_aPauseStopsNewPurchases() public {
        pause();
        rejects(commitment(), abi.encodeWithSelector(IPurchaseRegistrar.ProgramPaused.selector, PROGRAM));
    }

    function test_anAmountOfOneSucceeds() public {
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        purchase.amount = 1;
        accepts(purchase);
    }

    function test_aZeroAmountReverts() public {
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        purchase.amount = 0;
        rejects(
            purchase,
            abi.encodeWithSelector(IPurchaseRegistrar.AmountOutOfRange.selector, "amount", 0, 1, mostAmount())
        );
    }

    function test_anAmountAboveUint128Reverts() public {
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        purchase.amount = uint256(type(uint128).max) + 1;
        rejects(
            purchase,
            abi.encodeWithSelector(
                IPurchaseRegistrar.AmountOutOfRange.selector, "amount", purchase.amount, 1, mostAmount()
            )
        );
    }

    function test_equalDeadlinesSucceed() public {
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        purchase.payDeadline = OFFER_DEADLINE;
        purchase.claimDeadline = OFFER_DEADLINE;
        accepts(purchase);
    }

    function test_aPayDeadlineBeforeTheOfferDeadlineReverts() public {
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        purchase.payDeadline = OFFER_DEADLINE - 1;
        rejectsOrder(purchase);
    }

    function test_aClaimDeadlineBeforeThePayDeadlineReverts() public {
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        purchase.claimDeadline = PAY_DEADLINE - 1;
        rejectsOrder(purchase);
    }

    function rejectsOrder(IPurchaseRegistrar.Purchase memory purchase) private {
        rejects(
            purchase,
            abi.encodeWithSelector(
                IPurchaseRegistrar.DeadlinesOutOfOrder.selector,
                purchase.offerDeadline,
                purchase.payDeadline,
                purchase.claimDeadline
            )
        );
    }

    function test_theOfferDeadlinesLastSecondSucceeds() public {
        vm.warp(OFFER_DEADLINE);
        accepts(commitment());
    }

    function test_oneSecondAfterTheOfferDeadlineReverts() public {
        vm.warp(OFFER_DEADLINE + 1);
        rejects(
            commitment(),
            abi.encodeWithSelector(
                IPurchaseRegistrar.DeadlinePassed.selector, OFFER_DEADLINE + 1, OFFER_DEADLINE
            )
        );
    }

    function test_aMerchantAsBuyerReverts() public {
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        purchase.buyer = merchant;
        rejects(purchase, abi.encodeWithSelector(IPurchaseRegistrar.SameParty.selector, merchant));
    }

    function test_aMerchantAsBeneficiaryReverts() public {
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        purchase.beneficiary = merchant;
        rejects(purchase, abi.encodeWithSelector(IPurchaseRegistrar.SameParty.selector, merchant));
    }

    function test_theBuyerMayBeTheBeneficiary() public {
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        purchase.beneficiary = buyer;
        accepts(purchase);
    }

    /// @dev The contract does not interpret them.
    function test_referenceTermsAndSaltMayBeZero() public {
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        purchase.purchaseRef = 0;
        purchase.termsHash = 0;
        purchase.salt = 0;
        accepts(purchase);
    }

    function test_aTokenOtherThanTheFundingsReverts() public {
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        purchase.token = stranger;
        rejects(
            purchase, abi.encodeWithSelector(IPurchaseRegistrar.TokenMismatch.selector, stranger, address(usdc))
        );
    }

    function test_aFundingUntilTheClaimDeadlineSuffices() public {
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        purchase.claimDeadline = FUNDING_UNTIL;
        accepts(purchase);
    }

    function test_aFundingThatEndsBeforeTheClaimDeadlineReverts() public {
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        purchase.claimDeadline = FUNDING_UNTIL + 1;
        rejects(
            purchase,
            abi.encodeWithSelector(
                IPurchaseRegistrar.FundingTooShort.selector, FUNDING_UNTIL, FUNDING_UNTIL + 1
            )
        );
    }

    function test_anAmountOfTheRemainingCapSucceeds() public {
        collectFrom(CAP - AMOUNT);
        accepts(commitment());
    }

    function test_anAmountAboveTheRemainingCapReverts() public {
        collectFrom(CAP - AMOUNT + 1);
        rejects(
            commitment(),
            abi.encodeWithSelector(IPurchaseRegistrar.FundingInsufficient.selector, AMOUNT, AMOUNT - 1)
        );
    }

    /// @dev Collects `total` under the cap with registered purchases, which have no bounds.
    function collectFrom(uint256 total) private {
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        purchase.amount = total;
        purchase.salt = keccak256("collected before");
        bytes32 id = register(purchase);
        pay(id, total);
        claim(id);
        collectRefund(id, total, keccak256("decided before"));
    }

    function test_theSamePurchaseTwiceReverts() public {
        bytes32 id = accepts(commitment());
        refusesRaw(
            sender(),
            call(commitment(), signPurchase(commitment())),
            abi.encodeWithSelector(IPurchaseRegistrar.PurchaseExists.selector, id)
        );
    }

    function test_aClosedPurchaseCannotBeCreatedAgain() public {
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        purchase.payDeadline = OFFER_DEADLINE;
        bytes32 id = accepts(purchase);
        vm.warp(OFFER_DEADLINE + 1);
        registrar.expire(id);
        vm.warp(OFFER_DEADLINE);
        refusesRaw(
            sender(),
            call(purchase, signPurchase(purchase)),
            abi.encodeWithSelector(IPurchaseRegistrar.PurchaseExists.selector, id)
        );
    }

    function test_anotherSaltMakesAnotherPurchase() public {
        bytes32 first = accepts(commitment());
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        purchase.salt = keccak256("another salt");
        eq(first == accepts(purchase), false, "two ids");
    }

    function test_onlyTheProgramsSignerSignsCommitments() public {
        bytes32 id = registrar.hashPurchase(commitment());
        rejectsSignature(sign(SIGNER_KEY + 1, id), signer);
    }

    function test_onlyASignatureOfTheDigestItselfSucceeds() public {
        bytes[9] memory wrong = wrongSignatures(registrar.hashPurchase(commitment()));
        for (uint256 i = 0; i < wrong.length; ++i) {
            rejectsSignature(wrong[i], signer);
        }
        accepts(commitment());
    }

    function test_anEmptySignatureAndAnUnknownVRevert() public {
        (, bytes32 r, bytes32 s) = vm.sign(SIGNER_KEY, registrar.hashPurchase(commitment()));
        rejectsSignature("", signer);
        rejectsSignature(abi.encodePacked(r, s, uint8(29)), signer);
    }

    /// @dev Its id stays used in each status.
    function test_aWithdrawnOfferCannotBeCreatedAgain() public {
        bytes32 id = offer();
        vm.prank(operator);
        registrar.withdrawOffer(id);
        refusesRaw(
            sender(),
            call(commitment(), signPurchase(commitment())),
            abi.encodeWithSelector(IPurchaseRegistrar.PurchaseExists.selector, id)
        );
    }

    function test_theZeroAddressAsSignerAcceptsNoSignature() public {
        vm.prank(admin);
        registrar.setBounds(PROGRAM, operator, address(0), bounds());
        rejectsSignature(abi.encodePacked(bytes32(0), bytes32(0), uint8(27)), address(0));
    }

    /// @dev A call is not a signature.
    function test_aSignerThatCallsMustSignToo() public {
        vm.prank(admin);
        registrar.setBounds(PROGRAM, operator, sender(), bounds());
        rejectsSignature(signPurchase(commitment()), sender());
    }

    function test_aClaimSignatureAsCommitmentReverts() public {
        bytes32 id = registrar.hashPurchase(commitment());
        IPurchaseRegistrar.Claim memory claimData =
            IPurchaseRegistrar.Claim(id, beneficiary, AMOUNT, keccak256("reason"));
        rejectsSignature(sign(SIGNER_KEY, registrar.hashClaim(claimData)), signer);
    }

    function test_aSignatureForAnotherContractReverts() public {
        // The same fields, signed for the domain of a second registrar.
        PurchaseRegistrar second = newRegistrar();
        rejectsSignature(sign(SIGNER_KEY, second.hashPurchase(commitment())), signer);
    }

    function rejectsSignature(bytes memory signature, address expectedSigner) private {
        refusesRaw(
            sender(),
            call(commitment(), signature),
            abi.encodeWithSelector(
                IPurchaseRegistrar.InvalidSignature.selector,
                expectedSigner,
                registrar.hashPurchase(commitment())
            )
        );
    }

    function test_aContractSignerIsCheckedWithERC1271() public {
        ContractSigner wallet = new ContractSigner(signer);
        vm.prank(admin);
        registrar.setBounds(PROGRAM, operator, address(wallet), bounds());
        rejectsSignature(sign(SIGNER_KEY + 1, registrar.hashPurchase(commitment())), address(wallet));
        bytes memory signature = signPurchase(commitment());
        wallet.setBehavior(ContractSigner.Behavior.RefusesAll);
        rejectsSignature(signature, address(wallet));
        wallet.setBehavior(ContractSigner.Behavior.ReturnsShort);
        rejectsSignature(signature, address(wallet));
        wallet.setBehavior(ContractSigner.Behavior.Reverting);
        rejectsSignature(signature, address(wallet));
        wallet.setBehavior(ContractSigner.Behavior.ChecksOwner);
        accepts(commitment());
    }

    function test_anotherEncodingReverts() public {
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        bytes memory canonicalCall = call(purchase, signPurchase(purchase));
        bytes[5] memory suffixes = trailing();
        for (uint256 i = 0; i < suffixes.length; ++i) {
            refusesOtherEncoding(sender(), abi.encodePacked(canonicalCall, suffixes[i]), canonicalCall);
        }
        // The padding after the 65 bytes of the signature.
        bytes memory dirty = abi.encodePacked(canonicalCall);
        dirty[dirty.length - 1] = 0x01;
        refusesOtherEncoding(sender(), dirty, canonicalCall);
        // Without the padding, and with one word of it too much for a signature of whole words.
        refusesOtherEncoding(sender(), cut(canonicalCall, 31), canonicalCall);
        bytes memory whole = call(purchase, new bytes(64));
        refusesOtherEncoding(sender(), abi.encodePacked(whole, bytes32(0)), whole);
        // The signature, moved by one word.
        refusesOtherEncoding(sender(), shifted(canonicalCall), canonicalCall);
        succeedsRaw(sender(), canonicalCall);
    }

    function test_anotherEncodingFromAContractReverts() public {
        vm.etch(sender(), hex"00");
        test_anotherEncodingReverts();
    }

    /// @dev The offset of the signature names the amount, which is then the length of the signature: the length of the calldata fits.
    function test_aSignatureInsideThePurchaseReverts() public {
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        purchase.amount = 65;
        bytes memory data = call(purchase, signPurchase(purchase));
        data[4 + 12 * 32 + 30] = 0;
        data[4 + 12 * 32 + 31] = bytes1(uint8(6 * 32));
        bytes memory signature = new bytes(65);
        for (uint256 i = 0; i < signature.length; ++i) {
            signature[i] = data[4 + 7 * 32 + i];
        }
        refusesOtherEncoding(sender(), data, call(purchase, signature));
    }

    function cut(bytes memory data, uint256 count) private pure returns (bytes memory shorter) {
        shorter = new bytes(data.length - count);
        for (uint256 i = 0; i < shorter.length; ++i) {
            shorter[i] = data[i];
        }
    }

    function shifted(bytes memory data) private pure returns (bytes memory moved) {
        uint256 head = 4 + 13 * 32;
        moved = new bytes(data.length + 32);
        for (uint256 i = 0; i < data.length; ++i) {
            moved[i < head ? i : i + 32] = data[i];
        }
        moved[head - 1] = bytes1(uint8(moved[head - 1]) + 32);
    }

    function test_dirtyBitsRevert() public {
        bytes memory canonicalCall = call(commitment(), signPurchase(commitment()));
        // The first byte of merchant, buyer, beneficiary, token and the three deadlines.
        uint8[7] memory words = [2, 3, 4, 5, 8, 9, 10];
        for (uint256 i = 0; i < words.length; ++i) {
            bytes memory dirty = abi.encodePacked(canonicalCall);
            dirty[4 + uint256(words[i]) * 32] = 0x01;
            refusesRaw(sender(), dirty, "");
        }
    }

    function test_truncatedCalldataReverts() public {
        bytes memory canonicalCall = call(commitment(), signPurchase(commitment()));
        bytes memory truncated = new bytes(4 + 12 * 32);
        for (uint256 i = 0; i < truncated.length; ++i) {
            truncated[i] = canonicalCall[i];
        }
        refusesRaw(sender(), truncated, "");
    }

    function testFuzz_anyChangedFieldChangesTheId(uint256 seed) public {
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        bytes memory signature = signPurchase(purchase);
        bytes32 word = keccak256(abi.encode(seed));
        uint256 field = seed % 12;
        if (field == 0) purchase.program = word;
        if (field == 1) purchase.purchaseRef = word;
        if (field == 2) purchase.merchant = address(bytes20(word));
        if (field == 3) purchase.buyer = address(bytes20(word));
        if (field == 4) purchase.beneficiary = address(bytes20(word));
        if (field == 5) purchase.token = address(bytes20(word));
        if (field == 6) purchase.amount = uint256(word);
        if (field == 7) purchase.termsHash = word;
        if (field == 8) purchase.offerDeadline = uint64(uint256(word));
        if (field == 9) purchase.payDeadline = uint64(uint256(word));
        if (field == 10) purchase.claimDeadline = uint64(uint256(word));
        if (field == 11) purchase.salt = word;
        bytes32 id = registrar.hashPurchase(purchase);
        vm.prank(sender());
        (bool success,) = address(registrar).call(call(purchase, signature));
        eq(success, false, "the signature is for the unchanged purchase");
        eq(uint8(registrar.purchase(id).status), uint8(IPurchaseRegistrar.Status.None), "not on chain");
    }
}
