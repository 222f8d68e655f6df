// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPurchaseRegistrar} from "../../interfaces/IPurchaseRegistrar.sol";
import {Fixture} from "../Fixture.t.sol";

contract ViewsTest is Fixture {
    bytes32 private constant NOTHING = keccak256("nothing");

    function test_figures() public {
        bytes32 id = offer();
        pay(id, 5_000_000);
        claim(id);
        collectRefund(id, 2_000_000, DECISION);
        IPurchaseRegistrar.Figures memory figures = registrar.figures(id);
        eq(uint8(figures.status), uint8(IPurchaseRegistrar.Status.Open), "status");
        eq(figures.sequence, 4, "sequence");
        eq(figures.amount, AMOUNT, "amount");
        eq(figures.approved, 1_000_000_000 - 5_000_000, "approved");
        eq(figures.paid, 5_000_000, "paid");
        eq(figures.outstanding, AMOUNT - 5_000_000, "outstanding");
        eq(figures.refunded, 2_000_000, "refunded");
        eq(figures.claimHash, bytes32(0), "the claim hash is in the event");
        eq(figures.decisionHash, DECISION, "decision hash");
    }

    function test_figuresBeforeARefundHaveAClaimHashAndNoDecisionHash() public {
        bytes32 id = claimed();
        eq(registrar.figures(id).claimHash, CLAIM_HASH, "claim hash");
        eq(registrar.purchase(id).claimHash, CLAIM_HASH, "claim hash");
        eq(registrar.figures(id).decisionHash, bytes32(0), "decision hash");
        eq(registrar.purchase(id).decisionHash, bytes32(0), "decision hash");
    }

    function test_figuresOfAClosedPurchaseTellTheAllowance() public {
        bytes32 id = offer();
        vm.prank(operator);
        registrar.withdrawOffer(id);
        eq(registrar.figures(id).approved, 1_000_000_000, "approved");
    }

    function test_figuresTellTheAllowanceOfThePurchasesOwnToken() public {
        bytes32 id = offer();
        revoke();
        IPurchaseRegistrar.FundingAuthorization memory authorization = fundingAuthorization();
        authorization.merchantRef = keccak256("mer_next");
        authorization.token = address(newUSDC("Other", "OTHER", admin, admin, admin, admin));
        bytes memory signature = signFunding(authorization);
        vm.prank(merchant);
        registrar.enroll(authorization, signature);
        eq(registrar.figures(id).approved, 1_000_000_000, "approved");
    }

    function test_anUnknownPurchaseIsAllZeros() public view {
        eq(keccak256(abi.encode(registrar.figures(NOTHING))), keccak256(new bytes(9 * 32)), "figures");
        eq(keccak256(abi.encode(registrar.purchase(NOTHING))), keccak256(new bytes(16 * 32)), "purchase");
    }

    function test_funding() public {
        collectRefund(claimed(), 3, DECISION);
        IPurchaseRegistrar.FundingState memory state = registrar.funding(PROGRAM, MERCHANT_REF);
        eq(state.wallet, merchant, "wallet");
        eq(state.token, address(usdc), "token");
        eq(state.cap, CAP, "cap");
        eq(state.collected, 3, "collected");
        eq(state.validUntil, FUNDING_UNTIL, "valid until");
        eq(state.revokedAt, 0, "revoked at");
        eq(state.authorization, registrar.hashFunding(fundingAuthorization()), "authorization");
        eq(state.allowance, 1_000_000_000 - 3, "allowance");
        eq(state.balance, 1_000_000_000 + AMOUNT - 3, "balance");
    }

    function test_aRevokedFundingTellsWhatCanBeDrawn() public {
        revoke();
        IPurchaseRegistrar.FundingState memory state = registrar.funding(PROGRAM, MERCHANT_REF);
        eq(state.allowance, 1_000_000_000, "allowance");
        eq(state.balance, 1_000_000_000, "balance");
    }

    function test_anUnknownFundingIsAllZeros() public view {
        eq(keccak256(abi.encode(registrar.funding(PROGRAM, NOTHING))), keccak256(new bytes(9 * 32)), "of a merchant");
        eq(keccak256(abi.encode(registrar.funding(NOTHING, MERCHANT_REF))), keccak256(new bytes(9 * 32)), "of a program");
    }

    function test_anUnknownProgramIsAllZeros() public view {
        eq(keccak256(abi.encode(registrar.programState(NOTHING))), keccak256(new bytes(8 * 32)), "program");
    }

    function test_enrolledAs() public view {
        eq(registrar.enrolledAs(PROGRAM, merchant), MERCHANT_REF, "the merchant");
        eq(registrar.enrolledAs(PROGRAM, stranger), bytes32(0), "a stranger");
        eq(registrar.enrolledAs(NOTHING, merchant), bytes32(0), "in another program");
    }

    function test_theFundingSourceBelongsToTheRegistrar() public view {
        eq(source.registrar(), address(registrar), "registrar");
        eq(registrar.fundingSource(), address(source), "funding source");
    }

    function test_eip712Domain() public view {
        (, string memory name, string memory version, uint256 chainId, address verifyingContract,,) =
            registrar.eip712Domain();
        eq(name, "PurchaseRegistrar", "name");
        eq(version, "1", "version");
        eq(chainId, block.chainid, "chain id");
        eq(verifyingContract, address(registrar), "verifying contract");
    }
}
