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

    /// @dev The test is the registrar: it deploys the source.
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

    function test_nobodyElseDraws() public {
        vm.expectRevert(abi.encodeWithSelector(IFundingSource.NotRegistrar.selector, stranger, address(this)));
        vm.prank(stranger);
        source.draw(address(token), merchant, stranger, 1);
    }

    /// @dev The merchant's own allowance is for the registrar contract alone, whatever the merchant draws and to whom.
    function test_theMerchantItselfDoesNotDraw() public {
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

    function test_theTokenAndTheSourceItselfDoNotDraw() public {
        address[2] memory callers = [address(token), address(source)];
        for (uint256 i = 0; i < callers.length; ++i) {
            vm.expectRevert(
                abi.encodeWithSelector(IFundingSource.NotRegistrar.selector, callers[i], address(this))
            );
            vm.prank(callers[i]);
            source.draw(address(token), merchant, beneficiary, 1);
        }
    }

    function test_notMoreThanTheAllowance() public {
        vm.expectRevert();
        source.draw(address(token), merchant, beneficiary, 51);
        eq(token.balanceOf(beneficiary), 0, "beneficiary");
    }

    function test_trailingCalldataIsRefused() public {
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
        refusesInexact(HostileToken.Manner.FeeFromReceiver, beneficiary, 9, 10);
        refusesInexact(HostileToken.Manner.FeeFromSender, merchant, 89, 90);
        refusesInexact(HostileToken.Manner.Bonus, beneficiary, 11, 10);
        refusesInexact(HostileToken.Manner.Silent, merchant, 100, 90);
    }

    function refusesInexact(HostileToken.Manner manner, address holder, uint256 actual, uint256 expected) private {
        token.setManner(manner);
        vm.expectRevert(
            abi.encodeWithSelector(
                ICommonErrors.InexactTransfer.selector, address(token), holder, actual, expected
            )
        );
        source.draw(address(token), merchant, beneficiary, 10);
        eq(token.balanceOf(merchant), 100, "merchant");
    }

    function test_aSilentTransferOfMoreThanTheBalanceIsRefused() public {
        token.setManner(HostileToken.Manner.Silent);
        vm.expectRevert(
            abi.encodeWithSelector(
                ICommonErrors.InexactTransfer.selector, address(token), merchant, 100, type(uint256).max
            )
        );
        source.draw(address(token), merchant, beneficiary, 101);
    }

    function test_anAnswerOtherThanTrueIsRefused() public {
        refusesAnswer(HostileToken.Manner.FalseAnswer);
        refusesAnswer(HostileToken.Manner.OddAnswer);
    }

    function refusesAnswer(HostileToken.Manner manner) private {
        token.setManner(manner);
        vm.expectRevert(abi.encodeWithSelector(ICommonErrors.SafeERC20FailedOperation.selector, address(token)));
        source.draw(address(token), merchant, beneficiary, 10);
    }

    function test_noAnswerIsAccepted() public {
        token.setManner(HostileToken.Manner.NoAnswer);
        source.draw(address(token), merchant, beneficiary, 10);
        eq(token.balanceOf(beneficiary), 10, "beneficiary");
    }

    function test_aTokenWithoutCodeIsRefused() public {
        vm.expectRevert();
        source.draw(stranger, merchant, beneficiary, 0);
    }

    function test_aTransferToOneselfIsRefused() public {
        vm.expectRevert(
            abi.encodeWithSelector(ICommonErrors.InexactTransfer.selector, address(token), merchant, 100, 90)
        );
        source.draw(address(token), merchant, merchant, 10);
    }
}
