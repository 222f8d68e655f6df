/** One bug that is planted in a contract by hand, of a kind that no operator of the mutation run makes. */
export interface ContractBug {
  /** One sentence that names the rule which it breaks. */
  rule: string;
  /** Text that the source has exactly once. */
  find: string;
  replace: string;
}

const programs: readonly ContractBug[] = [
  {
    rule: "The caller that opens a program is its admin.",
    find: "record.admin = msg.sender;",
    replace: "record.admin = operator;",
  },
  {
    rule: "New bounds leave the open offers as they are.",
    find: "record.maxPurchase = uint128(bounds.maxPurchase);",
    replace: "record.maxPurchase = uint128(bounds.maxPurchase); record.openOffers = 0;",
  },
  {
    rule: "New bounds do not end a pause.",
    find: "record.commitmentSigner = commitmentSigner;",
    replace: "record.commitmentSigner = commitmentSigner; record.paused = false;",
  },
  {
    rule: "The largest purchase and the budget are two bounds.",
    find: "record.openBudget = uint128(bounds.openBudget);",
    replace: "record.openBudget = uint128(bounds.maxPurchase);",
  },
  {
    rule: "A bound can be as large as half a slot, and no larger.",
    find: "MAX_AMOUNT = type(uint128).max;",
    replace: "MAX_AMOUNT = type(uint256).max;",
  },
  {
    rule: "The wallet itself calls, not a contract that it calls.",
    find: "if (msg.sender != expected) revert WrongCaller(msg.sender, expected);",
    replace: "if (tx.origin != expected) revert WrongCaller(msg.sender, expected);",
  },
];

const enrollment: readonly ContractBug[] = [
  {
    rule: "A merchantRef is used once, also after a revocation.",
    find: "if (taken != 0) revert",
    replace: "if (taken != 0 && _fundings[taken].revokedAt == 0) revert",
  },
  {
    rule: "A wallet can be enrolled in several programs.",
    find: "uint32 active = _active[program][msg.sender];",
    replace: "uint32 active = _active[0][msg.sender]; _active[0][msg.sender] = 1;",
  },
  {
    rule: "The commitment signer signs, not the admin.",
    find: "address signer = record.commitmentSigner;",
    replace: "address signer = record.admin;",
  },
  {
    rule: "The commitment signer signs, not the operator.",
    find: "address signer = record.commitmentSigner;",
    replace: "address signer = record.operator;",
  },
  {
    rule: "A cap of any size is stored whole.",
    find: "cap: uint128(authorization.cap),",
    replace: "cap: uint64(authorization.cap),",
  },
  {
    rule: "An authorization's validity is in the digest as a uint64.",
    find: "uint256 cap,uint64 validUntil,bytes32 salt)",
    replace: "uint256 cap,uint256 validUntil,bytes32 salt)",
  },
  {
    rule: "The admin revokes no merchant's funding.",
    find: "_requireCaller(source.wallet);",
    replace: "if (msg.sender != _programs[program].admin) _requireCaller(source.wallet);",
  },
  {
    rule: "A revocation leaves the enrolled validity.",
    find: "source.revokedAt = uint64(block.timestamp);",
    replace: "source.revokedAt = uint64(block.timestamp); source.validUntil = uint64(block.timestamp);",
  },
  {
    rule: "A revocation leaves the cap.",
    find: "source.revokedAt = uint64(block.timestamp);",
    replace: "source.revokedAt = uint64(block.timestamp); source.cap = source.collected;",
  },
];

const commitments: readonly ContractBug[] = [
  {
    rule: "Only the merchant registers, not the buyer.",
    find: "_requireCaller(purchase_.merchant);",
    replace: "_requireCaller(purchase_.buyer);",
  },
  {
    rule: "A registration is found by its buyer.",
    find: "emit PurchaseRegistered(id, purchase_.program, purchase_.buyer, 1, purchase_);",
    replace: "emit PurchaseRegistered(id, purchase_.program, purchase_.beneficiary, 1, purchase_);",
  },
  {
    rule: "An offer is found by its buyer.",
    find: "emit PurchaseOffered(id, purchase_.program, purchase_.buyer, 1, purchase_);",
    replace: "emit PurchaseOffered(id, purchase_.program, purchase_.beneficiary, 1, purchase_);",
  },
  {
    rule: "Open offers never wrap around the largest budget.",
    find: "if (openOffers + amount > openBudget) {",
    replace: "if (uint128(openOffers + amount) > openBudget) {",
  },
  {
    rule: "A refused offer says what is left of the budget.",
    find: "Math.saturatingSub(openBudget, openOffers)",
    replace: "openBudget",
  },
  {
    rule: "A registration uses no budget.",
    find: "id = _commit(_programs[purchase_.program], purchase_, signature, Route.Direct);",
    replace:
      "id = _commit(_programs[purchase_.program], purchase_, signature, Route.Direct); _programs[purchase_.program].openOffers += uint128(purchase_.amount);",
  },
  {
    rule: "A registration has no largest amount but the cap.",
    find: "_requireRange(purchase_.amount, 1, MAX_AMOUNT);",
    replace: "_requireRange(purchase_.amount, 1, record.maxPurchase);",
  },
  {
    rule: "A buyer can be its own beneficiary.",
    find: "if (merchant == purchase_.buyer || merchant == purchase_.beneficiary) revert",
    replace:
      "if (merchant == purchase_.buyer || merchant == purchase_.beneficiary || purchase_.buyer == purchase_.beneficiary) revert",
  },
  {
    rule: "A purchase comes on chain by its offer deadline, not by its pay deadline.",
    find: "_requireWithin(purchase_.offerDeadline);",
    replace: "_requireWithin(purchase_.payDeadline);",
  },
  {
    rule: "A funding lasts until the claim deadline at least.",
    find: "if (source.validUntil < purchase_.claimDeadline) {",
    replace: "if (source.validUntil < purchase_.payDeadline) {",
  },
  {
    rule: "The cap leaves the whole amount.",
    find: "_requireRemaining(source, purchase_.amount);",
    replace: "_requireRemaining(source, 1);",
  },
  {
    rule: "A commitment names its buyer before its beneficiary.",
    find: "address buyer,address beneficiary,address token,uint256 amount,bytes32 termsHash",
    replace: "address beneficiary,address buyer,address token,uint256 amount,bytes32 termsHash",
  },
  {
    rule: "The EIP-712 domain has version 1.",
    find: 'EIP712("PurchaseRegistrar", "1")',
    replace: 'EIP712("PurchaseRegistrar", "2")',
  },
  {
    rule: "The pay deadline is the purchase's own.",
    find: "payDeadline: purchase_.payDeadline,",
    replace: "payDeadline: purchase_.claimDeadline,",
  },
  {
    rule: "A commitment signer can be a contract.",
    find: "if (!SignatureChecker.isValidSignatureNowCalldata(",
    replace: "if (signer.code.length != 0 || !SignatureChecker.isValidSignatureNowCalldata(",
  },
];

const payments: readonly ContractBug[] = [
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

const refunds: readonly ContractBug[] = [
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
    find: "_requireRange(award, 1, record.paid);",
    replace: "_requireRange(award, 1, record.amount);",
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
    find: "_requireRange(award, 1, record.paid);",
    replace: "_requireRange(award, 1, record.route == Route.Direct ? record.amount : record.paid);",
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

const endings: readonly ContractBug[] = [
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

/** Rules that hold in the plainest state of a purchase, and are broken in another one. */
const otherStates: readonly ContractBug[] = [
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
    find: "_requireRange(award, 1, record.paid);",
    replace: "_requireRange(award, 1, record.status == Status.Withdrawn ? record.amount : record.paid);",
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
    find: "uint256 paid = record.paid;\n",
    replace:
      "uint256 paid = record.paid;\n        if (paid != 0 && source.revokedAt != 0) revert AlreadyRevoked(source.merchantRef, source.revokedAt);\n",
  },
  {
    rule: "The rest of a registered purchase is paid after its claim.",
    find: "uint256 paid = record.paid;\n",
    replace:
      "uint256 paid = record.paid;\n        if (record.route == Route.Direct && record.claimOrDecision != 0) revert AlreadyClaimed(id, record.claimOrDecision);\n",
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
      "if (_programs[purchase_.program].maxPurchase == 0 && _programs[purchase_.program].admin != address(0)) revert AmountOutOfRange(purchase_.amount, 1, 0);\n        id = _commit(_programs[purchase_.program], purchase_, signature, Route.Direct);",
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

const views: readonly ContractBug[] = [
  {
    rule: "The figures tell the buyer's allowance, not the beneficiary's.",
    find: ".allowance(record.buyer, address(this))",
    replace: ".allowance(record.beneficiary, address(this))",
  },
  {
    rule: "The figures tell the allowance to the registrar contract.",
    find: ".allowance(record.buyer, address(this))",
    replace: ".allowance(record.buyer, address(_fundingSource))",
  },
  {
    rule: "A funding tells the allowance to the funding source.",
    find: "allowance(state.wallet, address(_fundingSource))",
    replace: "allowance(state.wallet, address(this))",
  },
  {
    rule: "A purchase tells its beneficiary.",
    find: "state.beneficiary = record.beneficiary;",
    replace: "state.beneficiary = record.buyer;",
  },
  {
    rule: "A purchase tells its own pay deadline.",
    find: "state.payDeadline = record.payDeadline;",
    replace: "state.payDeadline = record.claimDeadline;",
  },
  {
    rule: "A claim's digest covers the requested amount by its name.",
    find: "Claim(bytes32 commitment,address beneficiary,uint256 requestedAmount,bytes32 reasonHash)",
    replace: "Claim(bytes32 commitment,address beneficiary,uint256 amount,bytes32 reasonHash)",
  },
];

const token: readonly ContractBug[] = [
  {
    rule: "The EIP-712 domain has the name, not the symbol.",
    find: "keccak256(bytes(name)), keccak256(bytes(VERSION))",
    replace: "keccak256(bytes(symbol)), keccak256(bytes(VERSION))",
  },
  {
    rule: "The EIP-712 domain follows the chain id.",
    find: "keccak256(bytes(VERSION)), block.chainid, address(this)",
    replace: "keccak256(bytes(VERSION)), 31337, address(this)",
  },
  {
    rule: "A permit uses the holder's nonce, not the spender's.",
    find: "nonces[holder]++",
    replace: "nonces[spender]++",
  },
  {
    rule: "An infinite allowance is spent.",
    find: "allowance[from][msg.sender] = allowed - value;",
    replace: "allowance[from][msg.sender] = allowed == type(uint256).max ? allowed : allowed - value;",
  },
  {
    rule: "The allowance is asked for before the balance.",
    find: 'require(value <= allowed, "ERC20: transfer amount exceeds allowance");\n        _transfer(from, to, value);',
    replace:
      '_transfer(from, to, value);\n        require(value <= allowed, "ERC20: transfer amount exceeds allowance");',
  },
  {
    rule: "A blocked account can approve.",
    find: "function approve(address spender, uint256 value) external whenNotPaused returns",
    replace:
      "function approve(address spender, uint256 value) external whenNotPaused notBlacklisted(msg.sender) returns",
  },
  {
    rule: "A blocked account keeps its balance.",
    find: "_balances[account] |= BLOCKED;",
    replace: "_balances[account] = BLOCKED;",
  },
  {
    rule: "An unblocked account has its balance back.",
    find: "_balances[account] &= ~BLOCKED;",
    replace: "_balances[account] = 0;",
  },
  {
    rule: "Minting asks for the pause before the minter.",
    find: "        whenNotPaused\n        onlyMinters\n",
    replace: "        onlyMinters\n        whenNotPaused\n",
  },
  {
    rule: "Configuring a minter asks for the pause before the master minter.",
    find: "        whenNotPaused\n        onlyMasterMinter\n",
    replace: "        onlyMasterMinter\n        whenNotPaused\n",
  },
  {
    rule: "A minter is removed during a pause too.",
    find: "function removeMinter(address minter) external onlyMasterMinter",
    replace: "function removeMinter(address minter) external whenNotPaused onlyMasterMinter",
  },
  {
    rule: "A rescue takes any answer but zero as true.",
    find: "abi.decode(answer, (uint256)) != 0",
    replace: "abi.decode(answer, (uint256)) == 1",
  },
  {
    rule: "The event of an ownership transfer names the previous owner first.",
    find: "emit OwnershipTransferred(owner, newOwner);",
    replace: "emit OwnershipTransferred(newOwner, owner);",
  },
  {
    rule: "The payee is asked for before the authorization's times.",
    find: 'require(to == msg.sender, "FiatTokenV2: caller must be the payee");\n        _requireValidAuthorization(from, nonce, validAfter, validBefore);',
    replace:
      '_requireValidAuthorization(from, nonce, validAfter, validBefore);\n        require(to == msg.sender, "FiatTokenV2: caller must be the payee");',
  },
  {
    rule: "A cancellation counts for its authorizer, not for the caller.",
    find: "authorizationState[authorizer][nonce] = true;\n        emit AuthorizationCanceled",
    replace: "authorizationState[msg.sender][nonce] = true;\n        emit AuthorizationCanceled",
  },
];

/** The bugs by the source that they are planted in. */
export const contractBugs: { readonly [source: string]: readonly ContractBug[] } = {
  PurchaseRegistrar: [
    ...programs,
    ...enrollment,
    ...commitments,
    ...payments,
    ...refunds,
    ...endings,
    ...otherStates,
    ...views,
  ],
  FundingSource: [
    {
      rule: "The merchant itself draws nothing.",
      find: "if (msg.sender != registrar) revert",
      replace: "if (msg.sender != registrar && msg.sender != from) revert",
    },
    {
      rule: "The deployer is the registrar contract, not the sender of its transaction.",
      find: "registrar = msg.sender;",
      replace: "registrar = tx.origin;",
    },
    {
      rule: "A draw moves from the merchant to the beneficiary.",
      find: "exactTransferFrom(from, to, amount)",
      replace: "exactTransferFrom(to, from, amount)",
    },
  ],
  ExactTransfer: [
    {
      rule: "A token that returns false is named as the one that failed.",
      find: "token.safeTransferFrom(from, to, amount);",
      replace: "token.trySafeTransferFrom(from, to, amount);",
    },
    {
      rule: "A receiver gets no more than the amount.",
      find: "if (actual != toExpected) revert",
      replace: "if (actual < toExpected) revert",
    },
    {
      rule: "A sender loses no less than the amount.",
      find: "if (actual != fromExpected) {",
      replace: "if (actual < fromExpected) {",
    },
  ],
  CanonicalCalldata: [
    {
      rule: "A single trailing byte is refused.",
      find: "if (msg.data.length != expected) revert",
      replace: "if (msg.data.length / 32 != expected / 32) revert",
    },
    {
      rule: "Calldata of the canonical length is compared byte for byte.",
      find: "bytes32 actual = keccak256(msg.data);",
      replace:
        "bytes32 actual = msg.data.length == encoded.length ? keccak256(encoded) : keccak256(msg.data);",
    },
  ],
  TestUSDC: token,
};
