// SPDX-License-Identifier: MIT
pragma solidity >=0.8.15;

import {IPurchaseRegistrar} from "../interfaces/IPurchaseRegistrar.sol";
import {MockToken} from "../mocks/MockToken.sol";
import {Cheatcodes} from "./Cheatcodes.sol";
import {RegistrarReplay} from "./RegistrarReplay.sol";

/// @title RegistrarHandler
/// @notice Makes every call of every actor with the fuzzer's arguments, after predicting whether the call must succeed.
/// @dev The prediction comes from the logs so far (`RegistrarReplay`), the clock and the tokens. The first call whose result differs
/// from the prediction is noted in `mismatch`. Expected balances are computed from the successful calls, not from the logs.
contract RegistrarHandler {
    Cheatcodes private constant vm = Cheatcodes(address(uint160(uint256(keccak256("hevm cheat code")))));

    uint256 private constant WALLETS = 4;
    /// @dev Amounts and times that a narrower field would cut.
    uint256 private constant MAX_AMOUNT = 2 ** 120;
    uint256 private constant START = 2 ** 52;
    uint256 private constant WEALTH = 2 ** 160;

    IPurchaseRegistrar public immutable registrar;
    address public immutable source;
    /// @notice A token that can be paused and can block accounts.
    MockToken public immutable token;
    /// @notice A token that is hostile at times.
    MockToken public immutable hostile;
    RegistrarReplay public immutable replay;

    bytes32[2] public programs = [keccak256("prg_a"), keccak256("prg_b")];
    address[2] public admins;
    address[2] public operators;
    /// @dev Merchants, buyers and beneficiaries are drawn from the same wallets, so one wallet sometimes has two roles.
    address[WALLETS] public wallets;
    address public stranger;
    uint256 private constant SIGNER_KEY = 0xA11CE;
    address public immutable signer;

    uint256 public time = START;
    uint256 private _salt;

    bytes32[] public ids;
    mapping(bytes32 => IPurchaseRegistrar.Purchase) private _commitments;
    bytes32[] public fundingPrograms;
    bytes32[] public fundingRefs;
    bytes32[] public decisions;

    /// @notice The decision hash of a purchase's refund.
    mapping(bytes32 => bytes32) public decisionOf;

    /// @notice The balance that a wallet must have after the successful calls.
    mapping(address => mapping(address => uint256)) public expected;

    /// @notice How often each call succeeded and reverted.
    mapping(string => uint256) public accepted;
    mapping(string => uint256) public refused;

    /// @notice The first call whose result differed from the prediction, and how; empty if there is none.
    string public mismatch;

    constructor(IPurchaseRegistrar tested) {
        vm.warp(START);
        registrar = tested;
        source = tested.fundingSource();
        token = new MockToken();
        hostile = new MockToken();
        replay = new RegistrarReplay(address(tested));
        signer = vm.addr(SIGNER_KEY);
        admins = [address(0xA01), address(0xA02)];
        operators = [address(0xB01), address(0xB02)];
        stranger = address(0xC01);
        for (uint256 i = 0; i < WALLETS; ++i) {
            wallets[i] = address(uint160(0xD01 + i));
            token.mint(wallets[i], WEALTH);
            hostile.mint(wallets[i], WEALTH);
            expected[address(token)][wallets[i]] = WEALTH;
            expected[address(hostile)][wallets[i]] = WEALTH;
            for (uint256 j = 0; j < 4; ++j) {
                _approve(i, j, type(uint256).max);
            }
        }
        // The initial state, made with the same calls.
        openProgram(0, 0);
        openProgram(1, 1);
        enroll(0, 0, 0, MAX_AMOUNT * 5, 30, 0);
        enroll(0, 1, 1, MAX_AMOUNT * 5, 30, 0);
        enroll(1, 0, 0, MAX_AMOUNT * 5, 30, 0);
    }

    /// @dev This contract keeps its own clock.
    modifier step() {
        vm.warp(time);
        vm.recordLogs();
        _;
    }

    // The clock and the tokens

    function wait(uint256 secondsSeed) external {
        time += _clamp(secondsSeed, 1, 6 hours);
    }

    /// @dev Sets the clock to a deadline of a purchase, or to one second after it.
    function waitForDeadline(uint256 idSeed, bool claimDeadline, bool late) external {
        if (ids.length == 0) return;
        IPurchaseRegistrar.Purchase storage p = _commitments[ids[idSeed % ids.length]];
        uint256 target = (claimDeadline ? p.claimDeadline : p.payDeadline) + (late ? 1 : 0);
        if (target > time) time = target;
    }

    function setMode(uint256 seed) external {
        // Honest in half of the cases, so that purchases with this token progress.
        MockToken.Mode[6] memory modes = [
            MockToken.Mode.Fee,
            MockToken.Mode.MovesNothing,
            MockToken.Mode.ReturnsFalse,
            MockToken.Mode.CallsBack,
            MockToken.Mode.Bonus,
            MockToken.Mode.RevertsWithError
        ];
        bytes32 id = ids.length == 0 ? bytes32(0) : ids[seed % ids.length];
        hostile.setMode(
            seed % 12 < 6 ? modes[seed % 12] : MockToken.Mode.Honest, abi.encodeCall(registrar.pay, (id, 1))
        );
    }

    /// @notice A wallet changes its allowance for the registrar or the funding source, to infinite in half of the cases.
    function approve(uint256 walletSeed, uint256 spenderSeed, uint256 value) external {
        _approve(walletSeed % WALLETS, spenderSeed % 4, value % 2 == 0 ? type(uint256).max : _size(value, MAX_AMOUNT));
    }

    function _approve(uint256 wallet, uint256 way, uint256 value) private {
        vm.prank(wallets[wallet]);
        (way < 2 ? token : hostile).approve(way % 2 == 0 ? address(registrar) : source, value);
    }

    function setTokenPaused(uint256 seed) external {
        token.setPaused(seed % 4 == 0);
    }

    function setBlocked(uint256 walletSeed, uint256 seed) external {
        token.setBlocked(wallets[walletSeed % WALLETS], seed % 4 == 0);
    }

    /// @notice A direct transfer, which pays no purchase.
    function bypass(uint256 fromSeed, uint256 toSeed, uint256 amount) external {
        if (hostile.mode() != MockToken.Mode.Honest) return;
        address from = wallets[fromSeed % WALLETS];
        address to = wallets[toSeed % WALLETS];
        amount = _size(amount, MAX_AMOUNT);
        vm.prank(from);
        hostile.transfer(to, amount);
        expected[address(hostile)][from] -= amount;
        expected[address(hostile)][to] += amount;
    }

    // The admin

    function openProgram(uint256 programSeed, uint256 actorSeed) public step {
        bytes32 program = programs[programSeed % 2];
        address actor = _actor(actorSeed, admins[programSeed % 2]);
        bool expectation = replay.program(program).admin == address(0);
        vm.prank(actor);
        _send(
            "openProgram",
            expectation,
            abi.encodeCall(
                registrar.openProgram,
                (program, operators[programSeed % 2], signer, _bounds(MAX_AMOUNT, MAX_AMOUNT * 6, time + 60 days))
            )
        );
    }

    function setBounds(uint256 programSeed, uint256 actorSeed, uint256 max, uint256 budget, uint256 daysLeft)
        external
        step
    {
        bytes32 program = programs[programSeed % 2];
        IPurchaseRegistrar.ProgramState memory state = replay.program(program);
        address actor = _actor(actorSeed, state.admin);
        IPurchaseRegistrar.Bounds memory bounds =
            _bounds(_size(max, MAX_AMOUNT * 2), _size(budget, MAX_AMOUNT * 8), time + _clamp(daysLeft, 0, 60) * 1 days);
        // The next operator is the same, or that of the other program.
        address next = operators[actorSeed % 5 == 0 ? 1 - programSeed % 2 : programSeed % 2];
        vm.prank(actor);
        _send(
            "setBounds", actor == state.admin, abi.encodeCall(registrar.setBounds, (program, next, signer, bounds))
        );
    }

    function setPaused(uint256 programSeed, uint256 actorSeed, uint256 seed) external step {
        bytes32 program = programs[programSeed % 2];
        IPurchaseRegistrar.ProgramState memory state = replay.program(program);
        address actor = _actor(actorSeed, state.admin);
        vm.prank(actor);
        _send("setPaused", actor == state.admin, abi.encodeCall(registrar.setPaused, (program, seed % 4 == 0)));
    }

    function transferAdmin(uint256 programSeed, uint256 actorSeed, uint256 newSeed) external step {
        bytes32 program = programs[programSeed % 2];
        address admin = replay.program(program).admin;
        address actor = _actor(actorSeed, admin);
        address next = newSeed % 8 == 0 ? address(0) : _actor(newSeed | 7, admin);
        vm.prank(actor);
        _send("transferAdmin", actor == admin, abi.encodeCall(registrar.transferAdmin, (program, next)));
    }

    function acceptAdmin(uint256 programSeed, uint256 actorSeed) external step {
        bytes32 program = programs[programSeed % 2];
        address pending = replay.pendingAdmin(program);
        address actor = pending == address(0) ? stranger : _actor(actorSeed, pending);
        vm.prank(actor);
        _send("acceptAdmin", actor == pending, abi.encodeCall(registrar.acceptAdmin, (program)));
    }

    // The merchant

    function enroll(
        uint256 programSeed,
        uint256 walletSeed,
        uint256 tokenSeed,
        uint256 cap,
        uint256 daysValid,
        uint256 actorSeed
    ) public step {
        IPurchaseRegistrar.FundingAuthorization memory a;
        a.program = programs[programSeed % 2];
        a.wallet = wallets[walletSeed % WALLETS];
        // Few references, so that they collide.
        a.merchantRef = keccak256(abi.encode("mer", (programSeed >> 8) % 3, fundingRefs.length / 4));
        a.token = tokenSeed % 3 == 1 ? address(hostile) : address(token);
        a.cap = _size(cap, MAX_AMOUNT * 6);
        a.validUntil = uint64(time + _clamp(daysValid, 0, 40) * 1 days);
        a.salt = bytes32(++_salt);
        address actor = _actor(actorSeed, a.wallet);
        bytes32 digest = registrar.hashFunding(a);
        bytes memory signature = _sign(digest, actorSeed);
        bool expectation = actor == a.wallet && !replay.program(a.program).paused && a.cap > 0
            && _signed(actorSeed) && replay.enrolledAs(a.program, a.wallet) == 0
            && replay.funding(a.program, a.merchantRef).wallet == address(0);
        vm.prank(actor);
        if (_send("enroll", expectation, abi.encodeCall(registrar.enroll, (a, signature)))) {
            fundingPrograms.push(a.program);
            fundingRefs.push(a.merchantRef);
        }
    }

    function revokeFunding(uint256 fundingSeed, uint256 actorSeed) external step {
        if (actorSeed % 3 != 0) return;
        uint256 i = fundingSeed % fundingRefs.length;
        IPurchaseRegistrar.FundingState memory state = replay.funding(fundingPrograms[i], fundingRefs[i]);
        address actor = _actor(actorSeed >> 8, state.wallet);
        vm.prank(actor);
        _send(
            "revokeFunding",
            actor == state.wallet && state.revokedAt == 0,
            abi.encodeCall(registrar.revokeFunding, (fundingPrograms[i], fundingRefs[i]))
        );
    }

    // New purchases

    function offer(uint256 parties, uint256 amount, uint256 deadlines, uint256 actorSeed) external step {
        IPurchaseRegistrar.Purchase memory p = _draw(parties, amount, deadlines);
        IPurchaseRegistrar.ProgramState memory state = replay.program(p.program);
        address actor = _actor(actorSeed, state.operator);
        bool expectation = actor == state.operator && time <= state.bounds.validUntil
            && p.amount <= state.bounds.maxPurchase && state.openOffers + p.amount <= state.bounds.openBudget
            && _mayCommit(p, actorSeed);
        _commit("offer", registrar.offer.selector, p, actor, expectation, actorSeed);
    }

    function register(uint256 parties, uint256 amount, uint256 deadlines, uint256 actorSeed) external step {
        IPurchaseRegistrar.Purchase memory p = _draw(parties, amount, deadlines);
        // Often another wallet, which may be an enrolled merchant, too.
        address actor =
            (actorSeed >> 64) % 3 == 0 ? wallets[(actorSeed >> 72) % WALLETS] : _actor(actorSeed, p.merchant);
        bool expectation = actor == p.merchant && _mayCommit(p, actorSeed);
        _commit("register", registrar.register.selector, p, actor, expectation, actorSeed);
    }

    function _draw(uint256 parties, uint256 amount, uint256 deadlines)
        private
        returns (IPurchaseRegistrar.Purchase memory p)
    {
        // Mostly values that match a funding, sometimes any values.
        uint256 i = parties % fundingRefs.length;
        p.program = fundingPrograms[i];
        IPurchaseRegistrar.FundingState memory state = replay.funding(p.program, fundingRefs[i]);
        p.merchant = (parties >> 8) % 8 == 0 ? wallets[(parties >> 16) % WALLETS] : state.wallet;
        p.token = (parties >> 24) % 8 == 0 ? address(hostile) : state.token;
        p.buyer = wallets[(parties >> 32) % WALLETS];
        p.beneficiary = (parties >> 40) % 2 == 0 ? p.buyer : wallets[(parties >> 48) % WALLETS];
        p.amount = _size(amount, MAX_AMOUNT);
        p.offerDeadline = uint64(time - 1 + deadlines % 8 * 1 hours);
        p.payDeadline = uint64(p.offerDeadline + (deadlines >> 8) % 48 * 1 hours);
        p.claimDeadline = uint64(p.payDeadline + (deadlines >> 16) % 12 * 1 days);
        if ((deadlines >> 24) % 16 == 0) p.payDeadline -= 1;
        if ((deadlines >> 32) % 16 == 0) p.claimDeadline -= 1;
        p.purchaseRef = keccak256("pur");
        // Sometimes the same purchase as before.
        p.salt = (deadlines >> 40) % 8 == 0 ? bytes32(_salt) : bytes32(++_salt);
    }

    function _mayCommit(IPurchaseRegistrar.Purchase memory p, uint256 actorSeed) private view returns (bool) {
        bytes32 merchantRef = replay.enrolledAs(p.program, p.merchant);
        if (merchantRef == 0) return false;
        IPurchaseRegistrar.FundingState memory state = replay.funding(p.program, merchantRef);
        return !replay.program(p.program).paused && p.amount > 0 && p.offerDeadline <= p.payDeadline
            && p.payDeadline <= p.claimDeadline && time <= p.offerDeadline && p.merchant != p.buyer
            && p.merchant != p.beneficiary && state.token == p.token && state.validUntil >= p.claimDeadline
            && state.cap - state.collected >= p.amount && _signed(actorSeed)
            && replay.purchase(registrar.hashPurchase(p)).status == IPurchaseRegistrar.Status.None;
    }

    function _commit(
        string memory name,
        bytes4 selector,
        IPurchaseRegistrar.Purchase memory p,
        address actor,
        bool expectation,
        uint256 actorSeed
    ) private {
        bytes32 id = registrar.hashPurchase(p);
        bytes memory signature = _sign(id, actorSeed);
        vm.prank(actor);
        if (_send(name, expectation, abi.encodeWithSelector(selector, p, signature))) {
            ids.push(id);
            _commitments[id] = p;
        }
    }

    // Closing

    function withdrawOffer(uint256 idSeed, uint256 actorSeed) external step {
        if (ids.length == 0 || actorSeed % 2 == 0) return;
        bytes32 id = ids[idSeed % ids.length];
        IPurchaseRegistrar.PurchaseState memory p = replay.purchase(id);
        IPurchaseRegistrar.ProgramState memory state = replay.program(p.program);
        address actor = _actor(actorSeed >> 8, state.operator);
        bool expectation = actor == state.operator && time <= state.bounds.validUntil
            && p.route == IPurchaseRegistrar.Route.Offer && p.status == IPurchaseRegistrar.Status.Open
            && p.paid < p.amount;
        vm.prank(actor);
        _send("withdrawOffer", expectation, abi.encodeCall(registrar.withdrawOffer, (id)));
    }

    /// @dev For half of the seeds a partly paid purchase, and for a quarter after its pay deadline.
    function expire(uint256 idSeed, uint256 seed) external step {
        if (ids.length == 0) return;
        bytes32 id = ids[idSeed % ids.length];
        for (uint256 i = 0; seed % 2 == 0 && i < ids.length; ++i) {
            IPurchaseRegistrar.PurchaseState memory partly = replay.purchase(ids[i]);
            if (partly.status != IPurchaseRegistrar.Status.Open || partly.paid == 0 || partly.paid == partly.amount) continue;
            id = ids[i];
            break;
        }
        if (seed % 4 == 0 && time <= _commitments[id].payDeadline) time = _commitments[id].payDeadline + 1;
        vm.warp(time);
        IPurchaseRegistrar.PurchaseState memory p = replay.purchase(id);
        bool expectation = p.status == IPurchaseRegistrar.Status.Open && p.paid < p.amount && time > p.payDeadline;
        vm.prank(stranger);
        _send("expire", expectation, abi.encodeCall(registrar.expire, (id)));
    }

    // Paying, claiming, refunding

    function pay(uint256 idSeed, uint256 amount, uint256 actorSeed) external step {
        if (ids.length == 0) return;
        bytes32 id = ids[idSeed % ids.length];
        IPurchaseRegistrar.PurchaseState memory p = replay.purchase(id);
        amount = _amount(p, amount);
        address actor = _actor(actorSeed, p.buyer);
        bool expectation = actor == p.buyer && _mayPay(p, amount, _allowance(p));
        vm.prank(actor);
        if (_send("pay", expectation, abi.encodeCall(registrar.pay, (id, amount)))) {
            _moved(p.token, p.buyer, p.merchant, amount);
        }
    }

    function _amount(IPurchaseRegistrar.PurchaseState memory p, uint256 seed) private pure returns (uint256) {
        uint256 outstanding = p.amount - p.paid;
        return seed % 3 == 0 ? outstanding : _size(seed, outstanding + 1);
    }

    function _allowance(IPurchaseRegistrar.PurchaseState memory p) private view returns (uint256) {
        return MockToken(p.token).allowance(p.buyer, address(registrar));
    }

    /// @dev The tokens take any permit, except while they call back.
    function payWithPermit(uint256 idSeed, uint256 amount, uint256 actorSeed) external step {
        if (ids.length == 0) return;
        bytes32 id = ids[idSeed % ids.length];
        IPurchaseRegistrar.PurchaseState memory p = replay.purchase(id);
        amount = _amount(p, amount);
        address actor = _actor(actorSeed, p.buyer);
        bool permits = MockToken(p.token).mode() != MockToken.Mode.CallsBack;
        bool expectation = actor == p.buyer && _mayPay(p, amount, permits ? amount : _allowance(p));
        vm.prank(actor);
        bytes memory data =
            abi.encodeCall(registrar.payWithPermit, (id, amount, time, 27, bytes32(uint256(1)), bytes32(uint256(2))));
        if (_send("payWithPermit", expectation, data)) _moved(p.token, p.buyer, p.merchant, amount);
    }

    /// @dev Pays two purchases, or one purchase twice.
    function payBatch(uint256 idSeed, uint256 otherSeed, uint256 amount, uint256 actorSeed) external step {
        if (ids.length == 0) return;
        bytes32[] memory batch = new bytes32[](2);
        batch[0] = ids[idSeed % ids.length];
        batch[1] = ids[otherSeed % ids.length];
        IPurchaseRegistrar.PurchaseState memory first = replay.purchase(batch[0]);
        IPurchaseRegistrar.PurchaseState memory second = replay.purchase(batch[1]);
        uint256[] memory amounts = new uint256[](2);
        amounts[0] = _size(amount, first.amount - first.paid);
        amounts[1] = _size(uint256(keccak256(abi.encode(amount))), second.amount - second.paid);
        address actor = _actor(actorSeed, first.buyer);
        bool expectation = actor == first.buyer && actor == second.buyer && _mayPay(first, amounts[0], _allowance(first));
        if (batch[0] == batch[1]) second.paid += amounts[0];
        expectation = expectation && _mayPay(second, amounts[1], _allowanceAfter(second, first, amounts[0]));
        vm.prank(actor);
        if (_send("payBatch", expectation, abi.encodeCall(registrar.payBatch, (batch, amounts)))) {
            _moved(first.token, first.buyer, first.merchant, amounts[0]);
            _moved(second.token, second.buyer, second.merchant, amounts[1]);
        }
    }

    /// @dev The allowance that the first payment of a batch leaves for the second one.
    function _allowanceAfter(
        IPurchaseRegistrar.PurchaseState memory next,
        IPurchaseRegistrar.PurchaseState memory first,
        uint256 amount
    ) private view returns (uint256 allowance) {
        allowance = _allowance(next);
        if (first.token == next.token && first.buyer == next.buyer && amount <= allowance) allowance -= amount;
    }

    function _mayPay(IPurchaseRegistrar.PurchaseState memory p, uint256 amount, uint256 allowance)
        private
        view
        returns (bool)
    {
        return p.status == IPurchaseRegistrar.Status.Open && p.refunded == 0 && !replay.program(p.program).paused
            && time <= p.payDeadline && amount > 0 && amount <= p.amount - p.paid && amount <= allowance
            && _moves(p.token, p.buyer, p.merchant);
    }

    function claim(uint256 idSeed, uint256 actorSeed, uint256 seed) external step {
        if (ids.length == 0) return;
        bytes32 id = ids[idSeed % ids.length];
        IPurchaseRegistrar.PurchaseState memory p = replay.purchase(id);
        address actor = _actor(actorSeed, p.beneficiary);
        bytes32 claimHash = seed % 16 == 0 ? bytes32(0) : keccak256(abi.encode("claim", seed));
        bool expectation = actor == p.beneficiary && p.paid > 0 && p.claimHash == 0 && p.refunded == 0 && time <= p.claimDeadline
            && claimHash != 0;
        vm.prank(actor);
        _send("claim", expectation, abi.encodeCall(registrar.claim, (id, claimHash)));
    }

    function collectRefund(uint256 idSeed, uint256 award, uint256 decisionSeed, uint256 actorSeed) external step {
        if (ids.length == 0) return;
        bytes32 id = ids[idSeed % ids.length];
        IPurchaseRegistrar.PurchaseState memory p = replay.purchase(id);
        award = _size(award, p.paid + 1);
        // Sometimes the decision hash of an earlier refund, in this or the other program.
        bytes32 decision = keccak256(abi.encode("decision", decisionSeed));
        if (decisionSeed % 8 == 0 && decisions.length > 0) decision = decisions[decisionSeed % decisions.length];
        if (decisionSeed % 32 == 1) decision = 0;
        address actor = _actor(actorSeed, replay.program(p.program).operator);
        bool expectation = actor == replay.program(p.program).operator && award > 0 && award <= p.paid
            && award <= _owed(p) && decision != 0;
        vm.prank(actor);
        if (_send("collectRefund", expectation, abi.encodeCall(registrar.collectRefund, (id, award, decision)))) {
            decisions.push(decision);
            decisionOf[id] = decision;
            _moved(p.token, p.merchant, p.beneficiary, award);
        }
    }

    /// @dev The largest possible refund, which does not depend on pause, bounds and revocation.
    function _owed(IPurchaseRegistrar.PurchaseState memory p) private view returns (uint256 max) {
        IPurchaseRegistrar.FundingState memory state = replay.funding(p.program, p.merchantRef);
        bool covered = p.claimHash != 0 && p.refunded == 0 && time <= state.validUntil
            && _moves(p.token, p.merchant, p.beneficiary);
        if (!covered) return 0;
        max = state.cap - state.collected;
        if (p.paid < max) max = p.paid;
        uint256 allowance = MockToken(p.token).allowance(p.merchant, source);
        if (allowance < max) max = allowance;
    }

    // Views for the invariants

    function idCount() external view returns (uint256) {
        return ids.length;
    }

    function fundingCount() external view returns (uint256) {
        return fundingRefs.length;
    }

    function owed(bytes32 id) external view returns (uint256) {
        return _owed(replay.purchase(id));
    }

    function operatorOf(bytes32 id) external view returns (address) {
        return replay.program(replay.purchase(id).program).operator;
    }

    /// @dev The first decision hash of a refund, if any.
    function someDecision() external view returns (bytes32) {
        return decisions.length == 0 ? keccak256("decision") : decisions[0];
    }

    function commitment(bytes32 id) external view returns (IPurchaseRegistrar.Purchase memory) {
        return _commitments[id];
    }

    // Internal

    /// @dev The allowed caller, or for one of eight seeds any account.
    function _actor(uint256 seed, address entitled) private view returns (address) {
        if (seed % 8 != 7) return entitled;
        uint256 i = (seed >> 16) % (WALLETS + 5);
        if (i < WALLETS) return wallets[i];
        if (i < WALLETS + 2) return admins[i - WALLETS];
        if (i < WALLETS + 4) return operators[i - WALLETS - 2];
        return stranger;
    }

    /// @dev Signs with the wrong key for one of sixteen seeds.
    function _signed(uint256 seed) private pure returns (bool) {
        return (seed >> 32) % 16 != 15;
    }

    function _sign(bytes32 digest, uint256 seed) private pure returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(_signed(seed) ? SIGNER_KEY : SIGNER_KEY + 1, digest);
        return abi.encodePacked(r, s, v);
    }

    function _bounds(uint256 max, uint256 budget, uint256 validUntil)
        private
        pure
        returns (IPurchaseRegistrar.Bounds memory)
    {
        return IPurchaseRegistrar.Bounds(max, budget, uint64(validUntil));
    }

    /// @dev Whether a token moves exactly the amount.
    function _moves(address moved, address from, address to) private view returns (bool) {
        MockToken mock = MockToken(moved);
        return mock.mode() == MockToken.Mode.Honest && !mock.paused() && !mock.blocked(from) && !mock.blocked(to);
    }

    function _moved(address moved, address from, address to, uint256 amount) private {
        expected[moved][from] -= amount;
        expected[moved][to] += amount;
    }

    function _clamp(uint256 value, uint256 min, uint256 max) private pure returns (uint256) {
        return min + value % (max - min + 1);
    }

    /// @dev An amount up to `max`; for one of four seeds of any magnitude, down to zero.
    function _size(uint256 seed, uint256 max) private pure returns (uint256 amount) {
        amount = seed % (max + 1);
        if (seed >> 254 == 1) amount >>= (seed >> 246) % 128;
    }

    /// @dev Runs as the pranked actor.
    function _send(string memory name, bool expectation, bytes memory data) private returns (bool success) {
        (success,) = address(registrar).call(data);
        if (success != expectation) _note(name, success ? ": accepted" : ": refused");
        // The recorder also keeps the logs of a reverted call, unlike a chain.
        Cheatcodes.Log[] memory logs = vm.getRecordedLogs();
        if (!success) {
            ++refused[name];
            return false;
        }
        ++accepted[name];
        try replay.feed(logs) returns (uint256 count) {
            if (count == 0) _note(name, ": no event");
        } catch {
            _note(name, ": an event that does not follow from the earlier ones");
        }
    }

    function _note(string memory name, string memory what) private {
        if (bytes(mismatch).length == 0) mismatch = string(abi.encodePacked(name, what));
    }
}
