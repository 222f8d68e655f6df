// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {TestUSDC} from "../../TestUSDC.sol";
import {Assertions} from "../Assertions.t.sol";

/// @title TokenFixture
/// @notice Deploys the token with one account for each role, and two holders with known keys.
abstract contract TokenFixture is Assertions {
    uint256 internal constant ALICE_KEY = 0xA11CE;
    uint256 internal constant START = 1_800_000_000;
    uint256 internal constant CURVE_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141;
    bytes32 internal constant NONCE = keccak256("nonce");

    address internal owner = account("owner");
    address internal masterMinter = account("master minter");
    address internal pauser = account("pauser");
    address internal blacklister = account("blacklister");
    address internal minter = account("minter");
    address internal alice = vm.addr(ALICE_KEY);
    address internal bob = account("bob");
    address internal carol = account("carol");

    TestUSDC internal usdc;

    function setUp() public virtual {
        vm.warp(START);
        usdc = newUSDC("USDC", "USDC", owner, masterMinter, pauser, blacklister);
        usdc.faucet(alice, 1_000);
    }

    function refuses(string memory reason) internal {
        vm.expectRevert(bytes(reason));
    }

    function pause() internal {
        vm.prank(pauser);
        usdc.pause();
    }

    function refusesPaused() internal {
        refuses("Pausable: paused");
    }

    function block_(address holder) internal {
        vm.prank(blacklister);
        usdc.blacklist(holder);
    }

    function refusesBlocked() internal {
        refuses("Blacklistable: account is blacklisted");
    }

    function digest(bytes32 structHash) internal view returns (bytes32) {
        return keccak256(abi.encodePacked(hex"1901", usdc.DOMAIN_SEPARATOR(), structHash));
    }

    function sign(uint256 key, bytes32 structHash) internal view returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, digest(structHash));
        return abi.encodePacked(r, s, v);
    }

    function split(bytes memory signature) internal pure returns (uint8 v, bytes32 r, bytes32 s) {
        assembly ("memory-safe") {
            r := mload(add(signature, 0x20))
            s := mload(add(signature, 0x40))
            v := byte(0, mload(add(signature, 0x60)))
        }
    }

    function malleate(bytes memory signature) internal pure returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = split(signature);
        return abi.encodePacked(r, bytes32(CURVE_ORDER - uint256(s)), v == 27 ? uint8(28) : uint8(27));
    }
}
