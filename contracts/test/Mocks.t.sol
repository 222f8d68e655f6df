// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPurchaseRegistrar} from "../interfaces/IPurchaseRegistrar.sol";
import {MockFundingSource} from "../mocks/MockFundingSource.sol";
import {MockToken} from "../mocks/MockToken.sol";
import {MockWallet} from "../mocks/MockWallet.sol";
import {Fixture} from "./Fixture.t.sol";

/// @title Mocks
/// @notice Tests that each mode of each mock does what it says, and what the registrar contract then does.
contract MocksTest is Fixture {
    address private constant FROM = address(0xF1);
    address private constant TO = address(0xF2);

    /// @dev The receiver of the mocks' callbacks.
    uint256 private calledBack;
    MockToken private token;

    function setUp() public override {
        super.setUp();
        token = new MockToken();
        token.mint(FROM, 1000);
        token.mint(address(this), 1000);
        vm.prank(FROM);
        token.approve(address(this), 1000);
    }

    function noteCallback() external {
        ++calledBack;
    }

    function refuseCallback() external pure {
        revert("refused");
    }

    /// @dev Transfers 10 in a mode, and checks what has moved.
    function moves(MockToken.Mode mode, uint256 taken, uint256 given) private {
        token.setMode(mode, "");
        uint256 had = token.balanceOf(FROM);
        uint256 received = token.balanceOf(TO);
        uint256 supply = token.totalSupply();
        (bool success,) = address(token).call(abi.encodeCall(token.transferFrom, (FROM, TO, 10)));
        eq(success, true, "success");
        eq(token.balanceOf(FROM), had - taken, "the sender's balance");
        eq(token.balanceOf(TO), received + given, "the receiver's balance");
        eq(token.totalSupply(), supply - taken + given, "the supply");
    }

    function test_eachModeMovesWhatItSays() public {
        moves(MockToken.Mode.Honest, 10, 10);
        moves(MockToken.Mode.Fee, 10, 9);
        moves(MockToken.Mode.MovesNothing, 0, 0);
        moves(MockToken.Mode.Bonus, 10, 11);
        moves(MockToken.Mode.ReturnsFalse, 10, 10);
        moves(MockToken.Mode.ReturnsNothing, 10, 10);
        moves(MockToken.Mode.ReturnsHugeData, 10, 10);
    }

    function test_eachModeReturnsWhatItSays() public {
        token.setMode(MockToken.Mode.Honest, "");
        eq(token.transfer(TO, 1), true, "honest");
        token.setMode(MockToken.Mode.ReturnsFalse, "");
        eq(token.transfer(TO, 1), false, "false");
        token.setMode(MockToken.Mode.ReturnsNothing, "");
        (, bytes memory nothing) = address(token).call(abi.encodeCall(token.transfer, (TO, 1)));
        eq(nothing.length, 0, "nothing");
        token.setMode(MockToken.Mode.ReturnsHugeData, "");
        (, bytes memory huge) = address(token).call(abi.encodeCall(token.transfer, (TO, 1)));
        eq(huge.length, 65_568, "huge data");
        eq(abi.decode(huge, (bool)), true, "the first word");
    }

    function test_aTransferIsRefusedWithAnErrorOfTheToken() public {
        bytes memory call = abi.encodeCall(token.transfer, (TO, 1));
        token.setMode(MockToken.Mode.RevertsWithError, "");
        refusesCall(call, abi.encodeWithSelector(MockToken.TransferRefused.selector, address(this), TO, 1));
        token.setMode(MockToken.Mode.Honest, "");
        token.setPaused(true);
        refusesCall(call, abi.encodeWithSelector(MockToken.TokenPaused.selector));
        token.setPaused(false);
        token.setBlocked(TO, true);
        refusesCall(call, abi.encodeWithSelector(MockToken.AccountBlocked.selector, TO));
        token.setBlocked(TO, false);
        token.setBlocked(address(this), true);
        refusesCall(call, abi.encodeWithSelector(MockToken.AccountBlocked.selector, address(this)));
        token.setBlocked(address(this), false);
        token.transfer(TO, 1);
        eq(token.balanceOf(TO), 1, "afterwards");
    }

    function test_aTransferAndAPermitCallBack() public {
        token.setMode(MockToken.Mode.CallsBack, abi.encodeCall(this.noteCallback, ()));
        token.transfer(TO, 1);
        token.transferFrom(FROM, TO, 1);
        token.permit(FROM, address(this), 7, 0, 0, 0, 0);
        eq(calledBack, 3, "callbacks");
        eq(token.allowance(FROM, address(this)), 7, "allowance");
        token.setMode(MockToken.Mode.CallsBack, abi.encodeCall(this.refuseCallback, ()));
        refusesCall(abi.encodeCall(token.transfer, (TO, 1)), abi.encodeWithSignature("Error(string)", "refused"));
    }

    function test_balancesAndDecimalsAreSet() public {
        token.setBalance(TO, 5);
        eq(token.balanceOf(TO), 5, "balance");
        eq(token.totalSupply(), 2005, "supply");
        token.setDecimals(18);
        eq(token.decimals(), 18, "decimals");
    }

    /// @dev The registrar contract relies on its own funding source for the amount: only a draw that reverts stops a refund.
    function test_aFundingSourceDrawsAsItsModeSays() public {
        MockFundingSource mock = new MockFundingSource();
        vm.prank(FROM);
        token.approve(address(mock), 1000);
        uint8[4] memory drawn = [10, 11, 9, 0];
        for (uint256 mode = 0; mode < drawn.length; ++mode) {
            mock.setMode(MockFundingSource.Mode(mode), "");
            uint256 before = token.balanceOf(TO);
            mock.draw(address(token), FROM, TO, 10);
            eq(token.balanceOf(TO), before + drawn[mode], "drawn");
        }
        mock.setMode(MockFundingSource.Mode.CallsBack, abi.encodeCall(this.noteCallback, ()));
        mock.draw(address(token), FROM, TO, 10);
        eq(calledBack, 1, "callbacks");
        mock.setRegistrar(TO);
        eq(mock.registrar(), TO, "registrar");
        bytes memory draw = abi.encodeCall(mock.draw, (address(token), FROM, TO, 10));
        mock.setMode(MockFundingSource.Mode.Reverts, "");
        refusesCall(address(mock), draw, abi.encodeWithSelector(MockFundingSource.DrawRefused.selector));
        mock.setMode(MockFundingSource.Mode.Honest, "");
        token.setPaused(true);
        refusesCall(address(mock), draw, abi.encodeWithSelector(MockFundingSource.TransferFailed.selector));
    }

    function test_aWalletAnswersAsItsModeSays() public {
        MockWallet wallet = new MockWallet();
        eq(bytes32(wallet.isValidSignature(0, "")), bytes32(bytes4(0x1626ba7e)), "accepts");
        wallet.setMode(MockWallet.Mode.Denies);
        eq(bytes32(wallet.isValidSignature(0, "")), bytes32(bytes4(0xffffffff)), "denies");
        wallet.setMode(MockWallet.Mode.Reverts);
        bytes memory ask = abi.encodeCall(wallet.isValidSignature, (0, ""));
        refusesCall(address(wallet), ask, abi.encodeWithSelector(MockWallet.SignatureRefused.selector));
        wallet.setMode(MockWallet.Mode.BurnsGas);
        uint256 gas = gasleft();
        (bool success,) = address(wallet).call{gas: 100_000}(ask);
        eq(success, false, "burns gas");
        eq(gas - gasleft() > 100_000, true, "all the gas");
        wallet.execute(address(this), abi.encodeCall(this.noteCallback, ()));
        eq(calledBack, 1, "the wallet's call");
        bytes memory execute = abi.encodeCall(wallet.execute, (address(this), abi.encodeCall(this.refuseCallback, ())));
        refusesCall(address(wallet), execute, abi.encodeWithSignature("Error(string)", "refused"));
    }

    function test_aContractSignerThatAcceptsOpensAPurchase() public {
        MockWallet wallet = new MockWallet();
        vm.prank(admin);
        registrar.setBounds(PROGRAM, operator, address(wallet), bounds());
        vm.prank(operator);
        registrar.offer(commitment(), hex"01");
        wallet.setMode(MockWallet.Mode.Denies);
        IPurchaseRegistrar.Purchase memory next = commitment();
        next.salt = keccak256("next");
        refusesRaw(
            operator,
            abi.encodeCall(registrar.offer, (next, hex"01")),
            abi.encodeWithSelector(IPurchaseRegistrar.InvalidSignature.selector, address(wallet), registrar.hashPurchase(next))
        );
    }

    function refusesCall(bytes memory call, bytes memory reason) private {
        refusesCall(address(token), call, reason);
    }

    function refusesCall(address target, bytes memory call, bytes memory reason) private {
        (bool success, bytes memory actual) = target.call(call);
        eq(success, false, "refused");
        eq(keccak256(actual), keccak256(reason), "reason");
    }
}
