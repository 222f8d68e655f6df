import type { ContractBug } from "./contract-bug.ts";

const cut = (rule: string, find: string, replace: string): ContractBug => ({ rule, find, replace });

/** Bugs that only large amounts, late times or many records show. */
export const widths: readonly ContractBug[] = [
  cut(
    "A payment of any size is stored whole.",
    "record.paid = uint128(paidTotal);",
    "record.paid = uint96(paidTotal);",
  ),
  cut(
    "A refund of any size is stored whole.",
    "record.refunded = uint128(award);",
    "record.refunded = uint96(award);",
  ),
  cut(
    "The sum of a funding's refunds is stored whole.",
    "source.collected = uint128(collectedTotal);",
    "source.collected = uint96(collectedTotal);",
  ),
  cut(
    "Open offers of any sum are stored whole.",
    "record.openOffers = uint128(openOffers + amount);",
    "record.openOffers = uint96(openOffers + amount);",
  ),
  cut(
    "A payment frees the whole of its amount.",
    "program.openOffers -= uint128(amount);",
    "program.openOffers -= uint96(amount);",
  ),
  cut(
    "A price of any size is stored whole.",
    "amount: uint128(purchase_.amount),",
    "amount: uint96(purchase_.amount),",
  ),
  cut(
    "A largest purchase of any size is stored whole.",
    "record.maxPurchase = uint128(maxPurchase);",
    "record.maxPurchase = uint96(maxPurchase);",
  ),
  cut(
    "A budget of any size is stored whole.",
    "record.openBudget = uint128(openBudget);",
    "record.openBudget = uint64(openBudget);",
  ),
  cut(
    "A pay deadline of any time is stored whole.",
    "payDeadline: purchase_.payDeadline,",
    "payDeadline: uint48(purchase_.payDeadline),",
  ),
  cut(
    "A claim deadline of any time is stored whole.",
    "claimDeadline: purchase_.claimDeadline,",
    "claimDeadline: uint40(purchase_.claimDeadline),",
  ),
  cut(
    "A validity of any time is stored whole.",
    "validUntil: authorization.validUntil,",
    "validUntil: uint32(authorization.validUntil),",
  ),
  cut(
    "The bounds end at any time.",
    "record.validUntil = bounds.validUntil;",
    "record.validUntil = uint48(bounds.validUntil);",
  ),
  cut(
    "A revocation of any time is stored whole.",
    "uint64 revokedAt = uint64(block.timestamp);",
    "uint64 revokedAt = uint48(block.timestamp);",
  ),
  cut(
    "Fundings are numbered beyond 8 bits.",
    "uint64 number = ++_fundingCount;",
    "uint64 number = uint8(++_fundingCount);",
  ),
  cut(
    "The events of a purchase are counted beyond 8 bits.",
    "uint32 sequence = ++record.sequence;",
    "uint32 sequence = record.sequence = uint8(record.sequence + 1);",
  ),
];

/** Bugs in who is admin, in the order and the number of enrollments, and in what a signature is of. */
export const handovers: readonly ContractBug[] = [
  cut(
    "Another wallet opens no program again.",
    "if (record.admin != address(0)) revert",
    "if (record.admin == msg.sender) revert",
  ),
  cut(
    "A program without an operator is open.",
    "if (record.admin != address(0)) revert",
    "if (record.operator != address(0)) revert",
  ),
  cut(
    "An id stays used after a withdrawal.",
    "if (_purchases[id].status != Status.None) revert",
    "if (_purchases[id].status == Status.Open || _purchases[id].status == Status.Expired) revert",
  ),
  cut(
    "A used-up cap is an active enrollment.",
    "if (active != 0) revert",
    "if (active != 0 && _fundings[active].cap > _fundings[active].collected) revert",
  ),
  cut(
    "A funding that has ended is an active enrollment.",
    "if (active != 0) revert",
    "if (active != 0 && _fundings[active].validUntil >= block.timestamp) revert",
  ),
  cut(
    "A text that a wallet signs is no commitment.",
    "if (!SignatureChecker.isValidSignatureNowCalldata(signer, digest, signature)) {",
    'if (!SignatureChecker.isValidSignatureNowCalldata(signer, digest, signature) && !SignatureChecker.isValidSignatureNowCalldata(signer, keccak256(abi.encodePacked("\\x19Ethereum Signed Message:\\n32", digest)), signature)) {',
  ),
  cut(
    "Without a signer, no signature is valid.",
    "if (!SignatureChecker.isValidSignatureNowCalldata(signer, digest, signature)) {",
    "if (signer != address(0) && !SignatureChecker.isValidSignatureNowCalldata(signer, digest, signature)) {",
  ),
  cut(
    "The admin stays the admin until the other wallet accepts.",
    "record.pendingAdmin = newAdmin;",
    "record.pendingAdmin = newAdmin; record.admin = newAdmin;",
  ),
  cut(
    "A transfer is accepted by the named wallet.",
    "_requireCaller(record.pendingAdmin);",
    "if (msg.sender != record.admin) _requireCaller(record.pendingAdmin);",
  ),
  cut("A transfer is accepted once.", "delete record.pendingAdmin;", ""),
  cut(
    "New bounds leave a transfer pending.",
    "record.commitmentSigner = commitmentSigner;",
    "record.commitmentSigner = commitmentSigner; delete record.pendingAdmin;",
  ),
  cut(
    "A new admin leaves the operator.",
    "record.admin = msg.sender;\n        delete",
    "record.admin = msg.sender;\n        record.operator = msg.sender;\n        delete",
  ),
  cut(
    "A new admin leaves the pause.",
    "record.admin = msg.sender;\n        delete",
    "record.admin = msg.sender;\n        record.paused = false;\n        delete",
  ),
  cut(
    "A transfer names the admin until then.",
    "emit AdminTransferred(program, record.admin, msg.sender);",
    "emit AdminTransferred(program, msg.sender, msg.sender);",
  ),
  cut(
    "The operator hands over no program.",
    "record.pendingAdmin = newAdmin;",
    "record.pendingAdmin = newAdmin == address(0) ? record.operator : newAdmin;",
  ),
  cut(
    "Another enrolled merchant registers nothing.",
    "_requireCaller(purchase_.merchant);",
    "if (_active[purchase_.program][msg.sender] == 0) _requireCaller(purchase_.merchant);",
  ),
  cut(
    "An expired offer gives its budget back.",
    "_programs[program].openOffers -= outstanding;",
    "if (status != Status.Expired || record.paid == 0) _programs[program].openOffers -= outstanding;",
  ),
  cut(
    "A refund counts under its own funding.",
    "FundingRecord storage source = _fundings[record.funding];\n        // A pause",
    "FundingRecord storage source = _fundings[_active[_fundings[record.funding].program][_fundings[record.funding].wallet] == 0 ? record.funding : _active[_fundings[record.funding].program][_fundings[record.funding].wallet]];\n        // A pause",
  ),
  cut(
    "A batch of one merchant is paid by a transfer for each purchase.",
    "            _pay(ids[i], amounts[i]);\n        }",
    "            _recordPayment(ids[i], amounts[i]);\n        }\n        { uint256 sum; for (uint256 i = 0; i < ids.length; ++i) sum += amounts[i]; FundingRecord storage f = _fundings[_purchases[ids[0]].funding]; IERC20(f.token).exactTransferFrom(msg.sender, f.wallet, sum); }",
  ),
];
