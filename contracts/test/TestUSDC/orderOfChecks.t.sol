// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {TokenFixture} from "./TokenFixture.t.sol";

/// @dev If two checks fail, the revert reason is that of the first check, in the same order as in the original.
contract OrderOfChecksTest is TokenFixture {
    function test_mintChecksThePauseThenTheMinterThenTheBlocklist() public {
        block_(carol);
        pause();
        refusesPaused();
        vm.prank(carol);
        usdc.mint(bob, 1);
        unpause();
        refuses("FiatToken: caller is not a minter");
        vm.prank(carol);
        usdc.mint(bob, 1);
        addMinter(carol, 0);
        refusesBlocked();
        vm.prank(carol);
        usdc.mint(address(0), 0);
    }

    function test_mintChecksTheReceiverThenTheAmountThenTheAllowance() public {
        addMinter(minter, 0);
        refuses("FiatToken: mint to the zero address");
        vm.prank(minter);
        usdc.mint(address(0), 0);
        refuses("FiatToken: mint amount not greater than 0");
        vm.prank(minter);
        usdc.mint(bob, 0);
        refuses("FiatToken: mint amount exceeds minterAllowance");
        vm.prank(minter);
        usdc.mint(bob, type(uint256).max);
    }

    function test_burnChecksThePauseThenTheMinterThenTheBlocklistThenTheAmount() public {
        block_(carol);
        pause();
        refusesPaused();
        vm.prank(carol);
        usdc.burn(0);
        unpause();
        refuses("FiatToken: caller is not a minter");
        vm.prank(carol);
        usdc.burn(0);
        addMinter(carol, 0);
        refusesBlocked();
        vm.prank(carol);
        usdc.burn(0);
    }

    function test_configureMinterChecksThePauseThenTheCaller() public {
        pause();
        refusesPaused();
        vm.prank(carol);
        usdc.configureMinter(carol, 1);
    }

    function test_transferChecksThePauseThenTheBlocklistThenTheReceiverThenTheBalance() public {
        block_(carol);
        pause();
        refusesPaused();
        vm.prank(carol);
        usdc.transfer(address(0), 1);
        unpause();
        refusesBlocked();
        vm.prank(carol);
        usdc.transfer(address(0), 1);
        refuses("ERC20: transfer to the zero address");
        vm.prank(bob);
        usdc.transfer(address(0), 1);
    }

    function test_transferFromChecksTheAllowanceThenTheAddressesThenTheBalance() public {
        refuses("ERC20: transfer amount exceeds allowance");
        vm.prank(carol);
        usdc.transferFrom(bob, alice, 1);
        refuses("ERC20: transfer amount exceeds allowance");
        vm.prank(carol);
        usdc.transferFrom(address(0), address(0), 1);
        refuses("ERC20: transfer from the zero address");
        vm.prank(carol);
        usdc.transferFrom(address(0), address(0), 0);
        vm.prank(bob);
        usdc.approve(carol, 1);
        refuses("ERC20: transfer to the zero address");
        vm.prank(carol);
        usdc.transferFrom(bob, address(0), 1);
        refuses("ERC20: transfer amount exceeds balance");
        vm.prank(carol);
        usdc.transferFrom(bob, alice, 1);
    }

    function test_approveChecksThePauseThenTheAddresses() public {
        pause();
        refusesPaused();
        vm.prank(address(0));
        usdc.approve(address(0), 1);
        unpause();
        refuses("ERC20: approve from the zero address");
        vm.prank(address(0));
        usdc.approve(address(0), 1);
    }

    function test_permitChecksThePauseThenTheDeadlineThenTheSignature() public {
        pause();
        refusesPaused();
        usdc.permit(alice, address(0), 1, START - 1, "");
        unpause();
        refuses("FiatTokenV2: permit is expired");
        usdc.permit(alice, address(0), 1, START - 1, "");
        refuses("ECRecover: invalid signature length");
        usdc.permit(alice, address(0), 1, START, "");
    }

    function test_anAuthorizationChecksThePauseThenTheBlocklistThenTheTimes() public {
        block_(bob);
        pause();
        refusesPaused();
        usdc.transferWithAuthorization(alice, bob, 1, START, START, NONCE, "");
        unpause();
        refusesBlocked();
        usdc.transferWithAuthorization(alice, bob, 1, START, START, NONCE, "");
        refuses("FiatTokenV2: authorization is not yet valid");
        usdc.transferWithAuthorization(alice, carol, 1, START, START, NONCE, "");
        refuses("FiatTokenV2: authorization is expired");
        usdc.transferWithAuthorization(alice, carol, 1, START - 1, START, NONCE, "");
        refuses("ECRecover: invalid signature length");
        usdc.transferWithAuthorization(alice, carol, 1, START - 1, START + 1, NONCE, "");
        refuses("FiatTokenV2: caller must be the payee");
        usdc.receiveWithAuthorization(alice, carol, 1, START, START, NONCE, "");
    }

    function test_aUsedNonceIsCheckedBeforeTheSignature() public {
        bytes memory signature =
            sign(ALICE_KEY, keccak256(abi.encode(usdc.CANCEL_AUTHORIZATION_TYPEHASH(), alice, NONCE)));
        usdc.cancelAuthorization(alice, NONCE, signature);
        refuses("FiatTokenV2: authorization is used or canceled");
        usdc.cancelAuthorization(alice, NONCE, "");
        refuses("FiatTokenV2: authorization is used or canceled");
        usdc.transferWithAuthorization(alice, carol, 1, START - 1, START + 1, NONCE, "");
        refuses("FiatTokenV2: authorization is expired");
        usdc.transferWithAuthorization(alice, carol, 1, START - 1, START, NONCE, "");
    }

    function unpause() private {
        vm.prank(pauser);
        usdc.unpause();
    }

    function addMinter(address holder, uint256 allowed) private {
        vm.prank(masterMinter);
        usdc.configureMinter(holder, allowed);
    }
}
