import type { ContractBug } from "./contract-bug.ts";

const bug = (rule: string, find: string, replace: string): ContractBug => ({ rule, find, replace });

/** Bugs in who is admin, in the order and the number of enrollments, and in what a signature is of. */
export const handovers: readonly ContractBug[] = [
  bug(
    "Another wallet opens no program again.",
    "if (record.admin != address(0)) revert",
    "if (record.admin == msg.sender) revert",
  ),
  bug(
    "A program without an operator is open.",
    "if (record.admin != address(0)) revert",
    "if (record.operator != address(0)) revert",
  ),
  bug(
    "An id stays used after a withdrawal.",
    "if (_purchases[id].status != Status.None) revert",
    "if (_purchases[id].status == Status.Open || _purchases[id].status == Status.Expired) revert",
  ),
  bug(
    "A used-up cap is an active enrollment.",
    "if (active != 0) revert",
    "if (active != 0 && _fundings[active].cap > _fundings[active].collected) revert",
  ),
  bug(
    "A funding that has ended is an active enrollment.",
    "if (active != 0) revert",
    "if (active != 0 && _fundings[active].validUntil >= block.timestamp) revert",
  ),
  bug(
    "A text that a wallet signs is no commitment.",
    "if (!SignatureChecker.isValidSignatureNowCalldata(signer, digest, signature)) {",
    'if (!SignatureChecker.isValidSignatureNowCalldata(signer, digest, signature) && !SignatureChecker.isValidSignatureNowCalldata(signer, keccak256(abi.encodePacked("\\x19Ethereum Signed Message:\\n32", digest)), signature)) {',
  ),
  bug(
    "Without a signer, no signature is valid.",
    "if (!SignatureChecker.isValidSignatureNowCalldata(signer, digest, signature)) {",
    "if (signer != address(0) && !SignatureChecker.isValidSignatureNowCalldata(signer, digest, signature)) {",
  ),
  bug(
    "The admin stays the admin until the other wallet accepts.",
    "record.pendingAdmin = newAdmin;",
    "record.pendingAdmin = newAdmin; record.admin = newAdmin;",
  ),
  bug(
    "A transfer is accepted by the named wallet.",
    "_requireCaller(record.pendingAdmin);",
    "if (msg.sender != record.admin) _requireCaller(record.pendingAdmin);",
  ),
  bug("A transfer is accepted once.", "delete record.pendingAdmin;", ""),
  bug(
    "New bounds leave a transfer pending.",
    "record.commitmentSigner = commitmentSigner;",
    "record.commitmentSigner = commitmentSigner; delete record.pendingAdmin;",
  ),
  bug(
    "A new admin leaves the operator.",
    "record.admin = msg.sender;\n        delete",
    "record.admin = msg.sender;\n        record.operator = msg.sender;\n        delete",
  ),
  bug(
    "A new admin leaves the pause.",
    "record.admin = msg.sender;\n        delete",
    "record.admin = msg.sender;\n        record.paused = false;\n        delete",
  ),
  bug(
    "A transfer names the admin until then.",
    "emit AdminTransferred(program, record.admin, msg.sender);",
    "emit AdminTransferred(program, msg.sender, msg.sender);",
  ),
  bug(
    "The operator hands over no program.",
    "record.pendingAdmin = newAdmin;",
    "record.pendingAdmin = newAdmin == address(0) ? record.operator : newAdmin;",
  ),
  bug(
    "Another enrolled merchant registers nothing.",
    "_requireCaller(purchase_.merchant);",
    "if (_active[purchase_.program][msg.sender] == 0) _requireCaller(purchase_.merchant);",
  ),
  bug(
    "An expired offer gives its budget back.",
    "_programs[program].openOffers -= outstanding;",
    "if (status != Status.Expired || record.paid == 0) _programs[program].openOffers -= outstanding;",
  ),
  bug(
    "A refund counts under its own funding.",
    "FundingRecord storage source = _fundings[record.funding];\n        // A pause",
    "FundingRecord storage source = _fundings[_active[_fundings[record.funding].program][_fundings[record.funding].wallet] == 0 ? record.funding : _active[_fundings[record.funding].program][_fundings[record.funding].wallet]];\n        // A pause",
  ),
  bug(
    "A batch of one merchant is paid by a transfer for each purchase.",
    "            _pay(ids[i], amounts[i]);\n        }",
    "            _recordPayment(ids[i], amounts[i]);\n        }\n        { uint256 sum; for (uint256 i = 0; i < ids.length; ++i) sum += amounts[i]; FundingRecord storage f = _fundings[_purchases[ids[0]].funding]; IERC20(f.token).exactTransferFrom(msg.sender, f.wallet, sum); }",
  ),
];
