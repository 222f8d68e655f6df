// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPurchaseRegistrar} from "../../interfaces/IPurchaseRegistrar.sol";
import {Fixture} from "../Fixture.t.sol";

contract TransferAdminTest is Fixture {
    address internal heir = account("heir");

    function transfer(address newAdmin) internal {
        vm.prank(admin);
        registrar.transferAdmin(PROGRAM, newAdmin);
    }

    function test_theNamedWalletBecomesTheAdminWhenItAccepts() public {
        expectLog(address(registrar));
        emit IPurchaseRegistrar.AdminTransferStarted(PROGRAM, admin, heir);
        transfer(heir);
        eq(registrar.pendingAdmin(PROGRAM), heir, "pending");
        eq(registrar.programState(PROGRAM).admin, admin, "the admin until then");

        expectLog(address(registrar));
        emit IPurchaseRegistrar.AdminTransferred(PROGRAM, admin, heir);
        vm.prank(heir);
        registrar.acceptAdmin(PROGRAM);
        eq(registrar.pendingAdmin(PROGRAM), address(0), "nothing is pending");
        eq(registrar.programState(PROGRAM).admin, heir, "the new admin");
    }

    function test_theAdminRulesUntilTheTransferAndTheNewOneAfterIt() public {
        transfer(stranger);
        onlyFor(admin, abi.encodeCall(registrar.setPaused, (PROGRAM, true)));
        vm.prank(stranger);
        registrar.acceptAdmin(PROGRAM);
        eq(registrar.programState(PROGRAM).paused, true, "the pause stays");
        onlyFor(stranger, abi.encodeCall(registrar.setPaused, (PROGRAM, false)));
        onlyFor(stranger, abi.encodeCall(registrar.setBounds, (PROGRAM, operator, signer, bounds())));
        onlyFor(stranger, abi.encodeCall(registrar.transferAdmin, (PROGRAM, admin)));
    }

    function test_onlyTheAdminNamesAnother() public {
        onlyFor(admin, abi.encodeCall(registrar.transferAdmin, (PROGRAM, heir)));
    }

    function test_onlyTheNamedWalletAccepts() public {
        transfer(stranger);
        onlyFor(stranger, abi.encodeCall(registrar.acceptAdmin, (PROGRAM)));
    }

    function test_aTransferIsAcceptedOnce() public {
        transfer(heir);
        vm.prank(heir);
        registrar.acceptAdmin(PROGRAM);
        refusesCaller(heir, address(0));
        vm.prank(heir);
        registrar.acceptAdmin(PROGRAM);
    }

    function test_theAdminNamesAnotherWalletInstead() public {
        transfer(stranger);
        transfer(heir);
        refusesCaller(stranger, heir);
        vm.prank(stranger);
        registrar.acceptAdmin(PROGRAM);
    }

    function test_theAdminWithdrawsATransfer() public {
        transfer(heir);
        transfer(address(0));
        refusesCaller(heir, address(0));
        vm.prank(heir);
        registrar.acceptAdmin(PROGRAM);
    }

    function test_aTransferIsForOneProgram() public {
        bytes32 other = keccak256("prg_other");
        vm.prank(admin);
        registrar.openProgram(other, operator, signer, bounds());
        transfer(heir);
        eq(registrar.pendingAdmin(other), address(0), "the other program");
        refusesCaller(heir, address(0));
        vm.prank(heir);
        registrar.acceptAdmin(other);
    }

    function test_newBoundsLeaveATransferPending() public {
        transfer(heir);
        vm.prank(admin);
        registrar.setBounds(PROGRAM, operator, signer, bounds());
        eq(registrar.pendingAdmin(PROGRAM), heir, "pending");
    }

    function test_theProgramMustBeOpen() public {
        bytes memory closed =
            abi.encodeWithSelector(IPurchaseRegistrar.ProgramNotOpen.selector, keccak256("prg_other"));
        refuses(closed);
        registrar.transferAdmin(keccak256("prg_other"), heir);
        refuses(closed);
        registrar.acceptAdmin(keccak256("prg_other"));
        eq(registrar.pendingAdmin(keccak256("prg_other")), address(0), "pending");
    }

    function test_trailingCalldataReverts() public {
        refusesTrailing(admin, abi.encodeCall(registrar.transferAdmin, (PROGRAM, heir)));
        refusesTrailing(heir, abi.encodeCall(registrar.acceptAdmin, (PROGRAM)));
    }

    function test_aDirtyAddressReverts() public {
        bytes memory data = abi.encodeCall(registrar.transferAdmin, (PROGRAM, heir));
        data[36] = 0x01;
        refusesRaw(admin, data, "");
    }
}
