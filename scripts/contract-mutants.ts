// The mutants of the contracts: every require and if-revert switched off, every comparison shifted, every modifier, event and assignment
// removed, and the bugs of scripts/contract-bugs, which are planted by hand, of kinds that no operator makes: under the rule which it breaks,
// each has the lines that its source has exactly once, and those in their place. Those of check-contract.diff only check-contract must find:
// the Solidity tests try these calls in the first state only, or in other ways.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import config from "../hardhat.config.ts";
import { quickOptimizer } from "./quick-optimizer.ts";
import type { Mutant } from "./try-mutants.ts";

/** The checkout. */
export const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** The deployed contracts that carry the code of each source. */
export const CARRIERS: Record<string, string[]> = {
  CanonicalCalldata: ["FundingSource", "PurchaseRegistrar"],
  ExactTransfer: ["FundingSource", "PurchaseRegistrar"],
  FundingSource: ["FundingSource", "PurchaseRegistrar"],
  PurchaseRegistrar: ["PurchaseRegistrar"],
  TestUSDC: ["TestUSDC"],
};

const OTHER_OPERATOR: Record<string, string> = {
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "==": "!=",
  "!=": "==",
  "+": "-",
  "-": "+",
  "&&": "||",
  "||": "&&",
  "+=": "-=",
  "-=": "+=",
  "++": "--",
};

/** One change of a contract's source. */
export interface ContractMutant extends Mutant {
  source: string;
  start: number;
  end: number;
  replacement: string;
}

interface AstNode {
  nodeType: string;
  src: string;
  [key: string]: unknown;
}

interface CompilerOutput {
  errors?: { severity: string }[];
  sources: Record<string, { ast: AstNode }>;
  contracts?: Record<
    string,
    Record<
      string,
      { evm: Record<"bytecode" | "deployedBytecode", { object: string; immutableReferences?: unknown }> }
    >
  >;
}

const solc = createRequire(import.meta.url)("solc") as {
  compile(input: string, callbacks: { import(path: string): { contents: string } }): string;
};

/** Returns the path of a source in the checkout. */
export const pathOf = (name: string) => `contracts/${name}.sol`;

/** Compiles contracts, with other texts in place of some sources. */
export function compile(
  names: string[],
  replaced: Record<string, string>,
  selection: Record<string, string[]>,
): CompilerOutput {
  const read = (path: string) =>
    replaced[path] ?? readFileSync(join(ROOT, path.startsWith("@") ? "node_modules" : "", path), "utf8");
  const solidity = config.solidity as { settings: object };
  const input = {
    language: "Solidity",
    sources: Object.fromEntries(names.map((name) => [pathOf(name), { content: read(pathOf(name)) }])),
    settings: { ...solidity.settings, optimizer: quickOptimizer, outputSelection: { "*": selection } },
  };
  const output = solc.compile(JSON.stringify(input), { import: (path) => ({ contents: read(path) }) });
  return JSON.parse(output) as CompilerOutput;
}

// Finding what can be broken

function isNode(value: unknown): value is AstNode {
  return typeof value === "object" && value !== null && "nodeType" in value;
}

function span(node: AstNode): [start: number, end: number] {
  const [start = 0, length = 0] = node.src.split(":").map(Number);
  return [start, start + length];
}

/** The text of a source, and where its mutants are added. */
interface Mutating {
  text: (start: number, end: number) => string;
  add: (start: number, end: number, replacement: string, what: string) => void;
}

/** Returns the mutants of a source that the operators make. */
export function mutantsOf(source: string): ContractMutant[] {
  const bytes = readFileSync(join(ROOT, pathOf(source)));
  const text = (start: number, end: number) => bytes.subarray(start, end).toString("utf8");
  const found: ContractMutant[] = [];
  const seen = new Map<string, number>();

  const add = (start: number, end: number, replacement: string, what: string) => {
    const line = text(0, start).split("\n").length;
    const lineText = (bytes.toString("utf8").split("\n")[line - 1] ?? "").trim();
    const name = `${source}: ${what} in \`${lineText}\``;
    const nth = (seen.get(name) ?? 0) + 1;
    seen.set(name, nth);
    const description = nth === 1 ? name : `${name} (${nth})`;
    found.push({ source, start, end, replacement, description, byHand: false });
  };

  const visit = (node: AstNode): void => {
    mutate(node, { text, add });
    for (const value of Object.values(node)) {
      if (isNode(value)) visit(value);
      else if (Array.isArray(value)) for (const item of value) if (isNode(item)) visit(item);
    }
  };

  const output = compile([source], {}, { "": ["ast"] });
  const tree = output.sources[pathOf(source)];
  if (tree === undefined) throw new Error(`${pathOf(source)} does not compile`);
  visit(tree.ast);
  return found;
}

/** Adds the mutants of one node, by its kind. */
function mutate(node: AstNode, mutating: Mutating): void {
  const { text, add } = mutating;
  const [start, end] = span(node);
  /** The compiler counts the semicolon of some statements and not of others. */
  const statementEnd = text(end, end + 1) === ";" ? end + 1 : end;
  switch (node.nodeType) {
    case "FunctionCall": {
      const callee = node["expression"] as AstNode & { name?: string };
      const condition = (node["arguments"] as AstNode[])[0];
      if (callee.name === "require" && condition !== undefined)
        add(...span(condition), "true", "require switched off");
      break;
    }
    case "IfStatement": {
      const condition = span(node["condition"] as AstNode);
      add(...condition, "false", "if never taken");
      const body = node["trueBody"] as AstNode & { statements?: AstNode[] };
      const first = body.statements?.[0] ?? body;
      if (first.nodeType !== "RevertStatement") add(...condition, "true", "if always taken");
      break;
    }
    case "Conditional": {
      const condition = span(node["condition"] as AstNode);
      add(...condition, "true", "always the first choice");
      add(...condition, "false", "always the second choice");
      break;
    }
    case "BinaryOperation":
      swapOperator(node, node["leftExpression"] as AstNode, node["rightExpression"] as AstNode, mutating);
      break;
    case "Assignment":
      swapOperator(node, node["leftHandSide"] as AstNode, node["rightHandSide"] as AstNode, mutating);
      break;
    case "ModifierInvocation":
      if (node["kind"] === "modifierInvocation") add(start, end, "", `${text(start, end)} removed`);
      break;
    case "Literal": {
      const value = node["value"];
      if (value === "true" || value === "false")
        add(start, end, value === "true" ? "false" : "true", `not ${value}`);
      else if (node["kind"] === "number")
        add(start, end, `(${text(start, end)} + 1)`, `${text(start, end)} one higher`);
      break;
    }
    case "EmitStatement":
      add(start, statementEnd, "{}", "event removed");
      break;
    case "ExpressionStatement": {
      const expression = node["expression"] as AstNode & { expression?: AstNode & { name?: string } };
      // A require is switched off above; without its effects the statement is the same mutant.
      if (expression.expression?.name !== "require") add(start, statementEnd, "{}", "statement removed");
      break;
    }
  }
}

/** Adds a mutant with another operator between two operands. */
function swapOperator(node: AstNode, left: AstNode, right: AstNode, { text, add }: Mutating): void {
  const operator = node["operator"] as string;
  const other = OTHER_OPERATOR[operator];
  if (other === undefined) return;
  const [, end] = span(left);
  const at = end + text(end, span(right)[0]).indexOf(operator);
  add(at, at + operator.length, other, `${operator} becomes ${other}`);
}

/** Returns the bugs that are planted in a source by hand. */
export function bugsOf(source: string, file: "all-tests" | "check-contract"): ContractMutant[] {
  const text = readFileSync(join(ROOT, pathOf(source)), "utf8");
  const bugs = readFileSync(join(ROOT, "scripts", "contract-bugs", `${file}.diff`), "utf8");
  const [, ...hunks] = (bugs.split(/^--- /m).find((part) => part.startsWith(`${source}.sol\n`)) ?? "").split(
    /\n?^@@ /m,
  );
  return hunks.map((hunk) => {
    const [rule = "", ...lines] = hunk.trimEnd().split("\n");
    const [find = "", replacement = ""] = ["-", "+"].map((sign) =>
      lines.flatMap((line) => (line.startsWith(sign) ? [line.slice(1)] : [])).join("\n"),
    );
    if (text.split(find).length !== 2)
      throw new Error(`${pathOf(source)} must have once ${JSON.stringify(find)}, to break the rule: ${rule}`);
    const start = Buffer.byteLength(text.slice(0, text.indexOf(find)));
    const end = start + Buffer.byteLength(find);
    return { source, start, end, replacement, description: `${source}: ${rule}`, byHand: true };
  });
}

/** Returns the text of a mutant's source with the mutant in it. */
export function mutatedSource({ source, start, end, replacement }: ContractMutant): string {
  const bytes = readFileSync(join(ROOT, pathOf(source)));
  return Buffer.concat([bytes.subarray(0, start), Buffer.from(replacement), bytes.subarray(end)]).toString(
    "utf8",
  );
}
