// SPDX-License-Identifier: MIT
pragma solidity >=0.8.15;

import {IPurchaseRegistrar} from "../interfaces/IPurchaseRegistrar.sol";
import {Cheatcodes} from "./Cheatcodes.sol";

/// @title RegistrarReplay
/// @notice Rebuilds the registrar contract's state from its logs alone, as an indexer does.
contract RegistrarReplay {
    address private immutable _registrar;

    mapping(bytes32 => IPurchaseRegistrar.ProgramState) private _programs;
    mapping(bytes32 => address) public pendingAdmin;
    mapping(bytes32 => mapping(bytes32 => IPurchaseRegistrar.FundingState)) private _fundings;
    mapping(bytes32 => mapping(address => bytes32)) public enrolledAs;
    mapping(bytes32 => IPurchaseRegistrar.PurchaseState) private _purchases;

    error UnknownLog(bytes32 topic);
    error SequenceGap(bytes32 id, uint32 actual, uint32 expected);
    error TotalGap(bytes32 id, uint256 actual, uint256 expected);
    error OtherAdmin(bytes32 program, bytes32 actual, address expected);
    error OtherClaim(bytes32 id, bytes32 actual, bytes32 expected);

    constructor(address registrar) {
        _registrar = registrar;
    }

    function program(bytes32 id) external view returns (IPurchaseRegistrar.ProgramState memory) {
        return _programs[id];
    }

    function funding(bytes32 program_, bytes32 merchantRef)
        external
        view
        returns (IPurchaseRegistrar.FundingState memory)
    {
        return _fundings[program_][merchantRef];
    }

    function purchase(bytes32 id) external view returns (IPurchaseRegistrar.PurchaseState memory) {
        return _purchases[id];
    }

    function feed(Cheatcodes.Log[] memory logs) external returns (uint256 count) {
        for (uint256 i = 0; i < logs.length; ++i) {
            if (logs[i].emitter != _registrar) continue;
            _apply(logs[i].topics, logs[i].data);
            ++count;
        }
    }

    function _apply(bytes32[] memory topics, bytes memory data) private {
        bytes32 topic = topics[0];
        if (topic == IPurchaseRegistrar.ProgramOpened.selector) _programOpened(topics, data);
        else if (topic == IPurchaseRegistrar.BoundsSet.selector) _boundsSet(topics, data);
        else if (topic == IPurchaseRegistrar.PausedSet.selector) {
            _programs[topics[1]].paused = abi.decode(data, (bool));
        } else if (topic == IPurchaseRegistrar.AdminTransferStarted.selector) {
            pendingAdmin[topics[1]] = address(uint160(uint256(topics[3])));
        } else if (topic == IPurchaseRegistrar.AdminTransferred.selector) _adminTransferred(topics);
        else if (topic == IPurchaseRegistrar.FundingEnrolled.selector) _fundingEnrolled(topics, data);
        else if (topic == IPurchaseRegistrar.FundingRevoked.selector) _fundingRevoked(topics, data);
        else if (topic == IPurchaseRegistrar.PurchaseOffered.selector) {
            _committed(topics[1], data, IPurchaseRegistrar.Route.Offer);
        } else if (topic == IPurchaseRegistrar.PurchaseRegistered.selector) {
            _committed(topics[1], data, IPurchaseRegistrar.Route.Direct);
        } else if (topic == IPurchaseRegistrar.OfferWithdrawn.selector) {
            _closed(topics[1], topics[2], data, IPurchaseRegistrar.Status.Withdrawn);
        } else if (topic == IPurchaseRegistrar.PurchaseExpired.selector) {
            _closed(topics[1], topics[2], data, IPurchaseRegistrar.Status.Expired);
        } else if (topic == IPurchaseRegistrar.PurchasePaid.selector) _paid(topics[1], data);
        else if (topic == IPurchaseRegistrar.PurchaseClaimed.selector) {
            (uint32 sequence, bytes32 claimHash) = abi.decode(data, (uint32, bytes32));
            _next(topics[1], sequence).claimHash = claimHash;
        } else if (topic == IPurchaseRegistrar.RefundCollected.selector) _refunded(topics, data);
        else revert UnknownLog(topic);
    }

    function _programOpened(bytes32[] memory topics, bytes memory data) private {
        IPurchaseRegistrar.ProgramState storage state = _programs[topics[1]];
        state.admin = address(uint160(uint256(topics[2])));
        state.operator = address(uint160(uint256(topics[3])));
        (state.commitmentSigner, state.bounds) = abi.decode(data, (address, IPurchaseRegistrar.Bounds));
    }

    function _boundsSet(bytes32[] memory topics, bytes memory data) private {
        IPurchaseRegistrar.ProgramState storage state = _programs[topics[1]];
        state.operator = address(uint160(uint256(topics[2])));
        (state.commitmentSigner, state.bounds) = abi.decode(data, (address, IPurchaseRegistrar.Bounds));
    }

    function _adminTransferred(bytes32[] memory topics) private {
        IPurchaseRegistrar.ProgramState storage state = _programs[topics[1]];
        if (address(uint160(uint256(topics[2]))) != state.admin) revert OtherAdmin(topics[1], topics[2], state.admin);
        state.admin = address(uint160(uint256(topics[3])));
        delete pendingAdmin[topics[1]];
    }

    function _fundingEnrolled(bytes32[] memory topics, bytes memory data) private {
        IPurchaseRegistrar.FundingState storage state = _fundings[topics[1]][topics[2]];
        state.wallet = address(uint160(uint256(topics[3])));
        (state.token, state.cap, state.validUntil, state.authorization) =
            abi.decode(data, (address, uint256, uint64, bytes32));
        enrolledAs[topics[1]][state.wallet] = topics[2];
    }

    function _fundingRevoked(bytes32[] memory topics, bytes memory data) private {
        IPurchaseRegistrar.FundingState storage state = _fundings[topics[1]][topics[2]];
        state.revokedAt = abi.decode(data, (uint64));
        delete enrolledAs[topics[1]][state.wallet];
    }

    function _committed(bytes32 id, bytes memory data, IPurchaseRegistrar.Route route) private {
        (uint32 sequence, IPurchaseRegistrar.Purchase memory p) =
            abi.decode(data, (uint32, IPurchaseRegistrar.Purchase));
        IPurchaseRegistrar.PurchaseState storage state = _next(id, sequence);
        state.status = IPurchaseRegistrar.Status.Open;
        state.route = route;
        state.program = p.program;
        // The wallet has only one active funding in the program, so this funding covers the purchase.
        state.merchantRef = enrolledAs[p.program][p.merchant];
        state.merchant = p.merchant;
        state.buyer = p.buyer;
        state.beneficiary = p.beneficiary;
        state.token = p.token;
        state.amount = p.amount;
        state.payDeadline = p.payDeadline;
        state.claimDeadline = p.claimDeadline;
        if (route == IPurchaseRegistrar.Route.Offer) _programs[p.program].openOffers += p.amount;
    }

    function _closed(bytes32 id, bytes32 program_, bytes memory data, IPurchaseRegistrar.Status status) private {
        (uint32 sequence, uint256 released) = abi.decode(data, (uint32, uint256));
        _next(id, sequence).status = status;
        _programs[program_].openOffers -= released;
    }

    function _paid(bytes32 id, bytes memory data) private {
        (uint32 sequence, uint256 amount, uint256 paidTotal) = abi.decode(data, (uint32, uint256, uint256));
        IPurchaseRegistrar.PurchaseState storage state = _next(id, sequence);
        state.paid += amount;
        if (state.paid != paidTotal) revert TotalGap(id, paidTotal, state.paid);
        if (state.route == IPurchaseRegistrar.Route.Offer) _programs[state.program].openOffers -= amount;
    }

    function _refunded(bytes32[] memory topics, bytes memory data) private {
        (uint32 sequence, bytes32 claimHash, uint256 award, uint256 collectedTotal) =
            abi.decode(data, (uint32, bytes32, uint256, uint256));
        IPurchaseRegistrar.PurchaseState storage state = _next(topics[1], sequence);
        if (claimHash != state.claimHash) revert OtherClaim(topics[1], claimHash, state.claimHash);
        state.refunded = award;
        state.claimHash = 0;
        state.decisionHash = topics[3];
        IPurchaseRegistrar.FundingState storage source = _fundings[state.program][state.merchantRef];
        source.collected += award;
        if (source.collected != collectedTotal) revert TotalGap(topics[1], collectedTotal, source.collected);
    }

    function _next(bytes32 id, uint32 sequence) private returns (IPurchaseRegistrar.PurchaseState storage state) {
        state = _purchases[id];
        if (sequence != state.sequence + 1) revert SequenceGap(id, sequence, state.sequence + 1);
        state.sequence = sequence;
    }
}
