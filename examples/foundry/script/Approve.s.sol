// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice The cheatcodes that the script uses.
interface Cheatcodes {
    function startBroadcast(uint256 privateKey) external;
    function stopBroadcast() external;
}

/// @notice The functions of TestUSDC that the script calls.
interface IToken {
    function approve(address spender, uint256 amount) external returns (bool);
    function allowance(address owner, address spender) external view returns (uint256);
}

/// @notice Approves the registrar contract as the spender of the buyer's USDC. Every sandbox has these addresses and keys.
contract Approve {
    Cheatcodes private constant vm = Cheatcodes(address(uint160(uint256(keccak256("hevm cheat code")))));

    IToken private constant USDC = IToken(0x5FbDB2315678afecb367f032d93F642f64180aa3);
    address private constant REGISTRAR = 0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512;
    address private constant BUYER = 0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC;
    uint256 private constant BUYER_KEY = 0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a;

    function run() external returns (uint256 allowance) {
        vm.startBroadcast(BUYER_KEY);
        USDC.approve(REGISTRAR, 25_000_000);
        vm.stopBroadcast();
        return USDC.allowance(BUYER, REGISTRAR);
    }
}
