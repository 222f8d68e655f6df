// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ContractSigner} from "../../adversaries/ContractSigner.sol";
import {TokenFixture} from "./TokenFixture.t.sol";

contract PermitTest is TokenFixture {
    function structHash(address holder, uint256 value, uint256 nonce, uint256 deadline)
        private
        view
        returns (bytes32)
    {
        return keccak256(abi.encode(usdc.PERMIT_TYPEHASH(), holder, bob, value, nonce, deadline));
    }

    function permit(uint256 deadline, bytes memory signature) private {
        usdc.permit(alice, bob, 5, deadline, signature);
    }

    function test_aSignatureSetsAnAllowance() public {
        (uint8 v, bytes32 r, bytes32 s) = split(sign(ALICE_KEY, structHash(alice, 5, 0, START)));
        expectLog(address(usdc));
        emit IERC20.Approval(alice, bob, 5);
        usdc.permit(alice, bob, 5, START, v, r, s);
        eq(usdc.allowance(alice, bob), 5, "allowance");
        eq(usdc.nonces(alice), 1, "nonce");
    }

    function test_aSignatureAsBytesDoesTheSame() public {
        permit(START, sign(ALICE_KEY, structHash(alice, 5, 0, START)));
        eq(usdc.allowance(alice, bob), 5, "allowance");
    }

    function test_aPermitIsUsedOnce() public {
        bytes memory signature = sign(ALICE_KEY, structHash(alice, 5, 0, START));
        permit(START, signature);
        refuses("EIP2612: invalid signature");
        permit(START, signature);
    }

    function test_theDeadlineIsInclusive() public {
        bytes memory signature = sign(ALICE_KEY, structHash(alice, 5, 0, START + 10));
        vm.warp(START + 11);
        refuses("FiatTokenV2: permit is expired");
        permit(START + 10, signature);
        vm.warp(START + 10);
        permit(START + 10, signature);
        eq(usdc.allowance(alice, bob), 5, "allowance");
    }

    function test_aDeadlineOfZeroHasPassed() public {
        bytes memory signature = sign(ALICE_KEY, structHash(alice, 5, 0, 0));
        refuses("FiatTokenV2: permit is expired");
        permit(0, signature);
    }

    function test_theLargestDeadlineNeverExpires() public {
        vm.warp(type(uint64).max);
        permit(type(uint256).max, sign(ALICE_KEY, structHash(alice, 5, 0, type(uint256).max)));
        eq(usdc.allowance(alice, bob), 5, "allowance");
    }

    function test_anotherSignerReverts() public {
        bytes memory signature = sign(ALICE_KEY + 1, structHash(alice, 5, 0, START));
        refuses("EIP2612: invalid signature");
        permit(START, signature);
    }

    function test_aSignatureForAnotherChainReverts() public {
        bytes memory signature = sign(ALICE_KEY, structHash(alice, 5, 0, START));
        vm.chainId(block.chainid + 1);
        refuses("EIP2612: invalid signature");
        permit(START, signature);
    }

    function test_aHighSReverts() public {
        bytes memory signature = malleate(sign(ALICE_KEY, structHash(alice, 5, 0, START)));
        refuses("ECRecover: invalid signature 's' value");
        permit(START, signature);
    }

    function test_aVOtherThan27Or28Reverts() public {
        (uint8 v, bytes32 r, bytes32 s) = split(sign(ALICE_KEY, structHash(alice, 5, 0, START)));
        refuses("ECRecover: invalid signature 'v' value");
        permit(START, abi.encodePacked(r, s, v - 27));
        refuses("ECRecover: invalid signature 'v' value");
        permit(START, abi.encodePacked(r, s, uint8(29)));
        refuses("ECRecover: invalid signature 'v' value");
        permit(START, abi.encodePacked(r, s, uint8(26)));
    }

    function test_aSignatureOfAnotherLengthReverts() public {
        (, bytes32 r, bytes32 s) = split(sign(ALICE_KEY, structHash(alice, 5, 0, START)));
        refuses("ECRecover: invalid signature length");
        permit(START, abi.encodePacked(r, s));
        refuses("ECRecover: invalid signature length");
        permit(START, "");
    }

    function test_aPointOffTheCurveReverts() public {
        refuses("ECRecover: invalid signature");
        permit(START, abi.encodePacked(bytes32(0), bytes32(uint256(1)), uint8(27)));
        refuses("ECRecover: invalid signature");
        permit(START, abi.encodePacked(bytes32(0), bytes32(uint256(1)), uint8(28)));
    }

    function test_theZeroAddressAsSpenderReverts() public {
        bytes32 hash =
            keccak256(abi.encode(usdc.PERMIT_TYPEHASH(), alice, address(0), uint256(5), uint256(0), START));
        bytes memory signature = sign(ALICE_KEY, hash);
        refuses("ERC20: approve to the zero address");
        usdc.permit(alice, address(0), 5, START, signature);
    }

    function test_aContractHolderIsCheckedWithERC1271() public {
        ContractSigner wallet = new ContractSigner(alice);
        bytes memory signature = sign(ALICE_KEY, structHash(address(wallet), 5, 0, START));
        usdc.permit(address(wallet), bob, 5, START, signature);
        eq(usdc.allowance(address(wallet), bob), 5, "allowance");

        wallet.setBehavior(ContractSigner.Behavior.RefusesAll);
        signature = sign(ALICE_KEY, structHash(address(wallet), 5, 1, START));
        refuses("EIP2612: invalid signature");
        usdc.permit(address(wallet), bob, 5, START, signature);
        eq(usdc.nonces(address(wallet)), 1, "nonce");
    }

    function test_aHolderWithAnyCodeIsNotRecovered() public {
        bytes memory signature = sign(ALICE_KEY, structHash(alice, 5, 0, START));
        // One byte of code (STOP), which returns nothing.
        vm.etch(alice, hex"00");
        refuses("EIP2612: invalid signature");
        permit(START, signature);
    }

    function test_bothOverloadsRevertWhilePaused() public {
        bytes memory signature = sign(ALICE_KEY, structHash(alice, 5, 0, START));
        (uint8 v, bytes32 r, bytes32 s) = split(signature);
        pause();
        refusesPaused();
        permit(START, signature);
        refusesPaused();
        usdc.permit(alice, bob, 5, START, v, r, s);
    }

    function test_theBlocklistIsNotChecked() public {
        block_(alice);
        block_(bob);
        permit(START, sign(ALICE_KEY, structHash(alice, 5, 0, START)));
        eq(usdc.allowance(alice, bob), 5, "allowance");
    }
}
