import type { ContractBug } from "./contract-bug.ts";

/** Bugs in claims and refunds. */
export const refunds: readonly ContractBug[] = [
  {
    rule: "The beneficiary claims, not the buyer.",
    find: "_requireCaller(record.beneficiary);",
    replace: "_requireCaller(record.buyer);",
  },
  {
    rule: "A claim is in time until the claim deadline.",
    find: "_requireWithin(record.claimDeadline);",
    replace: "_requireWithin(record.payDeadline);",
  },
  {
    rule: "A paused program's claims are filed.",
    find: "_requireWithin(record.claimDeadline);",
    replace:
      "_requireWithin(record.claimDeadline); _requireNotPaused(_fundings[record.funding].program, _programs[_fundings[record.funding].program]);",
  },
  {
    rule: "A refund goes to the beneficiary, not to the buyer.",
    find: "address beneficiary = record.beneficiary;",
    replace: "address beneficiary = record.buyer;",
  },
  {
    rule: "An award is at most what was paid.",
    find: "uint256 paid = record.paid;\n        if (award",
    replace: "uint256 paid = record.amount;\n        if (award",
  },
  {
    rule: "The funding's validity ends refunds, not the claim deadline.",
    find: "_requireWithin(source.validUntil);",
    replace: "_requireWithin(record.claimDeadline);",
  },
  {
    rule: "The end of the bounds does not end refunds.",
    find: "_requireCaller(_programs[source.program].operator);",
    replace: "_requireOperator(source.program, _programs[source.program]);",
  },
  {
    rule: "A pause does not stop refunds.",
    find: "_requireCaller(_programs[source.program].operator);",
    replace:
      "_requireCaller(_programs[source.program].operator); _requireNotPaused(source.program, _programs[source.program]);",
  },
  {
    rule: "A revoked funding pays refunds.",
    find: "_requireCaller(_programs[source.program].operator);",
    replace:
      "_requireCaller(_programs[source.program].operator); if (source.revokedAt != 0) revert AlreadyRevoked(source.merchantRef, source.revokedAt);",
  },
  {
    rule: "The admin collects no refund.",
    find: "_requireCaller(_programs[source.program].operator);",
    replace:
      "if (msg.sender != _programs[source.program].admin) _requireCaller(_programs[source.program].operator);",
  },
  {
    rule: "A decision that another program has used can be carried out.",
    find: "record.claimOrDecision = decisionHash;",
    replace:
      "if (_fundingOf[0][decisionHash] != 0) revert AlreadyRefunded(id, decisionHash);\n        _fundingOf[0][decisionHash] = 1;\n        record.claimOrDecision = decisionHash;",
  },
  {
    rule: "A refund's decision is recorded before the token is called.",
    find: "emit RefundCollected(id, beneficiary, decisionHash, ++record.sequence, claimHash, award, collectedTotal);\n        _fundingSource.draw(source.token, source.wallet, beneficiary, award);",
    replace:
      "emit RefundCollected(id, beneficiary, decisionHash, ++record.sequence, claimHash, award, collectedTotal);\n        record.claimOrDecision = claimHash;\n        _fundingSource.draw(source.token, source.wallet, beneficiary, award);\n        record.claimOrDecision = decisionHash;",
  },
  {
    rule: "A collected amount is recorded before the token is called.",
    find: "_fundingSource.draw(source.token, source.wallet, beneficiary, award);",
    replace:
      "source.collected = uint128(collectedTotal - award);\n        _fundingSource.draw(source.token, source.wallet, beneficiary, award);\n        source.collected = uint128(collectedTotal);",
  },
  {
    rule: "The event of a refund comes before its transfer.",
    find: "emit RefundCollected(id, beneficiary, decisionHash, ++record.sequence, claimHash, award, collectedTotal);\n        _fundingSource.draw(source.token, source.wallet, beneficiary, award);",
    replace:
      "_fundingSource.draw(source.token, source.wallet, beneficiary, award);\n        emit RefundCollected(id, beneficiary, decisionHash, ++record.sequence, claimHash, award, collectedTotal);",
  },
  {
    rule: "The event of a refund carries the claim, not the decision twice.",
    find: "++record.sequence, claimHash, award, collectedTotal);",
    replace: "++record.sequence, record.claimOrDecision, award, collectedTotal);",
  },
  {
    rule: "A refund's event carries what the funding has paid so far.",
    find: "claimHash, award, collectedTotal);",
    replace: "claimHash, award, award);",
  },
  {
    rule: "An award for a registered purchase is at most what was paid.",
    find: "uint256 paid = record.paid;\n        if (award",
    replace: "uint256 paid = record.route == Route.Direct ? record.amount : record.paid;\n        if (award",
  },
  {
    rule: "An expired purchase with a payment can be claimed.",
    find: "if (record.paid == 0) revert NothingPaid(id);",
    replace:
      "if (record.paid == 0) revert NothingPaid(id);\n        if (record.status == Status.Expired) revert WrongStatus(id, record.status, Status.Open);",
  },
  {
    rule: "An expired purchase that is claimed can be refunded.",
    find: "if (claimHash == 0) revert NotClaimed(id);",
    replace:
      "if (claimHash == 0) revert NotClaimed(id);\n        if (record.status == Status.Expired) revert WrongStatus(id, record.status, Status.Open);",
  },
  {
    rule: "A refund leaves a withdrawn purchase withdrawn.",
    find: "record.refunded = uint128(award);",
    replace:
      "record.refunded = uint128(award);\n        if (record.status == Status.Withdrawn) record.status = Status.Expired;",
  },
];

/** Bugs in withdrawals and expiries. */
export const endings: readonly ContractBug[] = [
  {
    rule: "The operator withdraws until the bounds end.",
    find: "_requireOperator(program, _programs[program]);\n        (uint32 sequence",
    replace: "_requireCaller(_programs[program].operator);\n        (uint32 sequence",
  },
  {
    rule: "A withdrawn offer is withdrawn, not expired.",
    find: "_close(id, record, program, Status.Withdrawn)",
    replace: "_close(id, record, program, Status.Expired)",
  },
  {
    rule: "An expired purchase is expired, not withdrawn.",
    find: "_close(id, record, program, Status.Expired)",
    replace: "_close(id, record, program, Status.Withdrawn)",
  },
  {
    rule: "An end gives back the unpaid part, not the whole amount.",
    find: "released = outstanding;",
    replace: "released = record.amount;",
  },
  {
    rule: "A claimed offer can be withdrawn.",
    find: "if (record.route != Route.Offer) revert WrongRoute",
    replace:
      "if (record.claimOrDecision != 0) revert AlreadyClaimed(id, record.claimOrDecision);\n        if (record.route != Route.Offer) revert WrongRoute",
  },
  {
    rule: "A claimed purchase expires.",
    find: "if (block.timestamp <= record.payDeadline) revert",
    replace:
      "if (record.claimOrDecision != 0) revert AlreadyClaimed(id, record.claimOrDecision);\n        if (block.timestamp <= record.payDeadline) revert",
  },
  {
    rule: "A pause does not stop a withdrawal.",
    find: "_requireOperator(program, _programs[program]);\n        (uint32 sequence",
    replace:
      "_requireNotPaused(program, _programs[program]);\n        _requireOperator(program, _programs[program]);\n        (uint32 sequence",
  },
  {
    rule: "The error of an early expiry has the current time first, then the deadline.",
    find: "revert DeadlineNotPassed(block.timestamp, record.payDeadline);",
    replace: "revert DeadlineNotPassed(record.payDeadline, block.timestamp);",
  },
];
