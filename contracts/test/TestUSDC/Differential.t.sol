// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {TestUSDC} from "../../TestUSDC.sol";
import {ContractSigner} from "../../adversaries/ContractSigner.sol";
import {HostileToken} from "../../adversaries/HostileToken.sol";
import {Vm} from "../Vm.t.sol";
import {OriginalToken} from "./OriginalToken.t.sol";

/// @title Differential
/// @notice Makes the same random calls to TestUSDC and to FiatToken v2.2, and compares return values, revert reasons, logs and
/// state.
contract DifferentialTest is OriginalToken {
    uint256 private constant ALICE_KEY = 0xA11CE;
    uint256 private constant BOB_KEY = 0xB0B;
    uint256 private constant CURVE_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141;
    /// @dev Number of runs, of eight calls each.
    uint256 private constant FUZZED_ROUNDS = 5;
    uint256 private constant WALKED_ROUNDS = 300;
    /// @dev Replaces the token's own address before a comparison.
    address private constant SELF = address(0x5E1F);

    TestUSDC private ours;
    TestUSDC private theirs;
    HostileToken private other;
    ContractSigner private wallet;
    address[7] private accounts;
    bytes32[3] private authorizationNonces = [bytes32(0), keccak256("first"), keccak256("second")];

    uint256 private time = 1_800_000_000;
    uint256 private _seed;

    /// @dev How often each kind of call succeeded and reverted in both tokens.
    mapping(string kind => uint256) private accepted;
    mapping(string kind => uint256) private refused;

    function setUp() public {
        vm.warp(time);
        address alice = vm.addr(ALICE_KEY);
        accounts = [alice, vm.addr(BOB_KEY), account("carol"), account("owner"), account("minter"), address(0), alice];
        wallet = new ContractSigner(alice);
        accounts[6] = address(wallet);
        other = new HostileToken();
        // Name and symbol differ, so that a test that confuses the two fails.
        ours = newUSDC("USD Coin", "USDC", accounts[3], accounts[3], accounts[3], accounts[3]);
        theirs = newOriginal("USD Coin", "USDC", accounts[3]);
        other.mint(address(ours), 1_000);
        other.mint(address(theirs), 1_000);
        alike(compareViews);
        prepare(abi.encodeCall(ours.configureMinter, (accounts[4], type(uint256).max)), accounts[3]);
        prepare(abi.encodeCall(ours.configureMinter, (accounts[3], 2_000)), accounts[3]);
        prepare(abi.encodeCall(ours.updateRescuer, (accounts[3])), accounts[3]);
        for (uint256 i = 0; i < 7; ++i) {
            if (accounts[i] != address(0)) prepare(abi.encodeCall(ours.mint, (accounts[i], 1_000)), accounts[4]);
        }
    }

    function prepare(bytes memory data, address sender) private {
        eq(both("prepare", data, data, sender, sender), true, "a step of the preparation");
    }

    function testFuzz_bothTokensBehaveAlike(uint256 seed) public {
        walk(seed, FUZZED_ROUNDS);
    }

    function test_aLongRandomWalkSucceedsAndRevertsInEveryFunction() public {
        walk(1, WALKED_ROUNDS);
        string[16] memory kinds = [
            "transfer",
            "transferFrom",
            "approve",
            "increaseAllowance",
            "decreaseAllowance",
            "mint",
            "burn",
            "minters",
            "pause",
            "blocklist",
            "roles",
            "rescueERC20",
            "permit",
            "transferWithAuthorization",
            "receiveWithAuthorization",
            "cancelAuthorization"
        ];
        for (uint256 i = 0; i < kinds.length; ++i) {
            eq(accepted[kinds[i]] > 0, true, string.concat(kinds[i], " is accepted at times"));
            eq(refused[kinds[i]] > 0, true, string.concat(kinds[i], " is refused at times"));
        }
        eq(refused["unknown"] > 0, true, "calls of other functions are refused");
    }

    function walk(uint256 seed, uint256 rounds) private {
        for (uint256 i = 0; i < rounds; ++i) {
            this.round(uint256(keccak256(abi.encode(seed, i))));
        }
        alike(compareViews);
    }

    /// @dev External, so that its memory is freed.
    function round(uint256 seed) external {
        for (uint256 i = 0; i < 8; ++i) {
            _seed = uint256(keccak256(abi.encode(seed, i)));
            step(draw(34));
        }
        alike(compareState);
    }

    function step(uint256 kind) private {
        if (kind < 3) take("transfer", transferCall);
        else if (kind < 7) take("transferFrom", transferFromCall);
        else if (kind < 10) take("approve", approveCall);
        else if (kind == 10) take("increaseAllowance", increaseCall);
        else if (kind == 11) take("decreaseAllowance", decreaseCall);
        else if (kind < 14) take("mint", mintCall);
        else if (kind == 14) take("burn", burnCall);
        else if (kind == 15) take("minters", minterCall);
        else if (kind == 16) take("pause", pauseCall);
        else if (kind < 19) take("blocklist", blocklistCall);
        else if (kind == 19) take("roles", roleCall);
        else if (kind == 20) take("rescueERC20", rescueCall);
        else if (kind < 24) take("permit", permitCall);
        else if (kind < 27) take("transferWithAuthorization", transferWithAuthorizationCall);
        else if (kind < 30) take("receiveWithAuthorization", receiveWithAuthorizationCall);
        else if (kind < 32) take("cancelAuthorization", cancelAuthorizationCall);
        else if (kind == 32) take("unknown", unknownCall);
        else changeTheRest();
    }

    /// @dev The same call to both tokens. The token's own address, and signatures for it, differ.
    function take(string memory kind, function(TestUSDC) returns (bytes memory, address) encode) private {
        uint256 seed = _seed;
        (bytes memory ourCall, address ourSender) = encode(ours);
        _seed = seed;
        (bytes memory theirCall, address theirSender) = encode(theirs);
        both(kind, ourCall, theirCall, ourSender, theirSender);
    }

    function both(
        string memory kind,
        bytes memory ourCall,
        bytes memory theirCall,
        address ourSender,
        address theirSender
    ) private returns (bool success) {
        vm.recordLogs();
        vm.prank(ourSender);
        bytes memory ourAnswer;
        (success, ourAnswer) = address(ours).call(ourCall);
        bytes32 ourLogs = digestLogs(success, address(ours));
        vm.recordLogs();
        vm.prank(theirSender);
        (bool theirSuccess, bytes memory theirAnswer) = address(theirs).call(theirCall);
        bytes32 theirLogs = digestLogs(theirSuccess, address(theirs));
        eq(success, theirSuccess, string.concat(kind, ": accepted by both or by neither"));
        theirAnswer = cleaned(theirAnswer);
        if (keccak256(ourAnswer) != keccak256(theirAnswer)) revert OtherAnswer(kind, ourAnswer, theirAnswer);
        eq(ourLogs, theirLogs, string.concat(kind, ": the logs"));
        if (success) ++accepted[kind];
        else ++refused[kind];
    }

    error OtherAnswer(string kind, bytes ours, bytes theirs);

    /// @dev The original's compiler leaves garbage in the padding after some revert strings.
    function cleaned(bytes memory answer) private pure returns (bytes memory) {
        if (answer.length < 4 || bytes4(answer) != bytes4(keccak256("Error(string)"))) return answer;
        bytes memory arguments = new bytes(answer.length - 4);
        for (uint256 i = 0; i < arguments.length; ++i) {
            arguments[i] = answer[i + 4];
        }
        return abi.encodeWithSignature("Error(string)", abi.decode(arguments, (string)));
    }

    function digestLogs(bool success, address token) private returns (bytes32 digest) {
        Vm.Log[] memory logs = vm.getRecordedLogs();
        if (!success) return 0;
        for (uint256 i = 0; i < logs.length; ++i) {
            digest = keccak256(abi.encode(digest, neutral(logs[i].emitter, token)));
            for (uint256 j = 0; j < logs[i].topics.length; ++j) {
                digest = keccak256(abi.encode(digest, neutral(address(uint160(uint256(logs[i].topics[j]))), token)));
                digest = keccak256(abi.encode(digest, uint256(logs[i].topics[j]) >> 160));
            }
            digest = keccak256(abi.encode(digest, logs[i].data));
        }
    }

    function neutral(address holder, address token) private pure returns (address) {
        return holder == token ? SELF : holder;
    }

    /// @dev The only call that differs: the original ignores the high bits of an address, TestUSDC reverts on them.
    function test_onlyTheOriginalAcceptsDirtyHighBits() public {
        bytes memory dirty = abi.encodeCall(ours.transfer, (accounts[1], 1));
        dirty[4] = 0x01;
        vm.prank(accounts[0]);
        (bool success, bytes memory answer) = address(ours).call(dirty);
        eq(success, false, "ours refuses");
        eq(answer.length, 0, "without a reason");
        vm.prank(accounts[0]);
        (success,) = address(theirs).call(dirty);
        eq(success, true, "the original accepts");
        eq(theirs.balanceOf(accounts[1]), 1_001, "and transfers");
    }

    function test_onlyTheOriginalsBalancesAreInItsSlots() public view {
        bytes32 balance = keccak256(abi.encode(accounts[0], uint256(9)));
        bytes32 allowance = keccak256(abi.encode(accounts[1], keccak256(abi.encode(accounts[0], uint256(10)))));
        eq(uint256(vm.load(address(theirs), balance)), theirs.balanceOf(accounts[0]), "the original's balance");
        eq(uint256(vm.load(address(theirs), allowance)), 0, "the original's allowance");
        eq(uint256(vm.load(address(ours), balance)), 0, "another slot here");
        eq(ours.balanceOf(accounts[0]), 1_000, "the balance here");
    }

    // Random values

    function draw(uint256 max) private returns (uint256 drawn) {
        drawn = _seed % max;
        _seed = uint256(keccak256(abi.encode(_seed)));
    }

    function party(TestUSDC token) private returns (address) {
        uint256 i = draw(15);
        return i == 14 ? address(token) : accounts[i % 7];
    }

    function value() private returns (uint256) {
        uint256 kind = draw(12);
        if (kind == 0) return 0;
        if (kind == 1) return type(uint256).max - draw(2);
        if (kind == 2) return (1 << 255) - draw(2);
        if (kind == 3) return (1 << 255) - 1 - draw(3_000);
        return draw(kind < 8 ? 400 : 1_200);
    }

    /// @dev The holder of a role, or in one of eight draws any account.
    function holderOr(address holder, TestUSDC token) private returns (address) {
        return draw(8) == 0 ? party(token) : holder;
    }

    // The calls

    function transferCall(TestUSDC token) private returns (bytes memory, address) {
        return (abi.encodeCall(token.transfer, (party(token), value())), party(token));
    }

    function transferFromCall(TestUSDC token) private returns (bytes memory, address) {
        return (abi.encodeCall(token.transferFrom, (party(token), party(token), value())), party(token));
    }

    function approveCall(TestUSDC token) private returns (bytes memory, address) {
        return (abi.encodeCall(token.approve, (party(token), value())), party(token));
    }

    function increaseCall(TestUSDC token) private returns (bytes memory, address) {
        return (abi.encodeCall(token.increaseAllowance, (party(token), value())), party(token));
    }

    function decreaseCall(TestUSDC token) private returns (bytes memory, address) {
        return (abi.encodeCall(token.decreaseAllowance, (party(token), value())), party(token));
    }

    function mintCall(TestUSDC token) private returns (bytes memory, address) {
        address minter = draw(2) == 0 ? accounts[3] : accounts[4];
        return (abi.encodeCall(token.mint, (party(token), value())), holderOr(minter, token));
    }

    function burnCall(TestUSDC token) private returns (bytes memory, address) {
        return (abi.encodeCall(token.burn, (value())), holderOr(accounts[4], token));
    }

    function minterCall(TestUSDC token) private returns (bytes memory, address) {
        address minter = draw(3) == 0 ? party(token) : accounts[4];
        bytes memory data = draw(4) == 0
            ? abi.encodeCall(token.removeMinter, (minter))
            : abi.encodeCall(token.configureMinter, (minter, draw(2) == 0 ? type(uint256).max : value()));
        return (data, holderOr(token.masterMinter(), token));
    }

    function pauseCall(TestUSDC token) private returns (bytes memory, address) {
        bytes memory data = draw(4) == 0 ? abi.encodeCall(token.pause, ()) : abi.encodeCall(token.unpause, ());
        return (data, holderOr(token.pauser(), token));
    }

    function blocklistCall(TestUSDC token) private returns (bytes memory, address) {
        address holder = party(token);
        // The token's own address stays blocked, so that it can hold nothing.
        bytes memory data = draw(3) == 0 || holder == address(token)
            ? abi.encodeCall(token.blacklist, (holder))
            : abi.encodeCall(token.unBlacklist, (holder));
        return (data, holderOr(token.blacklister(), token));
    }

    /// @dev The owner sets a role, mostly to its current holder.
    function roleCall(TestUSDC token) private returns (bytes memory data, address sender) {
        address next = draw(2) == 0 ? accounts[3] : accounts[draw(7)];
        uint256 kind = draw(5);
        if (kind == 0) data = abi.encodeCall(token.transferOwnership, (next));
        if (kind == 1) data = abi.encodeCall(token.updateMasterMinter, (next));
        if (kind == 2) data = abi.encodeCall(token.updatePauser, (next));
        if (kind == 3) data = abi.encodeCall(token.updateBlacklister, (next));
        if (kind == 4) data = abi.encodeCall(token.updateRescuer, (next));
        sender = holderOr(token.owner(), token);
    }

    /// @dev Another token, the token itself, an account without code, and a contract that is no token.
    function rescueCall(TestUSDC token) private returns (bytes memory, address) {
        address[4] memory tokens = [address(other), address(token), accounts[0], address(wallet)];
        uint256 kind = draw(8);
        address rescued = kind < 4 ? tokens[kind] : address(other);
        address to = accounts[draw(7)];
        return (
            abi.encodeCall(token.rescueERC20, (IERC20(rescued), to, draw(20))), holderOr(token.rescuer(), token)
        );
    }

    /// @dev A function that neither token has, no selector, or too few arguments.
    function unknownCall(TestUSDC token) private returns (bytes memory data, address) {
        uint256 kind = draw(4);
        if (kind == 0) data = abi.encodeWithSignature("nothing()");
        if (kind == 1) data = hex"a9059cbb00";
        if (kind == 2) data = abi.encodePacked(IERC20.transfer.selector, abi.encode(accounts[1]));
        return (data, party(token));
    }

    function changeTheRest() private {
        uint256 kind = draw(3);
        if (kind == 0) wallet.setBehavior(ContractSigner.Behavior(draw(5)));
        if (kind == 1) {
            uint256 behavior = draw(2 * uint256(HostileToken.Behavior.Reentrant));
            other.setBehavior(HostileToken.Behavior(behavior < uint256(HostileToken.Behavior.Reentrant) ? behavior : 0));
        }
        if (kind == 2) other.setBehavior(HostileToken.Behavior.Reverting);
        time += draw(20);
        vm.warp(time);
    }

    // Signatures

    struct Authorization {
        address from;
        address to;
        uint256 value;
        uint256 validAfter;
        uint256 validBefore;
        bytes32 nonce;
    }

    /// @dev Mostly a valid signature of the signer, sometimes one with one defect.
    function sign(TestUSDC token, address signer, bytes32 structHash)
        private
        returns (uint8 v, bytes32 r, bytes32 s)
    {
        bytes32 digest = keccak256(abi.encodePacked(hex"1901", token.DOMAIN_SEPARATOR(), structHash));
        uint256 fault = draw(16);
        uint256 key = (signer == accounts[1]) == (fault != 0) ? BOB_KEY : ALICE_KEY;
        (v, r, s) = vm.sign(key, digest);
        if (fault == 1) (v, s) = (v == 27 ? 28 : 27, bytes32(CURVE_ORDER - uint256(s)));
        if (fault == 2) v -= 27;
        if (fault == 3) v = 29;
        if (fault == 4) (r, s) = (bytes32(0), bytes32(uint256(1)));
    }

    /// @dev 65 bytes, sometimes one fewer or one more.
    function pack(uint8 v, bytes32 r, bytes32 s) private returns (bytes memory) {
        uint256 kind = draw(12);
        if (kind == 0) return abi.encodePacked(r, s);
        if (kind == 1) return abi.encodePacked(r, s, v, v);
        if (kind == 2) return "";
        return abi.encodePacked(r, s, v);
    }

    function permitCall(TestUSDC token) private returns (bytes memory, address) {
        address holder = party(token);
        address spender = party(token);
        uint256 amount = value();
        uint256 deadline = draw(4) == 0 ? type(uint256).max : time + draw(3) - 1;
        bytes32 structHash = keccak256(
            abi.encode(token.PERMIT_TYPEHASH(), holder, spender, amount, token.nonces(holder), deadline)
        );
        (uint8 v, bytes32 r, bytes32 s) = sign(token, holder, structHash);
        address sender = party(token);
        if (draw(2) == 0) {
            return (abi.encodeWithSelector(0xd505accf, holder, spender, amount, deadline, v, r, s), sender);
        }
        return (abi.encodeWithSelector(0x9fd5a6cf, holder, spender, amount, deadline, pack(v, r, s)), sender);
    }

    function authorization(TestUSDC token) private returns (Authorization memory a) {
        a.from = party(token);
        a.to = party(token);
        a.value = draw(400);
        a.validAfter = draw(4) == 0 ? time - draw(2) : 0;
        a.validBefore = draw(4) == 0 ? time + draw(2) : type(uint256).max;
        a.nonce = draw(2) == 0 ? authorizationNonces[draw(3)] : bytes32(draw(1 << 64));
    }

    function transferWithAuthorizationCall(TestUSDC token) private returns (bytes memory, address) {
        Authorization memory a = authorization(token);
        bytes32 structHash = keccak256(abi.encode(token.TRANSFER_WITH_AUTHORIZATION_TYPEHASH(), a));
        (uint8 v, bytes32 r, bytes32 s) = sign(token, a.from, structHash);
        bytes memory data = draw(2) == 0
            ? bytes.concat(bytes4(0xe3ee160e), abi.encode(a, v, r, s))
            : withBytes(0xcf092995, a, pack(v, r, s));
        return (data, party(token));
    }

    function receiveWithAuthorizationCall(TestUSDC token) private returns (bytes memory, address) {
        Authorization memory a = authorization(token);
        bytes32 structHash = keccak256(abi.encode(token.RECEIVE_WITH_AUTHORIZATION_TYPEHASH(), a));
        (uint8 v, bytes32 r, bytes32 s) = sign(token, a.from, structHash);
        bytes memory data = draw(2) == 0
            ? bytes.concat(bytes4(0xef55bec6), abi.encode(a, v, r, s))
            : withBytes(0x88b7ab63, a, pack(v, r, s));
        return (data, draw(4) == 0 ? party(token) : a.to);
    }

    function withBytes(bytes4 selector, Authorization memory a, bytes memory signature)
        private
        pure
        returns (bytes memory)
    {
        return abi.encodeWithSelector(
            selector, a.from, a.to, a.value, a.validAfter, a.validBefore, a.nonce, signature
        );
    }

    function cancelAuthorizationCall(TestUSDC token) private returns (bytes memory data, address) {
        address authorizer = party(token);
        bytes32 nonce = draw(2) == 0 ? authorizationNonces[draw(3)] : bytes32(draw(1 << 64));
        bytes32 structHash = keccak256(abi.encode(token.CANCEL_AUTHORIZATION_TYPEHASH(), authorizer, nonce));
        (uint8 v, bytes32 r, bytes32 s) = sign(token, authorizer, structHash);
        data = draw(2) == 0
            ? abi.encodeWithSelector(0x5a049a70, authorizer, nonce, v, r, s)
            : abi.encodeWithSelector(0xb7b72899, authorizer, nonce, pack(v, r, s));
        return (data, party(token));
    }

    // Comparisons

    function alike(function(TestUSDC) view returns (bytes memory) read) private view {
        bytes memory ourState = read(ours);
        bytes memory theirState = read(theirs);
        if (keccak256(ourState) != keccak256(theirState)) revert OtherAnswer("state", ourState, theirState);
    }

    function compareState(TestUSDC token) private view returns (bytes memory state) {
        state = abi.encode(token.totalSupply(), token.paused(), token.owner(), token.masterMinter());
        state = bytes.concat(state, abi.encode(token.pauser(), token.blacklister(), token.rescuer()));
        for (uint256 i = 0; i < 8; ++i) {
            address holder = i == 7 ? address(token) : accounts[i];
            state = bytes.concat(
                state,
                abi.encode(
                    token.balanceOf(holder),
                    token.isBlacklisted(holder),
                    token.isMinter(holder),
                    token.minterAllowance(holder),
                    token.nonces(holder),
                    other.balanceOf(holder) * (i == 7 ? 1 : 0)
                )
            );
            for (uint256 j = 0; j < 8; ++j) {
                address spender = j == 7 ? address(token) : accounts[j];
                state = bytes.concat(state, abi.encode(token.allowance(holder, spender)));
            }
            for (uint256 j = 0; j < authorizationNonces.length; ++j) {
                state = bytes.concat(state, abi.encode(token.authorizationState(holder, authorizationNonces[j])));
            }
        }
    }

    function compareViews(TestUSDC token) private view returns (bytes memory) {
        return abi.encode(
            token.name(),
            token.symbol(),
            token.decimals(),
            token.currency(),
            token.version(),
            token.TRANSFER_WITH_AUTHORIZATION_TYPEHASH(),
            token.RECEIVE_WITH_AUTHORIZATION_TYPEHASH(),
            token.CANCEL_AUTHORIZATION_TYPEHASH(),
            token.PERMIT_TYPEHASH(),
            token.DOMAIN_SEPARATOR() == domainSeparator(address(token))
        );
    }

    function domainSeparator(address token) private view returns (bytes32) {
        return keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
                keccak256("USD Coin"),
                keccak256("2"),
                block.chainid,
                token
            )
        );
    }
}
