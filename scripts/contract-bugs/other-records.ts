import type { ContractBug } from "./contract-bug.ts";

/** Bugs that take the record of another program, merchant, purchase or funding, and bounds that a zero removes. */
export const otherRecords: readonly ContractBug[] = [
  {
    rule: "A purchase expires after the end of its funding too.",
    find: "(uint32 sequence, uint256 released) = _close(id, record, program, Status.Expired);",
    replace:
      "_requireWithin(_fundings[record.funding].validUntil); (uint32 sequence, uint256 released) = _close(id, record, program, Status.Expired);",
  },
  {
    rule: "A largest purchase of zero is a limit.",
    find: "_requireAmount(amount, record.maxPurchase);",
    replace: "_requireAmount(amount, record.maxPurchase == 0 ? MAX_AMOUNT : record.maxPurchase);",
  },
  {
    rule: "A budget of zero is a limit.",
    find: "if (openOffers + amount > openBudget) {",
    replace: "if (openBudget != 0 && openOffers + amount > openBudget) {",
  },
  {
    rule: "Another enrolled merchant revokes no funding.",
    find: "_requireCaller(source.wallet);",
    replace: "if (_active[program][msg.sender] == 0) _requireCaller(source.wallet);",
  },
  {
    rule: "A batch pays more than 32 purchases.",
    find: "if (ids.length == 0 ||",
    replace: "if (ids.length == 0 || ids.length > 32 ||",
  },
  {
    rule: "A program opens without an operator.",
    find: "if (program == 0) revert ZeroValue();",
    replace: "if (program == 0 || operator == address(0)) revert ZeroValue();",
  },
  {
    rule: "A refund is drawn in the token of its own funding.",
    find: "_fundingSource.draw(source.token,",
    replace:
      "uint64 other = _active[source.program][source.wallet]; _fundingSource.draw(other == 0 ? source.token : _fundings[other].token,",
  },
  {
    rule: "A payment is made in the token of its own funding.",
    find: "token = IERC20(source.token);",
    replace:
      "uint64 other = _active[source.program][source.wallet]; token = IERC20(other == 0 ? source.token : _fundings[other].token);",
  },
  {
    rule: "An id of a purchase is compared whole.",
    find: "if (record.status == Status.None) revert UnknownPurchase(id);",
    replace:
      "if (record.status == Status.None) record = _purchases[id ^ bytes32(uint256(1))]; if (record.status == Status.None) revert UnknownPurchase(id);",
  },
  {
    rule: "An id of a program is compared whole.",
    find: "record = _programs[program];\n        _requireOpen(program, record);\n        _requireCaller(record.admin);",
    replace:
      "record = _programs[program]; if (record.admin == address(0)) record = _programs[program ^ bytes32(uint256(1) << 255)]; _requireOpen(program, record); _requireCaller(record.admin);",
  },
];
