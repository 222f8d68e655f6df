// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPurchaseRegistrar} from "../../interfaces/IPurchaseRegistrar.sol";
import {Fixture} from "../Fixture.t.sol";

contract OpenProgramTest is Fixture {
    bytes32 internal constant OTHER = keccak256("prg_other");

    function test_theCallerBecomesTheAdmin() public {
        expectLog(address(registrar));
        emit IPurchaseRegistrar.ProgramOpened(OTHER, stranger, operator, signer, bounds());
        vm.prank(stranger);
        registrar.openProgram(OTHER, operator, signer, bounds());

        IPurchaseRegistrar.ProgramState memory state = registrar.programState(OTHER);
        eq(state.admin, stranger, "admin");
        eq(state.operator, operator, "operator");
        eq(state.commitmentSigner, signer, "signer");
        eq(state.paused, false, "paused");
        eq(state.bounds.maxPurchase, MAX_PURCHASE, "largest purchase");
        eq(state.bounds.openBudget, OPEN_BUDGET, "budget");
        eq(state.bounds.validUntil, BOUNDS_UNTIL, "valid until");
        eq(state.openOffers, 0, "open offers");
    }

    function test_aProgramIsOpenedOnce() public {
        refuses(abi.encodeWithSelector(IPurchaseRegistrar.ProgramAlreadyOpen.selector, PROGRAM, admin));
        vm.prank(admin);
        registrar.openProgram(PROGRAM, operator, signer, bounds());
        address[] memory others = everyoneBut(admin);
        for (uint256 i = 0; i < others.length; ++i) {
            refuses(abi.encodeWithSelector(IPurchaseRegistrar.ProgramAlreadyOpen.selector, PROGRAM, admin));
            vm.prank(others[i]);
            registrar.openProgram(PROGRAM, others[i], others[i], bounds());
        }
    }

    /// @dev Neither its operator nor its signer nor its pause decides whether a program is open.
    function test_aProgramWithoutOperatorAndSignerStaysOpen() public {
        vm.prank(admin);
        registrar.setBounds(PROGRAM, address(0), address(0), IPurchaseRegistrar.Bounds(0, 0, 0));
        pause();
        refuses(abi.encodeWithSelector(IPurchaseRegistrar.ProgramAlreadyOpen.selector, PROGRAM, admin));
        vm.prank(stranger);
        registrar.openProgram(PROGRAM, stranger, stranger, bounds());
    }

    function test_aZeroProgramReverts() public {
        refusesZero();
        registrar.openProgram(bytes32(0), operator, signer, bounds());
    }

    function test_boundsUpToUint128Succeed() public {
        IPurchaseRegistrar.Bounds memory wide = bounds();
        wide.maxPurchase = type(uint128).max;
        wide.openBudget = type(uint128).max;
        registrar.openProgram(OTHER, operator, signer, wide);
        eq(registrar.programState(OTHER).bounds.maxPurchase, type(uint128).max, "largest purchase");
        eq(registrar.programState(OTHER).bounds.openBudget, type(uint128).max, "budget");
    }

    function test_aLargestPurchaseAboveUint128Reverts() public {
        IPurchaseRegistrar.Bounds memory wide = bounds();
        wide.maxPurchase = uint256(type(uint128).max) + 1;
        refusesAmount("maxPurchase", wide.maxPurchase, 0, type(uint128).max);
        registrar.openProgram(OTHER, operator, signer, wide);
    }

    function test_aBudgetAboveUint128Reverts() public {
        IPurchaseRegistrar.Bounds memory wide = bounds();
        wide.openBudget = uint256(type(uint128).max) + 1;
        refusesAmount("openBudget", wide.openBudget, 0, type(uint128).max);
        registrar.openProgram(OTHER, operator, signer, wide);
    }

    function test_trailingCalldataReverts() public {
        refusesTrailing(
            stranger, abi.encodeCall(registrar.openProgram, (OTHER, operator, signer, bounds()))
        );
    }

    function test_aDirtyAddressReverts() public {
        bytes memory data = abi.encodeCall(registrar.openProgram, (OTHER, operator, signer, bounds()));
        data[36] = 0x01;
        refusesRaw(stranger, data, "");
    }
}
