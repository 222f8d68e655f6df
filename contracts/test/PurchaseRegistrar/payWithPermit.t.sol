// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IPurchaseRegistrar} from "../../interfaces/IPurchaseRegistrar.sol";
import {Vm} from "../Vm.t.sol";
import {PaymentRules} from "./PaymentRules.t.sol";

contract PayWithPermitTest is PaymentRules {
    uint256 private constant DEADLINE = START + 60 days;

    /// @dev Removes the allowance, so that only a permit can pay.
    function setUp() public override {
        super.setUp();
        approve(0);
    }

    struct Permit {
        address spender;
        uint256 value;
        uint256 nonce;
        uint256 deadline;
    }

    struct Signature {
        uint8 v;
        bytes32 r;
        bytes32 s;
    }

    function call(bytes32 id, uint256 amount) internal view override returns (bytes memory) {
        return callWith(id, amount, DEADLINE, signed(amount));
    }

    function callWith(bytes32 id, uint256 amount, uint256 deadline, Signature memory signature)
        private
        view
        returns (bytes memory)
    {
        return abi.encodeCall(
            registrar.payWithPermit, (id, amount, deadline, signature.v, signature.r, signature.s)
        );
    }

    function terms(uint256 value) private view returns (Permit memory) {
        return Permit(address(registrar), value, usdc.nonces(buyer), DEADLINE);
    }

    function signed(uint256 value) private view returns (Signature memory) {
        return sign(keyOf("buyer"), terms(value));
    }

    function sign(uint256 key, Permit memory permit) private view returns (Signature memory signature) {
        bytes32 structHash = keccak256(
            abi.encode(
                usdc.PERMIT_TYPEHASH(), buyer, permit.spender, permit.value, permit.nonce, permit.deadline
            )
        );
        bytes32 digest = keccak256(abi.encodePacked(hex"1901", usdc.DOMAIN_SEPARATOR(), structHash));
        (signature.v, signature.r, signature.s) = vm.sign(key, digest);
    }

    function approve(uint256 value) private {
        vm.prank(buyer);
        usdc.approve(address(registrar), value);
    }

    /// @dev Anyone can take a permit from the mempool and submit it.
    function runAhead(uint256 value, Signature memory signature) private {
        vm.prank(stranger);
        usdc.permit(buyer, address(registrar), value, DEADLINE, signature.v, signature.r, signature.s);
    }

    function permitRefused(string memory reason) private view returns (bytes memory) {
        return abi.encodeWithSelector(
            IPurchaseRegistrar.PermitRefused.selector,
            address(usdc),
            abi.encodeWithSignature("Error(string)", reason)
        );
    }

    function refusesWith(bytes32 id, uint256 deadline, Signature memory signature, string memory reason) private {
        bytes32 before = trace(id);
        refusesRaw(buyer, callWith(id, AMOUNT, deadline, signature), permitRefused(reason));
        eq(trace(id), before, "nothing changed");
    }

    function test_aPermitPaysOnce() public {
        bytes32 id = offer();
        Signature memory signature = signed(10);
        succeedsRaw(buyer, callWith(id, 10, DEADLINE, signature));
        eq(usdc.allowance(buyer, address(registrar)), 0, "the allowance is spent");
        eq(usdc.nonces(buyer), 1, "the permit is used");
        refusesRaw(buyer, callWith(id, 10, DEADLINE, signature), permitRefused("EIP2612: invalid signature"));
        eq(registrar.purchase(id).paid, 10, "paid once");
    }

    function test_theLogsAreThePaymentThePermitAndTheTransfer() public {
        bytes memory data = call(offer(), AMOUNT);
        vm.recordLogs();
        succeedsRaw(buyer, data);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        eq(logs.length, 3, "three logs");
        eq(logs[0].topics[0], IPurchaseRegistrar.PurchasePaid.selector, "the payment");
        eq(logs[1].topics[0], IERC20.Approval.selector, "the permit");
        eq(logs[1].topics[2], bytes32(uint256(uint160(address(registrar)))), "the spender");
        eq(keccak256(logs[1].data), keccak256(abi.encode(AMOUNT)), "the value");
        eq(logs[2].topics[0], IERC20.Transfer.selector, "the transfer");
    }

    function test_aFrontRunPermitStillPays() public {
        bytes32 id = offer();
        Signature memory signature = signed(AMOUNT);
        runAhead(AMOUNT, signature);
        eq(usdc.allowance(buyer, address(registrar)), AMOUNT, "exactly the payment");
        succeedsRaw(buyer, callWith(id, AMOUNT, DEADLINE, signature));
        eq(registrar.purchase(id).paid, AMOUNT, "paid");
        eq(usdc.allowance(buyer, address(registrar)), 0, "nothing is left");
    }

    function test_aFrontRunPermitPaysOnlyTheBuyersPurchase() public {
        bytes32 id = offer();
        Signature memory signature = signed(AMOUNT);
        runAhead(AMOUNT, signature);
        refusesRaw(
            stranger,
            callWith(id, AMOUNT, DEADLINE, signature),
            abi.encodeWithSelector(IPurchaseRegistrar.WrongCaller.selector, stranger, buyer)
        );
        refusesCaller(stranger, buyer);
        vm.prank(stranger);
        registrar.pay(id, AMOUNT);
        eq(usdc.balanceOf(buyer), 1_000_000_000, "the buyer's balance");
    }

    /// @dev Of two front-run permits, the last one sets the allowance. A payment above it reverts, and a new permit pays it.
    function test_theLastOfTwoFrontRunPermitsSetsTheAllowance() public {
        bytes32 first = offer();
        IPurchaseRegistrar.Purchase memory purchase = commitment();
        purchase.salt = keccak256("second");
        bytes32 second = offer(purchase);
        Permit memory next = terms(10);
        next.nonce += 1;
        Signature memory signature = signed(8);
        Signature memory nextSignature = sign(keyOf("buyer"), next);
        runAhead(8, signature);
        runAhead(10, nextSignature);
        succeedsRaw(buyer, callWith(first, 8, DEADLINE, signature));
        refusesRaw(
            buyer, callWith(second, 10, DEADLINE, nextSignature), permitRefused("EIP2612: invalid signature")
        );
        succeedsRaw(buyer, call(second, 10));
        eq(usdc.balanceOf(merchant), 1_000_000_000 + 18, "the merchant's balance");
    }

    function test_aPermitReplacesTheAllowance() public {
        bytes32 id = offer();
        approve(AMOUNT);
        accepts(id, 10);
        eq(usdc.allowance(buyer, address(registrar)), 0, "the allowance is the permit's, and spent");
    }

    function test_aSufficientAllowancePaysWithAnInvalidPermit() public {
        bytes32 id = offer();
        approve(10);
        Signature memory none;
        succeedsRaw(buyer, callWith(id, 10, DEADLINE, none));
        eq(registrar.purchase(id).paid, 10, "paid");
        approve(9);
        refusesRaw(
            buyer,
            callWith(id, 10, DEADLINE, none),
            permitRefused("ECRecover: invalid signature 'v' value")
        );
    }

    function test_thePermitsDeadlineIsInclusive() public {
        bytes32 id = offer();
        Permit memory permit = terms(AMOUNT);
        permit.deadline = START + 10;
        Signature memory signature = sign(keyOf("buyer"), permit);
        vm.warp(START + 11);
        refusesWith(id, START + 10, signature, "FiatTokenV2: permit is expired");
        vm.warp(START + 10);
        succeedsRaw(buyer, callWith(id, AMOUNT, START + 10, signature));
        eq(registrar.purchase(id).paid, AMOUNT, "paid");
    }

    function test_onlyTheBuyerSignsThePermit() public {
        refusesWith(offer(), DEADLINE, sign(SIGNER_KEY, terms(AMOUNT)), "EIP2612: invalid signature");
    }

    function test_aPermitForOtherTermsReverts() public {
        bytes32 id = offer();
        uint256 key = keyOf("buyer");
        Permit memory permit = terms(AMOUNT);
        permit.spender = address(source);
        refusesWith(id, DEADLINE, sign(key, permit), "EIP2612: invalid signature");
        permit = terms(AMOUNT + 1);
        refusesWith(id, DEADLINE, sign(key, permit), "EIP2612: invalid signature");
        permit = terms(AMOUNT);
        permit.nonce += 1;
        refusesWith(id, DEADLINE, sign(key, permit), "EIP2612: invalid signature");
        permit = terms(AMOUNT);
        permit.deadline += 1;
        refusesWith(id, DEADLINE, sign(key, permit), "EIP2612: invalid signature");
    }

    function test_aPermitForAnotherChainReverts() public {
        bytes32 id = offer();
        Signature memory signature = signed(AMOUNT);
        vm.chainId(block.chainid + 1);
        refusesWith(id, DEADLINE, signature, "EIP2612: invalid signature");
    }

    function test_aMalleatedPermitReverts() public {
        bytes32 id = offer();
        Signature memory signature = signed(AMOUNT);
        signature.s = bytes32(CURVE_ORDER - uint256(signature.s));
        signature.v = signature.v == 27 ? 28 : 27;
        refusesWith(id, DEADLINE, signature, "ECRecover: invalid signature 's' value");
    }

    function test_thePermitOfAPausedTokenReverts() public {
        bytes32 id = offer();
        Signature memory signature = signed(AMOUNT);
        vm.prank(admin);
        usdc.pause();
        refusesWith(id, DEADLINE, signature, "Pausable: paused");
        vm.prank(admin);
        usdc.unpause();
        succeedsRaw(buyer, callWith(id, AMOUNT, DEADLINE, signature));
        eq(registrar.purchase(id).paid, AMOUNT, "the same call pays after the pause");
    }

    function test_trailingCalldataReverts() public {
        refusesTrailing(buyer, call(offer(), 1));
    }

    function test_dirtyBitsRevert() public {
        bytes memory data = call(offer(), 1);
        data[4 + 3 * 32] = 0x01;
        refusesRaw(buyer, data, "");
    }
}
