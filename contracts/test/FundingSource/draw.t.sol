// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {FundingSource} from "../../FundingSource.sol";
import {HostileToken} from "../../adversaries/HostileToken.sol";
import {ICommonErrors} from "../../interfaces/ICommonErrors.sol";
import {IFundingSource} from "../../interfaces/IFundingSource.sol";
import {Assertions} from "../Assertions.t.sol";

contract DrawTest is Assertions {
    address private merchant = account("merchant");
    address private beneficiary = account("beneficiary");
    address private stranger = account("stranger");
    HostileToken private token;
    FundingSource private source;

    /// @dev The test deploys the funding source, so the test is the registrar.
    function setUp() public {
        token = new HostileToken();
        source = FundingSource(create("FundingSource", ""));
        token.mint(merchant, 100);
        vm.prank(merchant);
        token.approve(address(source), 50);
    }

    function test_theDeployerIsTheRegistrar() public view {
        eq(source.registrar(), address(this), "registrar");
    }

    function test_theRegistrarDraws() public {
        source.draw(address(token), merchant, beneficiary, 50);
        eq(token.balanceOf(merchant), 50, "merchant");
        eq(token.balanceOf(beneficiary), 50, "beneficiary");
        eq(token.balanceOf(address(source)), 0, "nothing stays here");
    }

    function test_onlyTheRegistrarDraws() public {
        vm.expectRevert(abi.encodeWithSelector(IFundingSource.NotRegistrar.selector, stranger, address(this)));
        vm.prank(stranger);
        source.draw(address(token), merchant, stranger, 1);
    }

    /// @dev Even the merchant cannot use its allowance through the funding source.
    function test_theMerchantCannotDraw() public {
        address[2] memory receivers = [merchant, beneficiary];
        for (uint256 i = 0; i < receivers.length; ++i) {
            vm.expectRevert(
                abi.encodeWithSelector(IFundingSource.NotRegistrar.selector, merchant, address(this))
            );
            vm.prank(merchant);
            source.draw(address(token), merchant, receivers[i], 1);
        }
        eq(token.allowance(merchant, address(source)), 50, "the allowance stays");
    }

    /// @dev The registrar contract deploys the funding source; the account that deployed the registrar contract draws nothing.
    function test_theDeployerOfTheRegistrarCannotDraw() public {
        vm.startPrank(stranger, stranger);
        address deployed = newRegistrar().fundingSource();
        vm.stopPrank();
        vm.prank(merchant);
        token.approve(deployed, 50);
        address expected = FundingSource(deployed).registrar();
        vm.expectRevert(abi.encodeWithSelector(IFundingSource.NotRegistrar.selector, stranger, expected));
        vm.prank(stranger, stranger);
        FundingSource(deployed).draw(address(token), merchant, stranger, 1);
    }

    /// @dev The sender of the transaction that the registrar contract is called in draws nothing itself.
    function test_theSenderOfTheTransactionCannotDraw() public {
        vm.expectRevert(abi.encodeWithSelector(IFundingSource.NotRegistrar.selector, stranger, address(this)));
        vm.prank(stranger, address(this));
        source.draw(address(token), merchant, stranger, 1);
    }

    function test_theTokenAndTheFundingSourceCannotDraw() public {
        address[2] memory callers = [address(token), address(source)];
        for (uint256 i = 0; i < callers.length; ++i) {
            vm.expectRevert(
                abi.encodeWithSelector(IFundingSource.NotRegistrar.selector, callers[i], address(this))
            );
            vm.prank(callers[i]);
            source.draw(address(token), merchant, beneficiary, 1);
        }
    }

    /// @dev It answers each call, also `fundingSource()`, with the address of the funding source.
    function test_aContractThatClaimsTheFundingSourceCannotDraw() public {
        vm.etch(stranger, abi.encodePacked(hex"73", address(source), hex"5f5260205ff3"));
        test_onlyTheRegistrarDraws();
    }

    function test_drawingMoreThanTheAllowanceReverts() public {
        vm.expectRevert();
        source.draw(address(token), merchant, beneficiary, 51);
        eq(token.balanceOf(beneficiary), 0, "beneficiary");
    }

    function test_trailingCalldataReverts() public {
        bytes memory data = abi.encodeCall(source.draw, (address(token), merchant, beneficiary, 1));
        (bool success, bytes memory returned) = address(source).call(abi.encodePacked(data, bytes1(0)));
        eq(success, false, "refused");
        eq(
            keccak256(returned),
            keccak256(
                abi.encodeWithSelector(
                    ICommonErrors.NonCanonicalLength.selector, data.length + 1, data.length
                )
            ),
            "reason"
        );
    }

    function test_anExactTransferMovesBothBalances() public {
        refusesInexact(HostileToken.Behavior.FeeOnReceiver, beneficiary, 9, 10);
        refusesInexact(HostileToken.Behavior.FeeOnSender, merchant, 89, 90);
        refusesInexact(HostileToken.Behavior.ExtraCredit, beneficiary, 11, 10);
        refusesInexact(HostileToken.Behavior.NoTransfer, merchant, 100, 90);
    }

    function test_anExactTransferBetweenContractsMovesBothBalances() public {
        vm.etch(merchant, hex"00");
        vm.etch(beneficiary, hex"00");
        test_anExactTransferMovesBothBalances();
    }

    function refusesInexact(HostileToken.Behavior behavior, address holder, uint256 actual, uint256 expected) private {
        token.setBehavior(behavior);
        vm.expectRevert(
            abi.encodeWithSelector(
                ICommonErrors.InexactTransfer.selector, address(token), holder, actual, expected
            )
        );
        source.draw(address(token), merchant, beneficiary, 10);
        eq(token.balanceOf(merchant), 100, "merchant");
    }

    function test_aTransferWithoutEffectAboveTheBalanceReverts() public {
        token.setBehavior(HostileToken.Behavior.NoTransfer);
        vm.expectRevert(
            abi.encodeWithSelector(
                ICommonErrors.InexactTransfer.selector, address(token), merchant, 100, type(uint256).max
            )
        );
        source.draw(address(token), merchant, beneficiary, 101);
    }

    function test_aReturnValueOtherThanTrueReverts() public {
        refusesAnswer(HostileToken.Behavior.ReturnsFalse);
        refusesAnswer(HostileToken.Behavior.ReturnsTwo);
    }

    function refusesAnswer(HostileToken.Behavior behavior) private {
        token.setBehavior(behavior);
        vm.expectRevert(abi.encodeWithSelector(ICommonErrors.SafeERC20FailedOperation.selector, address(token)));
        source.draw(address(token), merchant, beneficiary, 10);
    }

    function test_aMissingReturnValueIsAccepted() public {
        token.setBehavior(HostileToken.Behavior.ReturnsNothing);
        source.draw(address(token), merchant, beneficiary, 10);
        eq(token.balanceOf(beneficiary), 10, "beneficiary");
    }

    function test_aTokenWithoutCodeReverts() public {
        vm.expectRevert();
        source.draw(stranger, merchant, beneficiary, 0);
    }

    function test_aTransferToTheSenderReverts() public {
        vm.expectRevert(
            abi.encodeWithSelector(ICommonErrors.InexactTransfer.selector, address(token), merchant, 100, 90)
        );
        source.draw(address(token), merchant, merchant, 10);
    }
}
