// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {TestUSDC} from "../../TestUSDC.sol";
import {TokenFixture} from "./TokenFixture.t.sol";

contract ConstructorTest is TokenFixture {
    function test_constructorSetsNameSymbolAndRoles() public view {
        eq(usdc.name(), "USDC", "name");
        eq(usdc.symbol(), "USDC", "symbol");
        eq(usdc.decimals(), 6, "decimals");
        eq(usdc.currency(), "USD", "currency");
        eq(usdc.version(), "2", "version");
        eq(usdc.owner(), owner, "owner");
        eq(usdc.masterMinter(), masterMinter, "master minter");
        eq(usdc.pauser(), pauser, "pauser");
        eq(usdc.blacklister(), blacklister, "blacklister");
        eq(usdc.rescuer(), address(0), "no rescuer yet");
        eq(usdc.paused(), false, "not paused");
        eq(usdc.isBlacklisted(address(usdc)), true, "the token's own address is blocked");
    }

    function test_theNameIsGivenAtDeployment() public {
        TestUSDC other = newUSDC("USD Coin", "USDC.e", owner, masterMinter, pauser, blacklister);
        eq(other.name(), "USD Coin", "name");
        eq(other.symbol(), "USDC.e", "symbol");
        eq(other.DOMAIN_SEPARATOR() == usdc.DOMAIN_SEPARATOR(), false, "another domain");
        bytes32 typehash =
            keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
        eq(
            other.DOMAIN_SEPARATOR(),
            keccak256(
                abi.encode(typehash, keccak256("USD Coin"), keccak256("2"), block.chainid, address(other))
            ),
            "the domain has the name, not the symbol"
        );
    }

    function test_noRoleIsTheZeroAddress() public {
        refuses("FiatToken: new masterMinter is the zero address");
        newUSDC("USDC", "USDC", owner, address(0), pauser, blacklister);
        refuses("FiatToken: new pauser is the zero address");
        newUSDC("USDC", "USDC", owner, masterMinter, address(0), blacklister);
        refuses("FiatToken: new blacklister is the zero address");
        newUSDC("USDC", "USDC", owner, masterMinter, pauser, address(0));
        refuses("FiatToken: new owner is the zero address");
        newUSDC("USDC", "USDC", address(0), masterMinter, pauser, blacklister);
    }
}
