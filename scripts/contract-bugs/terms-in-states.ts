import type { ContractBug } from "./contract-bug.ts";

/** Bugs in signatures, terms and deadlines that show in other states than the first. */
export const termsInStates: readonly ContractBug[] = [
  {
    rule: "The admin signs nothing in place of the commitment signer.",
    find: "address signer = record.commitmentSigner;",
    replace:
      "address signer = record.commitmentSigner;\n        if (SignatureChecker.isValidSignatureNowCalldata(record.admin, digest, signature)) return;",
  },
  {
    rule: "A purchase is signed after the funding has paid a refund too.",
    find: "_requireSigned(program, record, id, signature);",
    replace:
      "if (route == Route.Offer || source.collected == 0) _requireSigned(program, record, id, signature);",
  },
  {
    rule: "A purchase is signed without an operator too.",
    find: "_requireSigned(program, record, id, signature);",
    replace:
      "if (route == Route.Offer || record.operator != address(0)) _requireSigned(program, record, id, signature);",
  },
  {
    rule: "A purchase of a merchant that enrolled again is signed.",
    find: "_requireSigned(program, record, id, signature);",
    replace:
      "if (route == Route.Offer || _fundings[number - 1].wallet != merchant) _requireSigned(program, record, id, signature);",
  },
  {
    rule: "A second enrollment is signed.",
    find: "_requireSigned(program, record, digest, signature);",
    replace:
      "if (_fundings[_fundingCount].wallet != msg.sender) _requireSigned(program, record, digest, signature);",
  },
  {
    rule: "A second enrollment has a cap.",
    find: "if (authorization.cap == 0 ||",
    replace: "if (authorization.cap == 0 && _fundings[_fundingCount].wallet != msg.sender ||",
  },
  {
    rule: "A second enrollment has a merchantRef.",
    find: "if (merchantRef == 0) revert ZeroValue();",
    replace: "if (merchantRef == 0 && _fundings[_fundingCount].wallet != msg.sender) revert ZeroValue();",
  },
  {
    rule: "A second enrollment is made within its validity.",
    find: "_requireWithin(authorization.validUntil);",
    replace: "if (_fundings[_fundingCount].wallet != msg.sender) _requireWithin(authorization.validUntil);",
  },
  {
    rule: "An enrolled wallet is named with the merchantRef that it has now.",
    find: "revert AlreadyEnrolled(program, msg.sender, _fundings[active].merchantRef);",
    replace:
      "revert AlreadyEnrolled(program, msg.sender, _fundings[_fundings[active - 1].wallet == msg.sender ? active - 1 : active].merchantRef);",
  },
  {
    rule: "A second funding covers the claim deadline of a purchase.",
    find: "if (source.validUntil < purchase_.claimDeadline) {",
    replace: "if (source.validUntil < purchase_.claimDeadline && _fundings[number - 1].wallet != merchant) {",
  },
  {
    rule: "A purchase has its funding's token without bounds too.",
    find: "if (purchase_.token != source.token) revert",
    replace: "if (purchase_.token != source.token && record.validUntil != 0) revert",
  },
  {
    rule: "A merchant is no buyer of its own without an operator.",
    find: "if (merchant == purchase_.buyer || merchant == purchase_.beneficiary) revert",
    replace:
      "if ((merchant == purchase_.buyer || merchant == purchase_.beneficiary) && record.operator != address(0)) revert",
  },
  {
    rule: "Deadlines are in order after a refund too.",
    find: "if (purchase_.offerDeadline > purchase_.payDeadline || purchase_.payDeadline > purchase_.claimDeadline) {",
    replace:
      "if (_fundings[_active[program][merchant]].collected == 0 && (purchase_.offerDeadline > purchase_.payDeadline || purchase_.payDeadline > purchase_.claimDeadline)) {",
  },
  {
    rule: "An offer after its deadline is refused, even if the funding has paid a refund.",
    find: "_requireWithin(purchase_.offerDeadline);",
    replace:
      "if (route == Route.Direct || _fundings[_active[program][merchant]].collected == 0) _requireWithin(purchase_.offerDeadline);",
  },
  {
    rule: "An admin removes the commitment signer.",
    find: "record.commitmentSigner = commitmentSigner;",
    replace:
      "if (commitmentSigner == address(0) && record.commitmentSigner != address(0)) revert ZeroValue();\n        record.commitmentSigner = commitmentSigner;",
  },
  {
    rule: "A purchase expires after its claim deadline too.",
    find: "if (block.timestamp <= record.payDeadline) revert",
    replace:
      "_requireWithin(record.claimDeadline);\n        if (block.timestamp <= record.payDeadline) revert",
  },
];

/** Bugs in permits and failing transfers that show in other states than the first. */
export const transfersInStates: readonly ContractBug[] = [
  {
    rule: "An allowance makes a permit for a registered purchase needless.",
    find: "if (token.allowance(msg.sender, address(this)) < amount) revert",
    replace:
      "if (token.allowance(msg.sender, address(this)) < amount || _purchases[id].route == Route.Direct) revert",
  },
  {
    rule: "An allowance makes a permit for a claimed purchase needless.",
    find: "if (token.allowance(msg.sender, address(this)) < amount) revert",
    replace:
      "if (token.allowance(msg.sender, address(this)) < amount || _purchases[id].claimOrDecision != 0) revert",
  },
  {
    rule: "An allowance makes a permit needless after a revocation.",
    find: "if (token.allowance(msg.sender, address(this)) < amount) revert",
    replace:
      "if (token.allowance(msg.sender, address(this)) < amount || _fundings[_purchases[id].funding].revokedAt != 0) revert",
  },
  {
    rule: "An allowance makes an expired permit needless.",
    find: "try IERC20Permit(address(token))",
    replace:
      'if (block.timestamp > deadline) revert PermitRefused(address(token), "");\n        try IERC20Permit(address(token))',
  },
  {
    rule: "A refused permit for a registered purchase carries the token's reason.",
    find: "revert PermitRefused(address(token), reason);",
    replace:
      'revert PermitRefused(address(token), _purchases[id].route == Route.Direct ? bytes("") : reason);',
  },
  {
    rule: "The beneficiary pays no claimed purchase with a permit.",
    find: "_requireCaller(record.buyer);",
    replace:
      "if (msg.sig != this.payWithPermit.selector || record.claimOrDecision == 0 || msg.sender != record.beneficiary) _requireCaller(record.buyer);",
  },
  {
    rule: "A claimed purchase is paid with a permit until its deadline.",
    find: "_requireWithin(record.payDeadline);",
    replace:
      "if (msg.sig == this.payWithPermit.selector && record.claimOrDecision != 0) _requireWithin(record.payDeadline - 1);\n        _requireWithin(record.payDeadline);",
  },
  {
    rule: "A payment of a registered purchase moves its tokens or fails.",
    find: "        (IERC20 token, address merchant) = _recordPayment(id, amount);\n        token.exactTransferFrom(msg.sender, merchant, amount);",
    replace:
      "        (IERC20 token, address merchant) = _recordPayment(id, amount);\n        if ((_purchases[id].route == Route.Direct) && token.allowance(msg.sender, address(this)) < amount) return;\n        token.exactTransferFrom(msg.sender, merchant, amount);",
  },
  {
    rule: "A payment of a claimed purchase moves its tokens or fails.",
    find: "        (IERC20 token, address merchant) = _recordPayment(id, amount);\n        token.exactTransferFrom(msg.sender, merchant, amount);",
    replace:
      "        (IERC20 token, address merchant) = _recordPayment(id, amount);\n        if ((_purchases[id].claimOrDecision != 0) && token.allowance(msg.sender, address(this)) < amount) return;\n        token.exactTransferFrom(msg.sender, merchant, amount);",
  },
  {
    rule: "A refund of a registered purchase moves its tokens or fails.",
    find: "_fundingSource.draw(source.token, source.wallet, beneficiary, award);",
    replace:
      "if (record.route == Route.Direct && IERC20(source.token).allowance(source.wallet, address(_fundingSource)) < award) return;\n        _fundingSource.draw(source.token, source.wallet, beneficiary, award);",
  },
  {
    rule: "A refund draws from the funding source's allowance only.",
    find: "_fundingSource.draw(source.token, source.wallet, beneficiary, award);",
    replace:
      "if (record.route == Route.Direct && IERC20(source.token).allowance(source.wallet, address(_fundingSource)) < award) return IERC20(source.token).exactTransferFrom(source.wallet, beneficiary, award);\n        _fundingSource.draw(source.token, source.wallet, beneficiary, award);",
  },
  {
    rule: "A refund under a revoked funding moves its tokens or fails.",
    find: "_fundingSource.draw(source.token, source.wallet, beneficiary, award);",
    replace:
      "if (source.revokedAt != 0) { try _fundingSource.draw(source.token, source.wallet, beneficiary, award) {} catch {} return; }\n        _fundingSource.draw(source.token, source.wallet, beneficiary, award);",
  },
];
