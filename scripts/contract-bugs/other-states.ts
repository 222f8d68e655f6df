import type { ContractBug } from "./contract-bug.ts";

/** Rules that hold in the plainest state of a purchase, and are broken in another one. */
export const otherStates: readonly ContractBug[] = [
  {
    rule: "Anyone expires a registered purchase, the operator too.",
    find: "if (block.timestamp <= record.payDeadline) revert",
    replace:
      "if (record.route == Route.Direct && msg.sender == _programs[_fundings[record.funding].program].operator) revert WrongCaller(msg.sender, address(0));\n        if (block.timestamp <= record.payDeadline) revert",
  },
  {
    rule: "The admin replaces the operator during a pause.",
    find: "record.operator = operator;",
    replace: "if (!record.paused) record.operator = operator;",
  },
  {
    rule: "The admin collects no refund under a revoked funding.",
    find: "_requireCaller(_programs[source.program].operator);",
    replace:
      "if (msg.sender != _programs[source.program].admin || source.revokedAt == 0) _requireCaller(_programs[source.program].operator);",
  },
  {
    rule: "The merchant collects no refund of an expired purchase.",
    find: "_requireCaller(_programs[source.program].operator);",
    replace:
      "if (msg.sender != source.wallet || record.status != Status.Expired) _requireCaller(_programs[source.program].operator);",
  },
  {
    rule: "No stranger collects a refund under a revoked funding.",
    find: "_requireCaller(_programs[source.program].operator);",
    replace: "if (source.revokedAt == 0) _requireCaller(_programs[source.program].operator);",
  },
  {
    rule: "A refund after the end of a revoked funding is refused.",
    find: "_requireWithin(source.validUntil);",
    replace: "if (source.revokedAt == 0) _requireWithin(source.validUntil);",
  },
  {
    rule: "A refund of a registered purchase after the end of its funding is refused.",
    find: "_requireWithin(source.validUntil);",
    replace: "if (record.route == Route.Offer) _requireWithin(source.validUntil);",
  },
  {
    rule: "The cap limits the refunds of a revoked funding.",
    find: "_requireRemaining(source, award);",
    replace: "if (source.revokedAt == 0) _requireRemaining(source, award);",
  },
  {
    rule: "The cap limits the refunds of a withdrawn purchase.",
    find: "_requireRemaining(source, award);",
    replace: "if (record.status != Status.Withdrawn) _requireRemaining(source, award);",
  },
  {
    rule: "The cap limits refunds during a pause.",
    find: "_requireRemaining(source, award);",
    replace: "if (!_programs[source.program].paused) _requireRemaining(source, award);",
  },
  {
    rule: "An award for a withdrawn purchase is at most what was paid.",
    find: "uint256 paid = record.paid;\n        if (award",
    replace:
      "uint256 paid = record.status == Status.Withdrawn ? record.amount : record.paid;\n        if (award",
  },
  {
    rule: "A refund counts under the purchase's own funding, even after a new enrollment.",
    find: "// A pause, the end of the bounds and a revocation do not block a refund.",
    replace:
      "if (source.revokedAt != 0 && _active[source.program][source.wallet] != 0) source = _fundings[_active[source.program][source.wallet]];",
  },
  {
    rule: "A withdrawn purchase with a payment can be refunded without the operator's bounds.",
    find: "_requireCaller(_programs[source.program].operator);",
    replace:
      "_requireCaller(_programs[source.program].operator);\n        if (record.status == Status.Withdrawn && _programs[source.program].maxPurchase == 0) revert WrongStatus(id, record.status, Status.Open);",
  },
  {
    rule: "The buyer does not claim a withdrawn purchase.",
    find: "_requireCaller(record.beneficiary);",
    replace:
      "if (record.status != Status.Withdrawn || msg.sender != record.buyer) _requireCaller(record.beneficiary);",
  },
  {
    rule: "The merchant does not claim a registered purchase.",
    find: "_requireCaller(record.beneficiary);",
    replace:
      "if (record.route != Route.Direct || msg.sender != _fundings[record.funding].wallet) _requireCaller(record.beneficiary);",
  },
  {
    rule: "The operator does not claim during a pause.",
    find: "_requireCaller(record.beneficiary);",
    replace:
      "if (!_programs[_fundings[record.funding].program].paused || msg.sender != _programs[_fundings[record.funding].program].operator) _requireCaller(record.beneficiary);",
  },
  {
    rule: "A late claim of an expired purchase is refused.",
    find: "_requireWithin(record.claimDeadline);",
    replace: "if (record.status != Status.Expired) _requireWithin(record.claimDeadline);",
  },
  {
    rule: "A late claim under a revoked funding is refused.",
    find: "_requireWithin(record.claimDeadline);",
    replace: "if (_fundings[record.funding].revokedAt == 0) _requireWithin(record.claimDeadline);",
  },
  {
    rule: "A claim under a revoked funding is filed.",
    find: "if (record.paid == 0) revert NothingPaid(id);",
    replace: "if (record.paid == 0 || _fundings[record.funding].revokedAt != 0) revert NothingPaid(id);",
  },
  {
    rule: "A partly paid, withdrawn purchase is claimed without an operator.",
    find: "if (record.paid == 0) revert NothingPaid(id);",
    replace:
      "if (record.paid == 0 || (record.status == Status.Withdrawn && _programs[_fundings[record.funding].program].operator == address(0))) revert NothingPaid(id);",
  },
  {
    rule: "The admin withdraws no offer during a pause.",
    find: "_requireOperator(program, _programs[program]);\n        (uint32 sequence",
    replace:
      "if (!_programs[program].paused || msg.sender != _programs[program].admin) _requireOperator(program, _programs[program]);\n        (uint32 sequence",
  },
  {
    rule: "The merchant withdraws no offer after it revoked its funding.",
    find: "_requireOperator(program, _programs[program]);\n        (uint32 sequence",
    replace:
      "if (_fundings[record.funding].revokedAt == 0 || msg.sender != _fundings[record.funding].wallet) _requireOperator(program, _programs[program]);\n        (uint32 sequence",
  },
  {
    rule: "An offer is withdrawn after its merchant revoked the funding.",
    find: "_requireOperator(program, _programs[program]);\n        (uint32 sequence",
    replace:
      "if (_fundings[record.funding].revokedAt != 0) revert NotEnrolled(program, _fundings[record.funding].wallet);\n        _requireOperator(program, _programs[program]);\n        (uint32 sequence",
  },
  {
    rule: "A pause does not stop a revocation.",
    find: "if (source.revokedAt != 0) revert AlreadyRevoked",
    replace:
      "_requireNotPaused(program, _programs[program]);\n        if (source.revokedAt != 0) revert AlreadyRevoked",
  },
  {
    rule: "The admin revokes no funding during a pause.",
    find: "_requireCaller(source.wallet);",
    replace:
      "if (!_programs[program].paused || msg.sender != _programs[program].admin) _requireCaller(source.wallet);",
  },
  {
    rule: "A pause does not stop an expiry.",
    find: "if (block.timestamp <= record.payDeadline) revert",
    replace:
      "_requireNotPaused(_fundings[record.funding].program, _programs[_fundings[record.funding].program]);\n        if (block.timestamp <= record.payDeadline) revert",
  },
  {
    rule: "A purchase expires after its merchant revoked the funding.",
    find: "if (block.timestamp <= record.payDeadline) revert",
    replace:
      "if (_fundings[record.funding].revokedAt != 0) revert NotEnrolled(_fundings[record.funding].program, _fundings[record.funding].wallet);\n        if (block.timestamp <= record.payDeadline) revert",
  },
  {
    rule: "The rest of a purchase is paid after a revocation.",
    find: "uint256 paid = record.paid;\n        _requireAmount",
    replace:
      "uint256 paid = record.paid;\n        if (paid != 0 && source.revokedAt != 0) revert AlreadyRevoked(source.merchantRef, source.revokedAt);\n        _requireAmount",
  },
  {
    rule: "The rest of a registered purchase is paid after its claim.",
    find: "uint256 paid = record.paid;\n        _requireAmount",
    replace:
      "uint256 paid = record.paid;\n        if (record.route == Route.Direct && record.claimOrDecision != 0) revert AlreadyClaimed(id, record.claimOrDecision);\n        _requireAmount",
  },
  {
    rule: "A late payment of the rest is refused.",
    find: "_requireWithin(record.payDeadline);",
    replace: "if (record.paid == 0) _requireWithin(record.payDeadline);",
  },
  {
    rule: "A late payment under a revoked funding is refused.",
    find: "_requireWithin(record.payDeadline);",
    replace: "if (source.revokedAt == 0) _requireWithin(record.payDeadline);",
  },
  {
    rule: "A pause stops the payment of the rest.",
    find: "_requireNotPaused(source.program, program);",
    replace: "if (record.paid == 0) _requireNotPaused(source.program, program);",
  },
  {
    rule: "A pause stops payments under a revoked funding.",
    find: "_requireNotPaused(source.program, program);",
    replace: "if (source.revokedAt == 0) _requireNotPaused(source.program, program);",
  },
  {
    rule: "The beneficiary does not pay a claimed purchase.",
    find: "_requireCaller(record.buyer);",
    replace:
      "if (record.claimOrDecision == 0 || msg.sender != record.beneficiary) _requireCaller(record.buyer);",
  },
  {
    rule: "A partial refund ends the payments of a registered purchase.",
    find: "_requireNotRefunded(id, record);\n        FundingRecord storage source",
    replace:
      "if (record.route == Route.Offer) _requireNotRefunded(id, record);\n        FundingRecord storage source",
  },
  {
    rule: "A purchase is registered in a program without an operator.",
    find: "id = _commit(_programs[purchase_.program], purchase_, signature, Route.Direct);",
    replace:
      "if (_programs[purchase_.program].operator == address(0) && _programs[purchase_.program].admin != address(0)) revert ProgramPaused(purchase_.program);\n        id = _commit(_programs[purchase_.program], purchase_, signature, Route.Direct);",
  },
  {
    rule: "A purchase is registered in a program without bounds.",
    find: "id = _commit(_programs[purchase_.program], purchase_, signature, Route.Direct);",
    replace:
      'if (_programs[purchase_.program].maxPurchase == 0 && _programs[purchase_.program].admin != address(0)) revert AmountOutOfRange("amount", purchase_.amount, 1, 0);\n        id = _commit(_programs[purchase_.program], purchase_, signature, Route.Direct);',
  },
  {
    rule: "The operator registers no purchase of a merchant that enrolled again.",
    find: "_requireCaller(purchase_.merchant);",
    replace:
      "if (msg.sender != _programs[purchase_.program].operator || _fundings[_active[purchase_.program][purchase_.merchant]].cap <= 60_000_000) _requireCaller(purchase_.merchant);",
  },
  {
    rule: "A merchant can be a contract.",
    find: "_requireCaller(purchase_.merchant);",
    replace:
      "_requireCaller(purchase_.merchant);\n        if (msg.sender.code.length != 0) revert WrongCaller(msg.sender, purchase_.merchant);",
  },
  {
    rule: "A contract can enroll.",
    find: "_requireCaller(authorization.wallet);",
    replace:
      "_requireCaller(authorization.wallet);\n        if (msg.sender.code.length != 0) revert WrongCaller(msg.sender, authorization.wallet);",
  },
  {
    rule: "A beneficiary can be a contract.",
    find: "_requireCaller(record.beneficiary);",
    replace:
      "_requireCaller(record.beneficiary);\n        if (msg.sender.code.length != 0) revert WrongCaller(msg.sender, record.beneficiary);",
  },
  {
    rule: "A buyer can be a contract.",
    find: "_requireCaller(record.buyer);",
    replace:
      "_requireCaller(record.buyer);\n        if (msg.sender.code.length != 0) revert WrongCaller(msg.sender, record.buyer);",
  },
  {
    rule: "An operator can be a contract.",
    find: "_requireCaller(_programs[source.program].operator);",
    replace:
      "_requireCaller(_programs[source.program].operator);\n        if (msg.sender.code.length != 0) revert WrongCaller(msg.sender, _programs[source.program].operator);",
  },
  {
    rule: "An admin can be a contract.",
    find: "_requireCaller(record.admin);",
    replace:
      "_requireCaller(record.admin);\n        if (msg.sender.code.length != 0) revert WrongCaller(msg.sender, record.admin);",
  },
  {
    rule: "A contract can revoke its funding.",
    find: "_requireCaller(source.wallet);",
    replace:
      "_requireCaller(source.wallet);\n        if (msg.sender.code.length != 0) revert WrongCaller(msg.sender, source.wallet);",
  },
  {
    rule: "An expiry of a claimed offer releases its budget.",
    find: "            released = outstanding;\n",
    replace:
      "            released = outstanding;\n            if (status == Status.Expired && record.claimOrDecision != 0) _programs[program].openOffers += outstanding;\n",
  },
  {
    rule: "New bounds are set during a pause.",
    find: "_setBounds(record, operator, commitmentSigner, bounds);\n        emit BoundsSet",
    replace:
      "_requireNotPaused(program, record);\n        _setBounds(record, operator, commitmentSigner, bounds);\n        emit BoundsSet",
  },
];
