import type { ContractBug } from "./contract-bug.ts";

/** Bugs in payments. */
export const payments: readonly ContractBug[] = [
  {
    rule: "A claim does not end the payments, a refund does.",
    find: "_requireNotRefunded(id, record);\n        FundingRecord storage source",
    replace:
      "if (record.claimOrDecision != 0) revert AlreadyClaimed(id, record.claimOrDecision);\n        FundingRecord storage source",
  },
  {
    rule: "A refund ends the payments.",
    find: "_requireNotRefunded(id, record);\n        FundingRecord storage source",
    replace: "FundingRecord storage source",
  },
  {
    rule: "A pause stops payments of registered purchases too.",
    find: "_requireNotPaused(source.program, program);",
    replace: "if (record.route == Route.Offer) _requireNotPaused(source.program, program);",
  },
  {
    rule: "A payment is recorded, and its event emitted, before the token is called.",
    find: "(IERC20 token, address merchant) = _recordPayment(id, amount);\n        token.exactTransferFrom(msg.sender, merchant, amount);\n    }\n\n    /// @dev Checks and records",
    replace:
      "FundingRecord storage source = _fundings[_purchases[id].funding];\n        IERC20(source.token).exactTransferFrom(msg.sender, source.wallet, amount);\n        _recordPayment(id, amount);\n    }\n\n    /// @dev Checks and records",
  },
  {
    rule: "Each purchase of a batch is paid with its own amount.",
    find: "_pay(ids[i], amounts[i]);",
    replace: "_pay(ids[i], amounts[0]);",
  },
  {
    rule: "A batch pays every one of its purchases.",
    find: "_pay(ids[i], amounts[i]);",
    replace: "_pay(ids[0], amounts[i]);",
  },
  {
    rule: "A payment is recorded before the permit is submitted.",
    find: "(IERC20 token, address merchant) = _recordPayment(id, amount);\n        try IERC20Permit(address(token)).permit(msg.sender, address(this), amount, deadline, v, r, s) {}\n        catch (bytes memory reason) {",
    replace:
      "IERC20 token = IERC20(_fundings[_purchases[id].funding].token);\n        address merchant = _fundings[_purchases[id].funding].wallet;\n        try IERC20Permit(address(token)).permit(msg.sender, address(this), amount, deadline, v, r, s) {\n            _recordPayment(id, amount);\n        } catch (bytes memory reason) {\n            _recordPayment(id, amount);",
  },
  {
    rule: "A permit is for the payment, not for more.",
    find: "permit(msg.sender, address(this), amount, deadline, v, r, s)",
    replace: "permit(msg.sender, address(this), type(uint256).max, deadline, v, r, s)",
  },
  {
    rule: "A permit lets the registrar contract draw, not the funding source.",
    find: "permit(msg.sender, address(this), amount, deadline, v, r, s)",
    replace: "permit(msg.sender, address(_fundingSource), amount, deadline, v, r, s)",
  },
  {
    rule: "A permit's deadline is the one that was signed.",
    find: "permit(msg.sender, address(this), amount, deadline, v, r, s)",
    replace: "permit(msg.sender, address(this), amount, block.timestamp, v, r, s)",
  },
  {
    rule: "An allowance that is too small does not replace a permit.",
    find: "if (token.allowance(msg.sender, address(this)) < amount) revert",
    replace: "if (token.allowance(msg.sender, address(this)) == 0) revert",
  },
  {
    rule: "A refused permit carries the token's reason.",
    find: "PermitRefused(address(token), reason)",
    replace: 'PermitRefused(address(token), "")',
  },
  {
    rule: "A payment by permit moves exactly the payment.",
    find: "        }\n        token.exactTransferFrom(msg.sender, merchant, amount);",
    replace:
      "        }\n        token.exactTransferFrom(msg.sender, merchant, token.allowance(msg.sender, address(this)));",
  },
  {
    rule: "A batch pays more than five purchases.",
    find: "i < ids.length; ++i",
    replace: "i < ids.length && i < 5; ++i",
  },
  {
    rule: "A batch pays more than sixteen purchases.",
    find: "i < ids.length; ++i",
    replace: "i < ids.length && i < 16; ++i",
  },
  {
    rule: "A lowered budget does not stop payments of registered purchases.",
    find: "if (record.route == Route.Offer) program.openOffers -= uint128(amount);",
    replace:
      "if (record.route == Route.Offer) program.openOffers -= uint128(amount);\n        else if (program.openOffers > program.openBudget) revert BudgetExceeded(amount, 0);",
  },
  {
    rule: "A plain transfer of ether is refused.",
    find: 'constructor() EIP712("PurchaseRegistrar", "1") {',
    replace: 'receive() external payable {}\n\n    constructor() EIP712("PurchaseRegistrar", "1") {',
  },
];

/** Whether the purchase is the first of a batch, or is paid alone. */
const isFirst = "msg.sig != this.payBatch.selector || id == bytes32(msg.data[100:132])";

/** Bugs in batches: in most of them, the rule holds for the first purchase of a batch, and not for those after it. */
export const batches: readonly ContractBug[] = [
  {
    rule: "Each purchase of a batch is paid by its own buyer.",
    find: "_requireCaller(record.buyer);",
    replace: `if (${isFirst}) _requireCaller(record.buyer);`,
  },
  {
    rule: "The beneficiary pays no batch, even of a purchase that is paid in part.",
    find: "_requireCaller(record.buyer);",
    replace:
      "if (msg.sig != this.payBatch.selector || record.paid == 0 || msg.sender != record.beneficiary) _requireCaller(record.buyer);",
  },
  {
    rule: "Each purchase of a batch is paid until its own deadline.",
    find: "_requireWithin(record.payDeadline);",
    replace: `if (${isFirst}) _requireWithin(record.payDeadline);`,
  },
  {
    rule: "A batch pays no refunded purchase.",
    find: "_requireNotRefunded(id, record);\n        FundingRecord storage source = _fundings[record.funding];\n        ProgramRecord",
    replace: `if (${isFirst}) _requireNotRefunded(id, record);\n        FundingRecord storage source = _fundings[record.funding];\n        ProgramRecord`,
  },
  {
    rule: "A batch pays no purchase of a paused program.",
    find: "_requireNotPaused(source.program, program);",
    replace: `if (${isFirst}) _requireNotPaused(source.program, program);`,
  },
  {
    rule: "No purchase of a batch is paid above its amount.",
    find: "_requireAmount(amount, record.amount - paid);",
    replace: `_requireAmount(amount, ${isFirst} ? record.amount - paid : MAX_AMOUNT);`,
  },
  {
    rule: "A batch that pays a purchase twice stays within its amount.",
    find: "_pay(ids[i], amounts[i]);",
    replace:
      "if (i > 1 && ids[i] == ids[0] && amounts[i] > _purchases[ids[i]].amount - _purchases[ids[i]].paid) continue;\n            _pay(ids[i], amounts[i]);",
  },
  {
    rule: "A payment of zero fails its batch.",
    find: "_pay(ids[i], amounts[i]);",
    replace: "if (i > 0 && amounts[i] == 0) continue;\n            _pay(ids[i], amounts[i]);",
  },
  {
    rule: "A purchase that has ended fails its batch.",
    find: "_pay(ids[i], amounts[i]);",
    replace:
      "if (i > 0 && _purchases[ids[i]].status > Status.Open) continue;\n            _pay(ids[i], amounts[i]);",
  },
  {
    rule: "An unknown purchase fails its batch.",
    find: "_pay(ids[i], amounts[i]);",
    replace:
      "if (i == 2 && _purchases[ids[i]].status == Status.None) continue;\n            _pay(ids[i], amounts[i]);",
  },
  {
    rule: "A transfer that fails fails its batch.",
    find: "_pay(ids[i], amounts[i]);",
    replace:
      "(IERC20 token, address merchant) = _recordPayment(ids[i], amounts[i]);\n            if (i == 0 || token.allowance(msg.sender, address(this)) >= amounts[i]) token.exactTransferFrom(msg.sender, merchant, amounts[i]);",
  },
  {
    rule: "Each payment of a batch goes to the merchant of its purchase.",
    find: "        merchant = source.wallet;\n        token = IERC20",
    replace:
      "        merchant = msg.sig != this.payBatch.selector ? source.wallet : _fundings[_purchases[bytes32(msg.data[100:132])].funding].wallet;\n        token = IERC20",
  },
  {
    rule: "The third payment of a batch has its own amount.",
    find: "_pay(ids[i], amounts[i]);",
    replace: "_pay(ids[i], amounts[i == 2 ? 1 : i]);",
  },
  {
    rule: "A batch of several purchases in another encoding is refused.",
    find: "if (!_isCanonical(ids, amounts))",
    replace: "if (ids.length < 2 && !_isCanonical(ids, amounts))",
  },
];
