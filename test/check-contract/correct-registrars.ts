import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../sandbox/lib/package-root.ts";
import { compileSources, followImports, readSource } from "./broken-registrars.ts";

/** A text of the source, which has it exactly once, and what takes its place. */
type Change = readonly [source: string, instead: string];

const path = "contracts/test/LedgerRegistrar.t.sol";

/** LedgerRegistrar with the errors that the interface declares, in place of its own. */
const declaredErrors: readonly Change[] = [
  [
    "if (msg.sender != _book().programs[entry.terms.program].state.operator) revert Forbidden(msg.sender);",
    "_only(_book().programs[entry.terms.program].state.operator);",
  ],
  [
    "if (msg.data.length != 4 + 32 * count) revert LooseCalldata(msg.data.length);",
    "if (msg.data.length != 4 + 32 * count) revert NonCanonicalLength(msg.data.length, 4 + 32 * count);",
  ],
  [
    "if (keccak256(msg.data) != keccak256(encoded)) revert LooseCalldata(msg.data.length);",
    "if (keccak256(msg.data) != keccak256(encoded)) revert NonCanonicalEncoding(keccak256(msg.data), keccak256(encoded));",
  ],
];

/** Without a proxy, and with another contract that is deployed before the funding source. */
const deploysFirst: readonly Change[] = [
  [
    "        _disableInitializers();\n",
    "        new FundingSource();\n        _book().source = address(new FundingSource());\n",
  ],
];

const proxy = (name: string, kind: "UupsProxy" | "TransparentProxy") => {
  const owner = kind === "UupsProxy" ? "" : "msg.sender, ";
  return `import {${kind}} from "../proxies/${kind}.sol";
contract ${name} is ${kind} {
    constructor() ${kind}(address(new LedgerRegistrar()), ${owner}abi.encodeCall(LedgerRegistrar.initialize, (msg.sender))) {}
}
`;
};

/** A minimal proxy (ERC-1167) with arguments after its code. */
const clone = `contract CloneLedger {
    constructor() {
        address implementation = address(new LedgerRegistrar());
        (bool succeeded,) = implementation.delegatecall(abi.encodeCall(LedgerRegistrar.initialize, (msg.sender)));
        require(succeeded);
        bytes memory code = abi.encodePacked(
            hex"363d3d373d3d3d363d73", implementation, hex"5af43d82803e903d91602b57fd5bf3", block.timestamp
        );
        assembly ("memory-safe") {
            return(add(code, 32), mload(code))
        }
    }
}
`;

/** Passes a call on. Its checks come before the call, its end after that. */
const passOn = (facet: string, checks: string, end: string) => `fallback() external payable {
        ${checks}
        (bool succeeded, bytes memory answer) = ${facet}.delegatecall(msg.data);
        ${end}
        assembly ("memory-safe") {
            if iszero(succeeded) { revert(add(answer, 32), mload(answer)) }
            return(add(answer, 32), mload(answer))
        }
    }`;

/** Passes the calls on to two contracts, by their functions (as ERC-2535). */
const diamond = `contract DiamondLedger {
    mapping(bytes4 selector => address facet) private _facets;
    constructor() {
        (address first, address second) = (address(new LedgerRegistrar()), address(new LedgerRegistrar()));
        (bool succeeded,) = first.delegatecall(abi.encodeCall(LedgerRegistrar.initialize, (msg.sender)));
        require(succeeded);
        _facets[0] = first;
        _facets[IPurchaseRegistrar.pay.selector] = second;
        _facets[IPurchaseRegistrar.payBatch.selector] = second;
        _facets[IPurchaseRegistrar.claim.selector] = second;
        _facets[IPurchaseRegistrar.figures.selector] = second;
    }
    ${passOn("facet", "address facet = _facets[msg.sig] == address(0) ? _facets[0] : _facets[msg.sig];", "")}
}
`;

/** Has the lock, in transient storage, and refuses ETH, with errors of its own. */
const gateway = `contract GatewayLedger {
    error NoEther();
    error Busy();
    address private immutable _ledger = address(new LedgerRegistrar());
    mapping(bytes4 selector => bool) private _changes;
    uint256 private transient _busy;
    constructor() {
        (bool succeeded,) = _ledger.delegatecall(abi.encodeCall(LedgerRegistrar.initialize, (msg.sender)));
        require(succeeded);
        bytes4[16] memory selectors = [
            IPurchaseRegistrar.openProgram.selector, IPurchaseRegistrar.setBounds.selector,
            IPurchaseRegistrar.setPaused.selector, IPurchaseRegistrar.transferAdmin.selector,
            IPurchaseRegistrar.acceptAdmin.selector, IPurchaseRegistrar.enroll.selector,
            IPurchaseRegistrar.revokeFunding.selector, IPurchaseRegistrar.register.selector,
            IPurchaseRegistrar.offer.selector, IPurchaseRegistrar.withdrawOffer.selector,
            IPurchaseRegistrar.expire.selector, IPurchaseRegistrar.pay.selector,
            IPurchaseRegistrar.payBatch.selector, IPurchaseRegistrar.payWithPermit.selector,
            IPurchaseRegistrar.claim.selector, IPurchaseRegistrar.collectRefund.selector
        ];
        for (uint256 index = 0; index < 16; ++index) _changes[selectors[index]] = true;
    }
    ${passOn(
      "_ledger",
      `if (msg.value != 0) revert NoEther();
        bool changes = _changes[msg.sig];
        if (changes && _busy == 1) revert Busy();
        if (changes) _busy = 1;`,
      "if (changes) _busy = 0;",
    )}
}
`;

/** The correct registrars, by how they differ from the sandbox's own, besides their storage layout and the lock in storage with an error of its own. */
const variants: { readonly [name: string]: { changes: readonly Change[]; more: string } } = {
  Erc1967Ledger: { changes: [], more: proxy("Erc1967Ledger", "UupsProxy") },
  TransparentLedger: { changes: [], more: proxy("TransparentLedger", "TransparentProxy") },
  AssemblyLedger: {
    changes: [
      ...deploysFirst,
      [
        'return keccak256(abi.encodePacked(hex"1901", separator, structHash));',
        `bytes32 digest;
        assembly ("memory-safe") {
            let at := mload(0x40)
            mstore(at, shl(240, 0x1901))
            mstore(add(at, 2), separator)
            mstore(add(at, 34), structHash)
            digest := keccak256(at, 66)
        }
        return digest;`,
      ],
    ],
    more: "contract AssemblyLedger is LedgerRegistrar {}\n",
  },
  OtherOrderLedger: {
    changes: [
      [
        `        if (token.balanceOf(from) + amount != paid) {
            revert InexactTransfer(terms.token, from, token.balanceOf(from), paid - amount);
        }
`,
        "",
      ],
      [
        `            revert InexactTransfer(terms.token, to, token.balanceOf(to), received + amount);
        }
`,
        `            revert InexactTransfer(terms.token, to, token.balanceOf(to), received + amount);
        }
        if (token.balanceOf(from) + amount != paid) {
            revert InexactTransfer(terms.token, from, token.balanceOf(from), paid - amount);
        }
`,
      ],
      ...deploysFirst,
      // An offer of zero is refused with the largest amount that there is.
      [
        `        _between("amount", terms.amount, 1, program.bounds.maxPurchase);
`,
        `        _between("amount", terms.amount, 1, type(uint128).max);
        _between("amount", terms.amount, 0, program.bounds.maxPurchase);
`,
      ],
      ["    /// @notice The lock is taken.\n    error Locked();\n", ""],
      [
        "/// @title LedgerRegistrar\n",
        "abstract contract Lockable {\n    error Locked();\n}\n\n/// @title LedgerRegistrar\n",
      ],
      [
        "contract LedgerRegistrar is IPurchaseRegistrar,",
        "contract LedgerRegistrar is Lockable, IPurchaseRegistrar,",
      ],
      [
        `        _only(terms.buyer);
        _notRefunded(id, entry);
        ProgramState storage program = _running(terms.program);
        _notAfter(terms.payDeadline);
        _between("amount", amount, 1, terms.amount - entry.payments);
`,
        `        _between("amount", amount, 1, terms.amount - entry.payments);
        _notAfter(terms.payDeadline);
        ProgramState storage program = _running(terms.program);
        _notRefunded(id, entry);
        _only(terms.buyer);
`,
      ],
      [
        `        _only(entry.terms.beneficiary);
        _notAfter(entry.terms.claimDeadline);
        if (entry.payments == 0) revert NothingPaid(id);
`,
        `        if (claimHash == 0) revert ZeroValue();
        if (entry.payments == 0) revert NothingPaid(id);
        _notAfter(entry.terms.claimDeadline);
        _only(entry.terms.beneficiary);
`,
      ],
      [
        `        _only(terms.wallet);
        ProgramState storage program = _running(terms.program);
        _notAfter(terms.validUntil);
        _between("cap", terms.cap, 1, type(uint128).max);
        if (terms.merchantRef == 0) revert ZeroValue();
`,
        `        bytes32 own = _book().current[terms.program][msg.sender];
        if (own != 0) revert AlreadyEnrolled(terms.program, msg.sender, own);
        ProgramState storage program = _running(terms.program);
        _signed(program.commitmentSigner, hashFunding(terms), signature);
        if (terms.merchantRef == 0) revert ZeroValue();
        _between("cap", terms.cap, 1, type(uint128).max);
        _notAfter(terms.validUntil);
        _only(terms.wallet);
`,
      ],
      [
        `        _between("award", award, 1, entry.payments);
        _notAfter(merchant.terms.validUntil);
        _covered(merchant, award);
`,
        `        _covered(merchant, award);
        _notAfter(merchant.terms.validUntil);
        _between("award", award, 1, entry.payments);
`,
      ],
      ["        _existing(terms.program);\n            revert NotEnrolled", "        revert NotEnrolled"],
    ],
    more: "contract OtherOrderLedger is LedgerRegistrar {}\n",
  },
  CloneLedger: { changes: [], more: clone },
  DiamondLedger: { changes: [], more: diamond },
  GatewayLedger: {
    changes: [["        if (book.locked) revert Locked();\n        book.locked = true;\n", ""]],
    more: gateway,
  },
  /**
   * Keeps a list of all payments, so that each of them costs more gas. A batch is recorded before its transfers, a permit comes before its
   * payment, and the lock has a text.
   */
  HistoryLedger: {
    changes: [
      ...deploysFirst,
      ["        if (book.locked) revert Locked();\n", '        require(!book.locked, "LOCKED");\n'],
      [
        `            _move(_receive(ids[index], amounts[index]), msg.sender, amounts[index]);
        }
`,
        `            _receive(ids[index], amounts[index]);
        }
        for (uint256 index = 0; index < ids.length; ++index) {
            _move(_known(ids[index]).terms, msg.sender, amounts[index]);
        }
`,
      ],
      [
        `        Purchase storage terms = _receive(id, amount);
        try IERC20Permit`,
        `        Purchase storage terms = _known(id).terms;
        try IERC20Permit`,
      ],
      [
        "        _move(terms, msg.sender, amount);\n",
        "        _move(_receive(id, amount), msg.sender, amount);\n",
      ],
      ["        bool locked;\n", "        bool locked;\n        bytes32[] history;\n"],
      [
        "        entry.payments += amount;\n",
        `        entry.payments += amount;
        _book().history.push(id);
        _book().history.push(bytes32(amount));
        _book().history.push(bytes32(block.timestamp));
`,
      ],
    ],
    more: "contract HistoryLedger is LedgerRegistrar {}\n",
  },
};

/** The names of the correct registrars. */
export const correctRegistrars = Object.keys(variants);

/** Compiles a correct registrar, which is written in another way than the sandbox's own, and answers its artifact file. */
export async function correctArtifact(name: string): Promise<string> {
  const variant = variants[name];
  if (variant === undefined) throw new Error(`There is no correct registrar ${name}.`);
  let source = await readSource(path);
  for (const [text, instead] of [...declaredErrors, ...variant.changes]) {
    if (source.split(text).length !== 2) throw new Error(`${name}: LedgerRegistrar must have once: ${text}`);
    source = source.replace(text, instead);
  }
  const content = `${source}\n${variant.more}`;
  const file = `contracts/test/${name}.sol`;
  const sources: { [path: string]: { content: string } } = { [file]: { content } };
  for (const [imported, text] of await followImports(content, file)) sources[imported] = { content: text };
  const input = JSON.stringify({
    language: "Solidity",
    sources,
    settings: {
      optimizer: { enabled: true, runs: 1 },
      evmVersion: "osaka",
      outputSelection: { [file]: { [name]: ["abi", "evm.bytecode.object"] } },
    },
  });
  const digest = createHash("sha256").update(input).digest("hex").slice(0, 32);
  const folder = join(packageRoot(), "cache", "correct-registrars", digest);
  if (!existsSync(folder)) await compileSources(input, folder);
  return join(folder, `${name}.json`);
}
