// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {TestUSDC} from "../../TestUSDC.sol";
import {TokenFixture} from "./TokenFixture.t.sol";

contract RolesTest is TokenFixture {
    function test_theOwnerSetsTheOwner() public {
        expectLog(address(usdc));
        emit TestUSDC.OwnershipTransferred(owner, carol);
        vm.prank(owner);
        usdc.transferOwnership(carol);
        eq(usdc.owner(), carol, "owner");
        refuses("Ownable: new owner is the zero address");
        vm.prank(carol);
        usdc.transferOwnership(address(0));
    }

    function test_theOwnerSetsTheMasterMinter() public {
        expectLog(address(usdc));
        emit TestUSDC.MasterMinterChanged(carol);
        vm.prank(owner);
        usdc.updateMasterMinter(carol);
        eq(usdc.masterMinter(), carol, "master minter");
        refuses("FiatToken: new masterMinter is the zero address");
        vm.prank(owner);
        usdc.updateMasterMinter(address(0));
    }

    function test_theOwnerSetsThePauser() public {
        expectLog(address(usdc));
        emit TestUSDC.PauserChanged(carol);
        vm.prank(owner);
        usdc.updatePauser(carol);
        eq(usdc.pauser(), carol, "pauser");
        refuses("Pausable: new pauser is the zero address");
        vm.prank(owner);
        usdc.updatePauser(address(0));
    }

    function test_theOwnerSetsTheBlocklister() public {
        expectLog(address(usdc));
        emit TestUSDC.BlacklisterChanged(carol);
        vm.prank(owner);
        usdc.updateBlacklister(carol);
        eq(usdc.blacklister(), carol, "blocklister");
        refuses("Blacklistable: new blacklister is the zero address");
        vm.prank(owner);
        usdc.updateBlacklister(address(0));
    }

    function test_theOwnerSetsTheRescuer() public {
        expectLog(address(usdc));
        emit TestUSDC.RescuerChanged(carol);
        vm.prank(owner);
        usdc.updateRescuer(carol);
        eq(usdc.rescuer(), carol, "rescuer");
        refuses("Rescuable: new rescuer is the zero address");
        vm.prank(owner);
        usdc.updateRescuer(address(0));
    }

    function test_onlyTheOwnerSetsRoles() public {
        vm.startPrank(carol);
        refuses("Ownable: caller is not the owner");
        usdc.transferOwnership(carol);
        refuses("Ownable: caller is not the owner");
        usdc.updateMasterMinter(carol);
        refuses("Ownable: caller is not the owner");
        usdc.updatePauser(carol);
        refuses("Ownable: caller is not the owner");
        usdc.updateBlacklister(carol);
        refuses("Ownable: caller is not the owner");
        usdc.updateRescuer(carol);
        vm.stopPrank();
    }
}
