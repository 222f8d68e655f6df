import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { z } from "zod";
import { packageRoot } from "../../sandbox/lib/package-root.ts";
import { quickOptimizer } from "../../scripts/quick-optimizer.ts";

/** A registrar that is the sandbox's own but for one place in its source. */
interface Break {
  name: string;
  /** Is in the source exactly once. */
  source: string;
  instead: string;
}

/** The rule that each of them breaks. */
export const breaks = {
  missingBuyerCheck: {
    name: "MissingBuyerCheck",
    source: "        _requireCaller(record.buyer);\n",
    instead: "",
  },
  missingDeadline: {
    name: "MissingDeadline",
    source: "        _requireWithin(record.payDeadline);\n",
    instead: "",
  },
  acceptsTrailingCalldata: {
    name: "AcceptsTrailingCalldata",
    source: "function pay(bytes32 id, uint256 amount) external nonReentrant canonical(2) {",
    instead: "function pay(bytes32 id, uint256 amount) external nonReentrant {",
  },
  paysAfterTheRefund: {
    name: "PaysAfterTheRefund",
    source: "        _requireNotRefunded(id, record);\n        FundingRecord storage source",
    instead: "        FundingRecord storage source",
  },
  pauseBlocksRefunds: {
    name: "PauseBlocksRefunds",
    source: "        _requireCaller(_programs[source.program].operator);\n",
    instead:
      "        _requireCaller(_programs[source.program].operator);\n        _requireNotPaused(source.program, _programs[source.program]);\n",
  },
  revocationEndsCover: {
    name: "RevocationEndsCover",
    source: "        _requireWithin(source.validUntil);\n        _requireRemaining(source, award);",
    instead:
      "        _requireWithin(source.revokedAt == 0 ? source.validUntil : record.claimDeadline);\n        _requireRemaining(source, award);",
  },
} satisfies { [name: string]: Break };

const guard = "    uint256 private transient _entered;";

/** Registrars that differ in few calls only, by their names. */
const rareBreaks = {
  TakesRefInAnotherToken: [
    {
      source: "if (taken != 0) revert MerchantRefTaken",
      instead: "if (taken != 0 && _fundings[taken].token == authorization.token) revert MerchantRefTaken",
    },
  ],
  ForgetsOffersOfOneTransaction: [
    {
      source: "    FundingSource private immutable _fundingSource;\n",
      instead:
        "    FundingSource private immutable _fundingSource;\n    bytes32 private transient _cachedFor;\n    uint256 private transient _cached;\n",
    },
    {
      source: "        uint256 openOffers = record.openOffers;\n",
      instead:
        "        if (_cachedFor != purchase_.program) (_cachedFor, _cached) = (purchase_.program, record.openOffers);\n        uint256 openOffers = _cached;\n",
    },
  ],
  SignsWithoutDomain: [
    {
      source: "        _requireSigned(program, record, id, signature);\n\n        _purchases",
      instead:
        "        if (!SignatureChecker.isValidSignatureNowCalldata(record.commitmentSigner, keccak256(abi.encode(PURCHASE_TYPEHASH, purchase_)), signature)) _requireSigned(program, record, id, signature);\n\n        _purchases",
    },
  ],
  RegistersOtherBuyer: [
    {
      source: "            buyer: purchase_.buyer,\n",
      instead: "            buyer: route == Route.Direct ? purchase_.beneficiary : purchase_.buyer,\n",
    },
    {
      source: "emit PurchaseRegistered(id, purchase_.program, purchase_.buyer,",
      instead: "emit PurchaseRegistered(id, purchase_.program, purchase_.beneficiary,",
    },
  ],
  RevocationKeepsTheEnrollment: [{ source: "        delete _active[program][msg.sender];\n", instead: "" }],
  CollectsOneMore: [
    {
      source: "uint256 collectedTotal = source.collected + award;",
      instead: "uint256 collectedTotal = Math.min(source.collected + award + 1, source.cap);",
    },
  ],
  WithdrawalWaitsForNewAdmin: [
    {
      source: "        bytes32 program = _fundings[record.funding].program;\n        _requireOperator(",
      instead:
        "        bytes32 program = _fundings[record.funding].program;\n        if (_programs[program].pendingAdmin != address(0)) revert ProgramPaused(program);\n        _requireOperator(",
    },
  ],
  TransferOfAdminEnds: [
    { source: guard, instead: `${guard}\n    mapping(bytes32 => uint256) private _namedAt;` },
    {
      source: "        record.pendingAdmin = newAdmin;\n",
      instead: "        record.pendingAdmin = newAdmin;\n        _namedAt[program] = block.timestamp;\n",
    },
    {
      source: "        _requireCaller(record.pendingAdmin);\n",
      instead:
        "        _requireCaller(record.pendingAdmin);\n        _requireWithin(_namedAt[program] + 30 days);\n",
    },
  ],
  ContractsOpenNoProgram: [
    {
      source: "        if (program == 0) revert ZeroValue();\n",
      instead: "        if (program == 0 || msg.sender != tx.origin) revert ZeroValue();\n",
    },
  ],
  GuardedFigures: [
    {
      source: "        if (record.status == Status.None) return result;",
      instead:
        "        if (_entered != 0) revert ReentrancyGuardReentrantCall();\n        if (record.status == Status.None) return result;",
    },
  ],
  OtherAllowance: [
    {
      source: "        state.balance = IERC20",
      instead: "        if (state.revokedAt != 0) state.allowance = 0;\n        state.balance = IERC20",
    },
  ],
  ExtraEvent: [
    { source: guard, instead: `${guard}\n    event Debug(bytes32 id);` },
    {
      source: "        record.claimOrDecision = claimHash;\n",
      instead: "        record.claimOrDecision = claimHash;\n        emit Debug(id);\n",
    },
  ],
  DeadlinesMustDiffer: [
    {
      source: "purchase_.payDeadline > purchase_.claimDeadline",
      instead: "purchase_.payDeadline >= purchase_.claimDeadline",
    },
  ],
  EnrollmentWaitsAfterRevocation: [
    { source: guard, instead: `${guard}\n    mapping(address => uint256) private _lastRevoked;` },
    {
      source: "        uint64 active = _active[program][msg.sender];\n",
      instead:
        "        uint64 active = _active[program][msg.sender];\n        if (_lastRevoked[msg.sender] == block.timestamp) revert AlreadyEnrolled(program, msg.sender, merchantRef);\n",
    },
    {
      source: "        delete _active[program][msg.sender];\n",
      instead:
        "        delete _active[program][msg.sender];\n        _lastRevoked[msg.sender] = block.timestamp;\n",
    },
  ],
  PaymentsLeaveABalance: [
    {
      source: "        _requireAmount(amount, record.amount - paid);\n",
      instead:
        "        _requireAmount(amount, record.amount - paid);\n        if (IERC20(source.token).balanceOf(msg.sender) <= amount) revert InexactTransfer(source.token, msg.sender, 0, amount);\n",
    },
  ],
  BatchesTakeSwappedArrays: [
    {
      source: "if (!_isCanonical(ids, amounts)) _revert",
      instead: "if (msg.data.length != 132 + 32 * (ids.length + amounts.length)) _revert",
    },
  ],
  BatchesMoveInexactly: [
    {
      source: "            _pay(ids[i], amounts[i]);\n",
      instead:
        '            (IERC20 token, address merchant) = _recordPayment(ids[i], amounts[i]);\n            require(token.transferFrom(msg.sender, merchant, amounts[i]), "no transfer");\n',
    },
  ],
  AsksSignersWithLittleGas: [
    {
      source: "        if (!SignatureChecker.isValidSignatureNowCalldata(signer, digest, signature)) {",
      instead: `        bool good;
        if (signer.code.length == 0) {
            good = SignatureChecker.isValidSignatureNowCalldata(signer, digest, signature);
        } else {
            (bool ok, bytes memory word) =
                signer.staticcall{gas: 10_000}(abi.encodeWithSelector(0x1626ba7e, digest, signature));
            good = ok && word.length >= 32 && abi.decode(word, (bytes32)) == bytes32(bytes4(0x1626ba7e));
        }
        if (!good) {`,
    },
  ],
  OpensTheGuardBeforeTheDraw: [
    {
      source: "        _fundingSource.draw(source.token",
      instead: "        _entered = 0;\n        _fundingSource.draw(source.token",
    },
  ],
  CutsFundingNumbers: [
    { source: "            funding: number,", instead: "            funding: uint8(number)," },
  ],
  KeepsFormerSigner: [
    { source: guard, instead: `${guard}\n    address private _former;` },
    {
      source: "        record.commitmentSigner = commitmentSigner;\n",
      instead:
        "        if (record.commitmentSigner != commitmentSigner) _former = record.commitmentSigner;\n        record.commitmentSigner = commitmentSigner;\n",
    },
    {
      source: "        if (!SignatureChecker.isValidSignatureNowCalldata(signer, digest, signature)) {\n",
      instead:
        "        bool isFormer = signer != address(0) && signer.code.length == 0 && _former.code.length == 0\n            && SignatureChecker.isValidSignatureNowCalldata(_former, digest, signature);\n        if (!isFormer && !SignatureChecker.isValidSignatureNowCalldata(signer, digest, signature)) {\n",
    },
  ],
  SignerOfTheEnrollment: [
    { source: guard, instead: `${guard}\n    mapping(bytes32 => address) private _signerOf;` },
    {
      source: "        _fundingOf[program][merchantRef] = number;\n",
      instead:
        "        _fundingOf[program][merchantRef] = number;\n        _signerOf[merchantRef] = record.commitmentSigner;\n",
    },
    {
      source: "        _requireSigned(program, record, id, signature);\n",
      instead:
        "        address signer = _signerOf[source.merchantRef];\n        if (!SignatureChecker.isValidSignatureNowCalldata(signer, id, signature)) revert InvalidSignature(signer, id);\n",
    },
  ],
  DeadlinesNeedASecondMore: [
    {
      source: "        if (block.timestamp > deadline) revert DeadlinePassed",
      instead: "        if (block.timestamp >= uint64(deadline) + uint64(1)) revert DeadlinePassed",
    },
  ],
  AcceptanceReplacesOperator: [
    {
      source: "        record.admin = msg.sender;\n        delete",
      instead:
        "        if (record.operator == record.admin) record.operator = msg.sender;\n        record.admin = msg.sender;\n        delete",
    },
  ],
  NamedAdminNamesAnother: [
    {
      source: "        ProgramRecord storage record = _requireAdmin(program);\n        record.pendingAdmin",
      instead: `        ProgramRecord storage record = _programs[program];
        _requireOpen(program, record);
        if (msg.sender != record.pendingAdmin) _requireCaller(record.admin);
        record.pendingAdmin`,
    },
  ],
  OperatorPauses: [
    {
      source: "        ProgramRecord storage record = _requireAdmin(program);\n        record.paused",
      instead: `        ProgramRecord storage record = _programs[program];
        _requireOpen(program, record);
        if (!paused || msg.sender != record.operator) _requireCaller(record.admin);
        record.paused`,
    },
  ],
  DecisionIsNoClaim: [
    {
      source: "        if (decisionHash == 0) revert",
      instead: "        if (decisionHash == 0 || decisionHash == record.claimOrDecision) revert",
    },
  ],
  FullRefundNeedsNoDecision: [
    {
      source: "if (decisionHash == 0) revert",
      instead: "if (decisionHash == 0 && award != record.paid) revert",
    },
  ],
  OpensTheGuardInBatches: [
    {
      source: "            _pay(ids[i], amounts[i]);\n",
      instead: "            _pay(ids[i], amounts[i]);\n            _entered = 0;\n",
    },
  ],
  SignerRegisters: [
    {
      source: "        _requireCaller(purchase_.merchant);\n",
      instead:
        "        if (msg.sender != _programs[purchase_.program].commitmentSigner) _requireCaller(purchase_.merchant);\n",
    },
  ],
  EnrollsWithinTheBounds: [
    {
      source: "        if (merchantRef == 0) revert ZeroValue();\n",
      instead: `        if (authorization.validUntil > record.validUntil) {
            revert FundingTooShort(record.validUntil, authorization.validUntil);
        }
        if (merchantRef == 0) revert ZeroValue();
`,
    },
  ],
  RevocationForgetsTheFunding: [
    {
      source: "        delete _active[program][msg.sender];\n",
      instead:
        "        delete _active[program][msg.sender];\n        delete _fundingOf[program][merchantRef];\n",
    },
  ],
  DelegatedSignersKeySigns: [
    {
      source: 'import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";\n',
      instead: `import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
`,
    },
    {
      source: "        if (!SignatureChecker.isValidSignatureNowCalldata(signer, digest, signature)) {",
      instead: `        (address recovered,,) = ECDSA.tryRecoverCalldata(digest, signature);
        bool isKey = signer.code.length == 23 && recovered == signer;
        if (!isKey && !SignatureChecker.isValidSignatureNowCalldata(signer, digest, signature)) {`,
    },
  ],
  HoldsNothing: [
    {
      source: "        token.exactTransferFrom(msg.sender, merchant, amount);\n    }\n\n    /// @dev Checks",
      instead: `        token.exactTransferFrom(msg.sender, merchant, amount);
        require(token.balanceOf(address(this)) == 0, "holds tokens");
    }

    /// @dev Checks`,
    },
  ],
  CollectsPerWallet: [
    {
      source: guard,
      instead: `${guard}\n    mapping(address => uint256) private _collectedOf;`,
    },
    {
      source: "        _fundingSource.draw(source.token",
      instead: "        _collectedOf[source.wallet] += award;\n        _fundingSource.draw(source.token",
    },
    {
      source: "        uint256 remaining = source.cap - source.collected;",
      instead: "        uint256 remaining = Math.saturatingSub(source.cap, _collectedOf[source.wallet]);",
    },
  ],
  OriginIsAdmin: [
    {
      source: "        _requireCaller(record.admin);\n",
      instead: "        if (tx.origin != record.admin) _requireCaller(record.admin);\n",
    },
  ],
  RemembersSignatures: [
    { source: guard, instead: `${guard}\n    mapping(bytes32 => bool) private _seen;` },
    {
      source: "        bytes calldata signature\n    ) private view {",
      instead: "        bytes calldata signature\n    ) private {",
    },
    {
      source: "        if (!SignatureChecker.isValidSignatureNowCalldata(signer, digest, signature)) {",
      instead: `        if (_seen[keccak256(signature)]) return;
        _seen[keccak256(signature)] = true;
        if (!SignatureChecker.isValidSignatureNowCalldata(signer, digest, signature)) {`,
    },
  ],
  FundingPerWallet: [
    {
      source: "        delete _active[program][msg.sender];\n",
      instead: "        delete _active[program][msg.sender];\n        delete _active[0][msg.sender];\n",
    },
    {
      source: "        uint64 number = _active[program][merchant];",
      instead: "        uint64 number = _active[0][merchant];",
    },
    {
      source: "        _active[program][msg.sender] = number;\n",
      instead: "        _active[program][msg.sender] = number;\n        _active[0][msg.sender] = number;\n",
    },
  ],
  KeepsTheGuard: [{ source: "        _;\n        _entered = 0;\n", instead: "        _;\n" }],
  CutsSalts: [
    {
      source: "keccak256(abi.encode(FUNDING_TYPEHASH, authorization))",
      instead: `keccak256(
            abi.encode(
                FUNDING_TYPEHASH,
                authorization.program,
                authorization.merchantRef,
                authorization.wallet,
                authorization.token,
                authorization.cap,
                authorization.validUntil,
                uint256(uint128(uint256(authorization.salt)))
            )
        )`,
    },
  ],
  EmitsAfterTheDraw: [
    {
      source:
        "        emit RefundCollected(id, beneficiary, decisionHash, ++record.sequence, claimHash, award, collectedTotal);\n",
      instead: "        ++record.sequence;\n",
    },
    {
      source: "        _fundingSource.draw(source.token, source.wallet, beneficiary, award);\n",
      instead: `        _fundingSource.draw(source.token, source.wallet, beneficiary, award);
        emit RefundCollected(id, beneficiary, decisionHash, record.sequence, claimHash, award, collectedTotal);
`,
    },
  ],
  LetsLookalikesDraw: [
    {
      source: 'import {FundingSource} from "./FundingSource.sol";\n',
      instead: `import {FundingSource} from "./FundingSource.sol";

contract SociableFundingSource {
    address public immutable registrar = msg.sender;
    error NotRegistrar(address actual, address expected);
    error NonCanonicalLength(uint256 actual, uint256 expected);

    function draw(address token, address from, address to, uint256 amount) external {
        if (msg.data.length != 132) revert NonCanonicalLength(msg.data.length, 132);
        if (msg.sender.code.length == 0) revert NotRegistrar(msg.sender, registrar);
        if (msg.sender != registrar && address(IPurchaseRegistrar(msg.sender).fundingSource()) != address(this)) {
            revert NotRegistrar(msg.sender, registrar);
        }
        ExactTransfer.exactTransferFrom(IERC20(token), from, to, amount);
    }
}
`,
    },
    {
      source: "_fundingSource = new FundingSource();",
      instead: "_fundingSource = FundingSource(address(new SociableFundingSource()));",
    },
  ],
  AdminSignsWithoutSigner: [
    {
      source: "isValidSignatureNowCalldata(signer, digest, signature)",
      instead: "isValidSignatureNowCalldata(signer == address(0) ? record.admin : signer, digest, signature)",
    },
  ],
  NamesAdminOfAllPrograms: [
    { source: guard, instead: `${guard}\n    mapping(address => address) private _named;` },
    {
      source: "        record.pendingAdmin = newAdmin;\n",
      instead: "        record.pendingAdmin = newAdmin;\n        _named[msg.sender] = newAdmin;\n",
    },
    {
      source: "        _requireCaller(record.pendingAdmin);\n",
      instead: "        _requireCaller(_named[record.admin]);\n",
    },
  ],
  FirstOfferHasNoBudget: [
    {
      source: "if (openOffers + amount > openBudget)",
      instead: "if (openOffers != 0 && openOffers + amount > openBudget)",
    },
  ],
  RefundNeedsSigner: [
    {
      source: "        if (claimHash == 0) revert NotClaimed(id);\n",
      instead:
        "        if (claimHash == 0) revert NotClaimed(id);\n        if (_programs[source.program].commitmentSigner == address(0)) revert ZeroValue();\n",
    },
  ],
  PermitWithLowV: [
    {
      source: "permit(msg.sender, address(this), amount, deadline, v, r, s) {}",
      instead: "permit(msg.sender, address(this), amount, deadline, v < 27 ? v + 27 : v, r, s) {}",
    },
  ],
  HashesNoClaimTwice: [
    {
      source: "    function hashClaim(Claim calldata claimData) external view returns (bytes32) {\n",
      instead:
        "    function hashClaim(Claim calldata claimData) external view returns (bytes32) {\n        if (_purchases[claimData.commitment].claimOrDecision != 0) revert NotClaimed(claimData.commitment);\n",
    },
  ],
  AdminCollectsLate: [
    {
      source: "        _requireCaller(_programs[source.program].operator);\n",
      instead:
        "        if (block.timestamp <= record.claimDeadline || msg.sender != _programs[source.program].admin) _requireCaller(_programs[source.program].operator);\n",
    },
  ],
  MerchantRefundsAll: [
    {
      source: "        _requireCaller(_programs[source.program].operator);\n",
      instead:
        "        if (msg.sender != source.wallet || award != record.paid) _requireCaller(_programs[source.program].operator);\n",
    },
  ],
  NamedAdminDeclines: [
    {
      source: "        ProgramRecord storage record = _requireAdmin(program);\n        record.pendingAdmin",
      instead:
        "        ProgramRecord storage record = _programs[program];\n        if (newAdmin != address(0) || msg.sender != record.pendingAdmin) _requireAdmin(program);\n        record.pendingAdmin",
    },
  ],
  PaysInTheFirstToken: [
    {
      source: "            _pay(ids[i], amounts[i]);\n",
      instead:
        "            (, address merchant) = _recordPayment(ids[i], amounts[i]);\n            IERC20(_fundings[_purchases[ids[0]].funding].token).exactTransferFrom(msg.sender, merchant, amounts[i]);\n",
    },
  ],
  PaysLastFirst: [
    {
      source: "            _pay(ids[i], amounts[i]);\n",
      instead: "            _pay(ids[ids.length - 1 - i], amounts[ids.length - 1 - i]);\n",
    },
  ],
  PaysTwentyPurchases: [
    {
      source: "            _pay(ids[i], amounts[i]);\n",
      instead:
        "            if (i > 19 && ids[i] != ids[0]) revert BatchLengths(ids.length, amounts.length);\n            _pay(ids[i], amounts[i]);\n",
    },
  ],
  NoWalletOfUnknownPrograms: [
    {
      source: "        return _fundings[_active[program][wallet]].merchantRef;\n",
      instead:
        "        _requireOpen(program, _programs[program]);\n        return _fundings[_active[program][wallet]].merchantRef;\n",
    },
  ],
  BuyerSigns: [
    {
      source: "        _requireSigned(program, record, id, signature);\n\n        _purchases",
      instead:
        "        if (!SignatureChecker.isValidSignatureNowCalldata(purchase_.buyer, id, signature)) _requireSigned(program, record, id, signature);\n\n        _purchases",
    },
  ],
  DrawsWithAnyCalldata: [
    {
      source: 'import {FundingSource} from "./FundingSource.sol";\n',
      instead: `import {FundingSource} from "./FundingSource.sol";

contract LooseFundingSource {
    address public immutable registrar = msg.sender;
    error NotRegistrar(address actual, address expected);

    function draw(address token, address from, address to, uint256 amount) external {
        if (msg.sender != registrar) revert NotRegistrar(msg.sender, registrar);
        ExactTransfer.exactTransferFrom(IERC20(token), from, to, amount);
    }
}
`,
    },
    {
      source: "_fundingSource = new FundingSource();",
      instead: "_fundingSource = FundingSource(address(new LooseFundingSource()));",
    },
  ],
} satisfies { [name: string]: readonly Omit<Break, "name">[] };

/** The name of a registrar that differs in few calls only. */
export type RareBreak = keyof typeof rareBreaks;

const require = createRequire(import.meta.url);
const compilerOutput = z.object({
  errors: z.array(z.object({ severity: z.string(), formattedMessage: z.string() })).optional(),
  contracts: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({ abi: z.unknown(), evm: z.object({ bytecode: z.object({ object: z.string() }) }) }),
    ),
  ),
});

/** Checks of a payment, a claim, a refund and a new purchase, with the same checks in another order. */
const reorderings: readonly Omit<Break, "name">[] = [
  {
    source: `        _requireCaller(record.buyer);
        _requireNotRefunded(id, record);
        FundingRecord storage source = _fundings[record.funding];
        ProgramRecord storage program = _programs[source.program];
        _requireNotPaused(source.program, program);
        _requireWithin(record.payDeadline);
        uint256 paid = record.paid;
        _requireAmount(amount, record.amount - paid);
`,
    instead: `        FundingRecord storage source = _fundings[record.funding];
        ProgramRecord storage program = _programs[source.program];
        uint256 paid = record.paid;
        _requireAmount(amount, record.amount - paid);
        _requireWithin(record.payDeadline);
        _requireNotPaused(source.program, program);
        _requireNotRefunded(id, record);
        _requireCaller(record.buyer);
`,
  },
  {
    source: `        _requireCaller(record.beneficiary);
        _requireWithin(record.claimDeadline);
        if (record.paid == 0) revert NothingPaid(id);
`,
    instead: `        if (claimHash == 0) revert ZeroValue();
        if (record.paid == 0) revert NothingPaid(id);
        _requireWithin(record.claimDeadline);
        _requireCaller(record.beneficiary);
`,
  },
  {
    source: `        if (decisionHash == 0) revert ZeroValue();
        uint256 paid = record.paid;
        if (award == 0 || award > paid) revert AmountOutOfRange("award", award, 1, paid);
        _requireWithin(source.validUntil);
        _requireRemaining(source, award);
`,
    instead: `        _requireRemaining(source, award);
        _requireWithin(source.validUntil);
        uint256 paid = record.paid;
        if (award == 0 || award > paid) revert AmountOutOfRange("award", award, 1, paid);
        if (decisionHash == 0) revert ZeroValue();
`,
  },
  {
    source: `        _requireNotPaused(program, record);
        _requireAmount(purchase_.amount, MAX_AMOUNT);
`,
    instead: "        _requireSigned(program, record, hashPurchase(purchase_), signature);\n",
  },
  {
    source: `        _requireRemaining(source, purchase_.amount);

        id = hashPurchase(purchase_);
        if (_purchases[id].status != Status.None) revert PurchaseExists(id);
        _requireSigned(program, record, id, signature);
`,
    instead: `        _requireRemaining(source, purchase_.amount);
        id = hashPurchase(purchase_);
        if (_purchases[id].status != Status.None) revert PurchaseExists(id);
        _requireAmount(purchase_.amount, MAX_AMOUNT);
        _requireNotPaused(program, record);
`,
  },
];

/** Compiles broken registrars, all by default, and answers the artifact file of each, in the order of this list. */
export async function brokenArtifacts(broken: readonly Break[] = Object.values(breaks)): Promise<string[]> {
  const original = await readSource("contracts/PurchaseRegistrar.sol");
  return await compileRegistrars(
    broken.map((one) => ({ name: one.name, content: breakSource(original, one) })),
  );
}

/** Compiles a registrar that differs in few calls only, and answers its artifact file. */
export async function rareArtifact(name: RareBreak): Promise<string> {
  const content = changeSource(await readSource("contracts/PurchaseRegistrar.sol"), name, rareBreaks[name]);
  const [file = ""] = await compileRegistrars([{ name, content: renameContract(content, name) }]);
  return file;
}

function changeSource(original: string, name: string, changes: readonly Omit<Break, "name">[]): string {
  return changes.reduce((content, change) => replaceOnce(content, { name, ...change }), original);
}

/** Compiles a correct registrar that makes its checks in another order, and answers its artifact file. */
export async function reorderedArtifact(): Promise<string> {
  const name = "ReordersChecks";
  const content = changeSource(await readSource("contracts/PurchaseRegistrar.sol"), name, reorderings);
  const [file = ""] = await compileRegistrars([{ name, content: renameContract(content, name) }]);
  return file;
}

/** Compiles registrars and answers the artifact file of each. The artifacts are kept under cache/, by the text of every source. */
async function compileRegistrars(
  registrars: readonly { name: string; content: string }[],
): Promise<string[]> {
  const original = await readSource("contracts/PurchaseRegistrar.sol");
  const sources: { [path: string]: { content: string } } = {};
  for (const [path, imported] of await followImports(original)) sources[path] = { content: imported };
  for (const { name, content } of registrars) sources[`contracts/${name}.sol`] = { content };
  const input = JSON.stringify({
    language: "Solidity",
    sources,
    settings: {
      optimizer: quickOptimizer,
      metadata: { appendCBOR: false },
      debug: { revertStrings: "strip" },
      evmVersion: "osaka",
      outputSelection: Object.fromEntries(
        registrars.map(({ name }) => [`contracts/${name}.sol`, { [name]: ["abi", "evm.bytecode.object"] }]),
      ),
    },
  });
  const folder = join(
    packageRoot(),
    "cache",
    "broken-registrars",
    createHash("sha256").update(input).digest("hex").slice(0, 32),
  );
  if (!existsSync(folder)) await compileSources(input, folder);
  return registrars.map(({ name }) => join(folder, `${name}.json`));
}

function breakSource(original: string, one: Break): string {
  return renameContract(replaceOnce(original, one), one.name);
}

function replaceOnce(original: string, { name, source, instead }: Break): string {
  if (original.split(source).length !== 2)
    throw new Error(`${name} breaks a place that must be in PurchaseRegistrar.sol exactly once.`);
  return original.replace(source, instead);
}

function renameContract(source: string, name: string): string {
  return source.replace("contract PurchaseRegistrar is", `contract ${name} is`);
}

/** Compiles a JSON input of solc, and writes the artifact of each contract to a folder. */
export async function compileSources(input: string, folder: string): Promise<void> {
  const solc: { compile(input: string): string } = require("solc");
  const { errors = [], contracts } = compilerOutput.parse(JSON.parse(solc.compile(input)));
  const failed = errors.find(({ severity }) => severity === "error");
  if (failed !== undefined) throw new Error(failed.formattedMessage);
  const part = `${folder}.part-${process.pid}`;
  await mkdir(part, { recursive: true });
  for (const found of Object.values(contracts))
    for (const [contractName, { abi, evm }] of Object.entries(found)) {
      const artifact = { contractName, abi, bytecode: `0x${evm.bytecode.object}` };
      await writeFile(join(part, `${contractName}.json`), JSON.stringify(artifact));
    }
  await rename(part, folder).catch((error: NodeJS.ErrnoException) => {
    // Another run was first, with the same content.
    if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
  });
}

/** Every source that a source imports, by the path that it is imported as. */
export async function followImports(
  source: string,
  path = "contracts/PurchaseRegistrar.sol",
  found = new Map<string, string>(),
): Promise<Map<string, string>> {
  for (const [, , imported = ""] of source.matchAll(/^import\s+(\{[^}]*\}\s+from\s+)?"([^"]+)";/gm)) {
    const target = imported.startsWith(".") ? join(dirname(path), imported) : imported;
    if (found.has(target)) continue;
    const text = await readSource(target);
    found.set(target, text);
    await followImports(text, target, found);
  }
  return found;
}

/** Reads a source of the checkout or of a package. */
export async function readSource(path: string): Promise<string> {
  const folder = path.startsWith("contracts/") ? "" : "node_modules";
  return await readFile(join(packageRoot(), folder, path), "utf8");
}
