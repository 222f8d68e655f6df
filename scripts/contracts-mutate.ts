// Breaks the contracts in one place at a time and asks the Solidity tests whether they notice: every require and
// if-revert switched off, every comparison shifted, every modifier, event and assignment removed. A mutant that no test kills
// must be named in contracts/mutants-allowed.json with the reason why no test could notice; any other survivor fails the run. The bugs of
// scripts/contract-bugs.ts, which are planted by hand, are tried as well.
//
// A mutant is compiled alone, with few optimizations, and put into a copy of the artifacts under cache/; the tests deploy from
// artifacts, so nothing else is compiled again. Two are tried at a time, each in a copy of its own. `--only "one text|another"` runs the
// mutants whose description contains one of the texts; `--list` runs none.
import { fork } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createHardhatRuntimeEnvironment } from "hardhat/hre";
import config from "../hardhat.config.ts";
import { contractBugs } from "./contract-bugs.ts";
import { plant } from "./mutate/mutant.ts";
import { quickOptimizer } from "./quick-optimizer.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const WORKSPACES = join(ROOT, "cache", "mutation");
/** The number of mutants that are tried at one time. */
const AT_ONCE = 2;
const ALLOWED = join(ROOT, "contracts", "mutants-allowed.json");

/** The deployed contracts that carry the code of each source. */
const CARRIERS: Record<string, string[]> = {
  CanonicalCalldata: ["FundingSource", "PurchaseRegistrar"],
  ExactTransfer: ["FundingSource", "PurchaseRegistrar"],
  FundingSource: ["FundingSource", "PurchaseRegistrar"],
  PurchaseRegistrar: ["PurchaseRegistrar"],
  TestUSDC: ["TestUSDC"],
};

const DEPLOYED = ["FundingSource", "PurchaseRegistrar", "TestUSDC"];

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

interface Mutant {
  source: string;
  start: number;
  end: number;
  replacement: string;
  description: string;
  /** Whether it is one of those that are planted by hand. */
  byHand: boolean;
}

interface Verdict {
  outcome: "killed" | "survived" | "invalid";
  tests: string[];
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

const pathOf = (name: string) => `contracts/${name}.sol`;

function compile(
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

function mutantsOf(source: string): Mutant[] {
  const bytes = readFileSync(join(ROOT, pathOf(source)));
  const text = (start: number, end: number) => bytes.subarray(start, end).toString("utf8");
  const found: Mutant[] = [];
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

/** The bugs that are planted in a source by hand. */
function bugsOf(source: string): Mutant[] {
  const text = readFileSync(join(ROOT, pathOf(source)), "utf8");
  return (contractBugs[source] ?? []).map(({ rule, find, replace }) => {
    plant(text, { file: pathOf(source), rule, find, replace });
    const start = Buffer.byteLength(text.slice(0, text.indexOf(find)));
    const end = start + Buffer.byteLength(find);
    return { source, start, end, replacement: replace, description: `${source}: ${rule}`, byHand: true };
  });
}

// Trying one mutant

function unitTestsOf(workspace: string, source: string): string[] {
  const subject = source === "TestUSDC" ? "TestUSDC" : "PurchaseRegistrar";
  const folder = join(workspace, "contracts", "test", subject);
  return readdirSync(folder)
    .filter((file) => file.endsWith(".t.sol"))
    .map((file) => join(folder, file));
}

type TestRun = { success: boolean; value?: SuiteRun; error?: SuiteRun };
type SuiteRun = { suiteResults: { id: { name: string }; testResults: { name: string; status: string }[] }[] };

async function worker(workspace: string): Promise<void> {
  const hre = await createHardhatRuntimeEnvironment(config, {}, workspace);
  const artifactPath = (name: string) =>
    join(workspace, "artifacts", "contracts", `${name}.sol`, `${name}.json`);
  const tests = hre.tasks.getTask(["test", "solidity"]);

  /** Compiles contracts with one source replaced, or none, and puts them into the artifacts; answers whether they compile. */
  const install = (names: string[], replaced: Record<string, string>): boolean => {
    const selection = { "*": ["evm.bytecode.object", "evm.deployedBytecode.object"] };
    const output = compile(names, replaced, selection);
    if (output.errors?.some(({ severity }) => severity === "error")) return false;
    for (const name of names) {
      const evm = output.contracts?.[pathOf(name)]?.[name]?.evm;
      const artifact = JSON.parse(readFileSync(artifactPath(name), "utf8")) as Record<string, unknown>;
      artifact["bytecode"] = `0x${evm?.bytecode.object}`;
      artifact["deployedBytecode"] = `0x${evm?.deployedBytecode.object}`;
      writeFileSync(artifactPath(name), JSON.stringify(artifact));
    }
    return true;
  };

  const run = async (testFiles: string[], testProfile: string): Promise<string[]> => {
    const result = (await tests.run({ noCompile: true, testFiles, testProfile })) as TestRun;
    const run = result.success ? result.value : result.error;
    const failing = (run?.suiteResults ?? []).flatMap(({ id, testResults }) =>
      testResults.filter(({ status }) => status === "Failure").map(({ name }) => `${id.name} ${name}`),
    );
    return failing.length === 0 && !result.success ? ["the run itself"] : failing;
  };

  const judge = async (mutant: Mutant): Promise<Verdict> => {
    const bytes = readFileSync(join(ROOT, pathOf(mutant.source)));
    const mutated = Buffer.concat([
      bytes.subarray(0, mutant.start),
      Buffer.from(mutant.replacement),
      bytes.subarray(mutant.end),
    ]).toString("utf8");
    const carriers = CARRIERS[mutant.source] ?? [];
    const kept = carriers.map((name) => readFileSync(artifactPath(name), "utf8"));
    if (!install(carriers, { [pathOf(mutant.source)]: mutated })) return { outcome: "invalid", tests: [] };
    try {
      // The contract's own unit tests find nearly everything and take a second.
      const failing = await run(unitTestsOf(workspace, mutant.source), "mutants");
      const tests = failing.length > 0 ? failing : await run([], "default");
      return { outcome: tests.length > 0 ? "killed" : "survived", tests };
    } finally {
      for (const [index, name] of carriers.entries()) writeFileSync(artifactPath(name), kept[index] ?? "");
    }
  };

  if (!install(DEPLOYED, {})) throw new Error("the unbroken contracts do not compile");
  const unbroken = await run([], "default");
  if (unbroken.length > 0) throw new Error(`the unbroken contracts fail: ${unbroken.join(", ")}`);
  process.on("message", async (mutant: Mutant) => {
    process.send?.(await judge(mutant));
  });
  process.send?.("ready");
}

// All of them

/** A copy of the contracts and their artifacts for each worker. */
async function makeWorkspaces(): Promise<string[]> {
  const folders = Array.from({ length: AT_ONCE }, (_, index) => join(WORKSPACES, String(index)));
  const [first = "", ...others] = folders;
  rmSync(WORKSPACES, { recursive: true, force: true });
  mkdirSync(first, { recursive: true });
  cpSync(join(ROOT, "contracts"), join(first, "contracts"), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(first, "node_modules"));
  writeFileSync(join(first, "package.json"), '{ "name": "mutation", "type": "module", "private": true }\n');
  const hre = await createHardhatRuntimeEnvironment(config, {}, first);
  await hre.tasks.getTask("build").run({ quiet: true });
  for (const other of others) cpSync(first, other, { recursive: true });
  return folders;
}

/** Starts a worker in its copy; asked for a mutant, it answers with the verdict. */
async function startWorker(workspace: string) {
  const child = fork(fileURLToPath(import.meta.url), ["--worker", workspace], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const answer = () =>
    new Promise<unknown>((resolve, reject) => {
      const gone = () => reject(new Error("the worker ended before its answer"));
      child.once("exit", gone);
      child.once("message", (message) => {
        child.off("exit", gone);
        resolve(message);
      });
    });
  await answer();
  return {
    async judge(mutant: Mutant): Promise<Verdict> {
      child.send(mutant);
      return (await answer()) as Verdict;
    },
    end: () => child.kill(),
  };
}

async function judgeAll(mutants: readonly Mutant[]): Promise<Map<Mutant, Verdict>> {
  const waiting = [...mutants];
  const verdicts = new Map<Mutant, Verdict>();
  const judgeInTurn = async (workspace: string) => {
    const { judge, end } = await startWorker(workspace);
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const started = performance.now();
      const verdict = await judge(mutant);
      verdicts.set(mutant, verdict);
      const { outcome, tests } = verdict;
      const more = tests.length > 1 ? ` and ${tests.length - 1} more` : "";
      const by = tests.length > 0 ? ` by ${tests[0]}${more}` : "";
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      console.log(
        `${verdicts.size}/${mutants.length} ${outcome}${by} in ${seconds} s: ${mutant.description}`,
      );
    }
    end();
  };
  await Promise.all((await makeWorkspaces()).map(judgeInTurn));
  return verdicts;
}

function report(verdicts: ReadonlyMap<Mutant, Verdict>, { whole }: { whole: boolean }): void {
  const allowed = existsSync(ALLOWED)
    ? (JSON.parse(readFileSync(ALLOWED, "utf8")) as Record<string, string>)
    : {};
  const counts = { killed: 0, survived: 0, invalid: 0 };
  const failures: string[] = [];
  const explained = new Set<string>();
  for (const [{ description, byHand }, { outcome }] of verdicts) {
    counts[outcome] += 1;
    if (outcome === "survived" && description in allowed) explained.add(description);
    else if (outcome === "survived") failures.push(`SURVIVED:  ${description}`);
    else if (outcome === "invalid" && byHand) failures.push(`does not compile: ${description}`);
  }
  console.log(
    `\n${counts.killed} killed, ${counts.survived} survived (${explained.size} explained), ${counts.invalid} do not compile.`,
  );
  for (const description of explained)
    console.log(`  explained: ${description}\n    ${allowed[description]}`);
  const outdated = whole ? Object.keys(allowed).filter((description) => !explained.has(description)) : [];
  for (const description of outdated)
    failures.push(`no longer a survivor, remove from mutants-allowed.json: ${description}`);
  for (const failure of failures) console.log(`  ${failure}`);
  if (failures.length > 0) process.exitCode = 1;
}

async function main(): Promise<void> {
  const only = process.argv.includes("--only") ? process.argv[process.argv.indexOf("--only") + 1] : undefined;
  const parts = only?.split("|") ?? [""];
  const mutants = Object.keys(CARRIERS)
    .flatMap((source) => [...mutantsOf(source), ...bugsOf(source)])
    .filter(({ description }) => parts.some((part) => description.includes(part)));
  if (process.argv.includes("--list")) {
    for (const { description } of mutants) console.log(description);
    console.log(`${mutants.length} mutants`);
    return;
  }
  report(await judgeAll(mutants), { whole: only === undefined });
}

const [, , mode, workspace] = process.argv;
await (mode === "--worker" && workspace !== undefined ? worker(workspace) : main());
