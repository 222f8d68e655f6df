// SPDX-License-Identifier: MIT
pragma solidity >=0.8.15;

import {IPurchaseRegistrar} from "../interfaces/IPurchaseRegistrar.sol";
import {Cheatcodes} from "./Cheatcodes.sol";
import {RegistrarHandler} from "./RegistrarHandler.sol";

/// @title RegistrarInvariants
/// @notice Tests the properties of a registrar contract that hold after any sequence of calls by any account. Inherit from it, and deploy
/// your contract in `deployRegistrar`.
/// @dev Runs under `hardhat test solidity` and `forge test`. It does not check which errors a refusal reverts with.
abstract contract RegistrarInvariants {
    Cheatcodes private constant vm = Cheatcodes(address(uint160(uint256(keccak256("hevm cheat code")))));
    uint256 private constant STEPS = 1_200;

    error NotEqual(string what, uint256 actual, uint256 expected);
    error Mismatch(string call);

    RegistrarHandler internal handler;
    uint256 private _seed;

    /// @notice Deploys the contract under test, with its proxy if it has one.
    function deployRegistrar() internal virtual returns (IPurchaseRegistrar);

    function setUp() public virtual {
        handler = new RegistrarHandler(deployRegistrar());
    }

    /// @dev The runner calls only the handler.
    function targetContracts() public view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(handler);
    }

    /// @dev A long random sequence, which reaches everything: each function succeeds and reverts at least once.
    function test_aLongRandomWalkSucceedsAndRevertsInEveryFunction() public {
        for (uint256 i = 0; i < STEPS; ++i) {
            walk(draw() % 49);
            invariant_everyCallSucceedsExactlyWhenItMust();
        }
        string[16] memory steps = [
            "openProgram",
            "setBounds",
            "setPaused",
            "transferAdmin",
            "acceptAdmin",
            "enroll",
            "revokeFunding",
            "offer",
            "register",
            "withdrawOffer",
            "expire",
            "pay",
            "payBatch",
            "payWithPermit",
            "claim",
            "collectRefund"
        ];
        for (uint256 i = 0; i < steps.length; ++i) {
            eq(handler.accepted(steps[i]) > 0, true, string(abi.encodePacked(steps[i], " is accepted at times")));
            eq(handler.refused(steps[i]) > 0, true, string(abi.encodePacked(steps[i], " is refused at times")));
        }
        invariant_amountsOfAPurchaseAddUp();
        invariant_stateEqualsStateRebuiltFromLogs();
        invariant_refundsAreWithinTheirCaps();
        invariant_openOffersEqualTheirOutstandingSum();
        invariant_balancesEqualTheRecordedTransfers();
        invariant_aPurchaseHasAtMostOneRefund();
        invariant_aDueRefundCanBeCollected();
    }

    function invariant_everyCallSucceedsExactlyWhenItMust() public view {
        string memory mismatch = handler.mismatch();
        if (bytes(mismatch).length != 0) revert Mismatch(mismatch);
    }

    function invariant_amountsOfAPurchaseAddUp() public view {
        uint256 count = handler.idCount();
        for (uint256 i = 0; i < count; ++i) {
            bytes32 id = handler.ids(i);
            IPurchaseRegistrar.Figures memory f = handler.registrar().figures(id);
            eq(f.paid + f.outstanding, f.amount, "paid and outstanding make the amount");
            eq(f.refunded <= f.paid, true, "no more is refunded than was paid");
            eq(f.claimHash == 0 || f.paid > 0, true, "no claim without a payment");
            eq((f.refunded == 0) == (f.decisionHash == 0), true, "a refund has its decision");
            eq(f.claimHash == 0 || f.decisionHash == 0, true, "the decision takes the claim's place");
            eq(handler.registrar().hashPurchase(handler.commitment(id)), id, "the id is the rehash of the commitment");
        }
    }

    function invariant_stateEqualsStateRebuiltFromLogs() public view {
        uint256 count = handler.idCount();
        for (uint256 i = 0; i < count; ++i) {
            bytes32 id = handler.ids(i);
            eq(
                keccak256(abi.encode(handler.registrar().purchase(id))),
                keccak256(abi.encode(handler.replay().purchase(id))),
                "purchase"
            );
        }
        for (uint256 i = 0; i < 2; ++i) {
            eq(
                keccak256(abi.encode(handler.registrar().programState(handler.programs(i)))),
                keccak256(abi.encode(handler.replay().program(handler.programs(i)))),
                "program"
            );
            eq(
                uint160(handler.registrar().pendingAdmin(handler.programs(i))),
                uint160(handler.replay().pendingAdmin(handler.programs(i))),
                "pending admin"
            );
        }
        count = handler.fundingCount();
        for (uint256 i = 0; i < count; ++i) {
            bytes32 program = handler.fundingPrograms(i);
            IPurchaseRegistrar.FundingState memory read = handler.registrar().funding(program, handler.fundingRefs(i));
            bytes32 enrolledAs = handler.registrar().enrolledAs(program, read.wallet);
            // Allowance and balance are state of the token, not of the registrar contract.
            read.allowance = 0;
            read.balance = 0;
            eq(
                keccak256(abi.encode(read)),
                keccak256(abi.encode(handler.replay().funding(program, handler.fundingRefs(i)))),
                "funding"
            );
            eq(enrolledAs, handler.replay().enrolledAs(program, read.wallet), "enrolled as");
        }
    }

    function invariant_refundsAreWithinTheirCaps() public view {
        uint256 fundings = handler.fundingCount();
        uint256 purchases = handler.idCount();
        for (uint256 i = 0; i < fundings; ++i) {
            bytes32 program = handler.fundingPrograms(i);
            bytes32 merchantRef = handler.fundingRefs(i);
            IPurchaseRegistrar.FundingState memory f = handler.registrar().funding(program, merchantRef);
            uint256 refunded;
            for (uint256 j = 0; j < purchases; ++j) {
                IPurchaseRegistrar.PurchaseState memory p = handler.registrar().purchase(handler.ids(j));
                if (p.program != program || p.merchantRef != merchantRef) continue;
                eq(uint160(p.merchant), uint160(f.wallet), "a purchase is its funding's merchant's");
                eq(uint160(p.token), uint160(f.token), "a purchase is in its funding's token");
                refunded += p.refunded;
            }
            eq(f.collected, refunded, "collected is the sum of the refunds");
            eq(f.collected <= f.cap, true, "collected is within the cap");
        }
    }

    function invariant_openOffersEqualTheirOutstandingSum() public view {
        for (uint256 i = 0; i < 2; ++i) {
            bytes32 program = handler.programs(i);
            uint256 outstanding;
            uint256 purchases = handler.idCount();
            for (uint256 j = 0; j < purchases; ++j) {
                IPurchaseRegistrar.PurchaseState memory p = handler.registrar().purchase(handler.ids(j));
                if (p.program != program || p.route != IPurchaseRegistrar.Route.Offer) continue;
                if (p.status == IPurchaseRegistrar.Status.Open) outstanding += p.amount - p.paid;
            }
            eq(handler.registrar().programState(program).openOffers, outstanding, "open offers");
        }
    }

    function invariant_balancesEqualTheRecordedTransfers() public view {
        address[2] memory tokens = [address(handler.token()), address(handler.hostile())];
        for (uint256 t = 0; t < 2; ++t) {
            for (uint256 i = 0; i < 4; ++i) {
                address wallet = handler.wallets(i);
                eq(balance(tokens[t], wallet), handler.expected(tokens[t], wallet), "balance");
            }
            eq(balance(tokens[t], address(handler.registrar())), 0, "the registrar holds nothing");
            eq(balance(tokens[t], handler.source()), 0, "the funding source holds nothing");
        }
    }

    function invariant_aPurchaseHasAtMostOneRefund() public view {
        uint256 refunds;
        uint256 purchases = handler.idCount();
        for (uint256 i = 0; i < purchases; ++i) {
            IPurchaseRegistrar.PurchaseState memory p = handler.registrar().purchase(handler.ids(i));
            eq(p.decisionHash, handler.decisionOf(handler.ids(i)), "the decision that was carried out for it");
            if (p.refunded != 0) ++refunds;
        }
        eq(refunds, handler.accepted("collectRefund"), "a refund for each collection");
    }

    /// @dev Holds after any calls of admins, merchants and other programs, if the merchant's balance and allowance suffice.
    function invariant_aDueRefundCanBeCollected() public {
        uint256 purchases = handler.idCount();
        for (uint256 i = 0; i < purchases; ++i) {
            uint256 owed = handler.owed(handler.ids(i));
            if (owed == 0) continue;
            try this.collect(handler.ids(i), owed) {}
            catch (bytes memory outcome) {
                eq(keccak256(outcome), keccak256(abi.encodeWithSelector(Tried.selector, true)), "it can be collected");
            }
        }
    }

    error Tried(bool accepted);

    /// @dev Always reverts, so the state does not change. Other refunds may have used the decision hash.
    function collect(bytes32 id, uint256 award) external {
        vm.warp(handler.time());
        bytes memory data = abi.encodeCall(handler.registrar().collectRefund, (id, award, handler.someDecision()));
        address registrar = address(handler.registrar());
        vm.prank(handler.operatorOf(id));
        (bool accepted,) = registrar.call(data);
        revert Tried(accepted);
    }

    function balance(address token, address holder) private view returns (uint256) {
        (, bytes memory answer) = token.staticcall(abi.encodeWithSignature("balanceOf(address)", holder));
        return abi.decode(answer, (uint256));
    }

    function draw() private returns (uint256) {
        return uint256(keccak256(abi.encode("walk", ++_seed)));
    }

    function walk(uint256 way) private {
        if (way < 2) handler.wait(draw());
        else if (way == 2) handler.waitForDeadline(draw(), draw() % 2 == 0, draw() % 2 == 0);
        else if (way == 3) handler.setMode(draw());
        else if (way == 4) handler.setTokenPaused(draw());
        else if (way == 5) handler.setBlocked(draw(), draw());
        else if (way == 6) handler.bypass(draw(), draw(), draw());
        else if (way == 7) handler.openProgram(draw(), draw());
        else if (way == 8) handler.setBounds(draw(), draw(), draw(), draw(), draw());
        else if (way == 9) handler.setPaused(draw(), draw(), draw());
        else if (way < 12) handler.enroll(draw(), draw(), draw(), draw(), draw(), draw());
        else if (way == 12) handler.revokeFunding(draw(), draw());
        else if (way < 19) handler.offer(draw(), draw(), draw(), draw());
        else if (way < 23) handler.register(draw(), draw(), draw(), draw());
        else if (way == 23) handler.withdrawOffer(draw(), draw());
        else if (way == 24) handler.expire(draw(), draw());
        else if (way < 30) handler.pay(draw(), draw(), draw());
        else if (way < 33) handler.payBatch(draw(), draw(), draw(), draw());
        else if (way < 36) handler.claim(draw(), draw(), draw());
        else if (way < 40) handler.collectRefund(draw(), draw(), draw(), draw());
        else if (way < 43) handler.payWithPermit(draw(), draw(), draw());
        else if (way == 43) handler.transferAdmin(draw(), draw(), draw());
        else if (way == 44) handler.acceptAdmin(draw(), draw());
        else if (way < 47) handler.setPaused(draw(), draw(), draw());
        else if (way == 47) handler.setBounds(draw(), draw(), draw(), draw(), draw());
        else handler.approve(draw(), draw(), draw());
    }

    function eq(uint256 actual, uint256 expected, string memory what) internal pure {
        if (actual != expected) revert NotEqual(what, actual, expected);
    }

    function eq(bytes32 actual, bytes32 expected, string memory what) internal pure {
        eq(uint256(actual), uint256(expected), what);
    }

    function eq(bool actual, bool expected, string memory what) internal pure {
        eq(actual ? 1 : 0, expected ? 1 : 0, what);
    }
}
